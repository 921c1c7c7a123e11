"""What a tracker shows of an arm, as plain values: its config, its charted numbers, its table.

Pure; knows no tracker's package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from parley.metrics import episode_row
from parley.redaction import redact

STEP = "episode"
"""The charts' own step metric: episodes in the order in which they finished, from 1."""
COLUMNS = (
    *("problem", "sample", "question", "gold", "extracted", "score", "tokens", "status"),
    "messages",
)
_AVERAGED = ("score", "tokens_total", "tokens_prompt", "tokens_completion")
_NOT_CONFIG = frozenset({"choices", "status", "tracking", "metrics", "label"})


def run_id(study: str, arm: str) -> str:
    """The same for the same study and arm folder, so that a resumed arm is the same run."""
    return hashlib.sha256(f"{study}\0{arm}".encode()).hexdigest()[:16]


def run_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Flat config of a run: an arm's choices under their own names, the rest under its path.

    Takes a manifest, or any nested mapping. Secrets are redacted; long texts are cut. Paths are
    joined by "/": W&B cannot filter on keys with dots (wandb issue 3087) and advises against them.
    """
    rest = {key: value for key, value in config.items() if key not in _NOT_CONFIG}
    return dict(_flat(redact({**rest, **(config.get("choices") or {})}), ""))


@dataclass(slots=True)
class Averages:
    """Sums and counts by name."""

    sums: dict[str, tuple[float, int]] = field(default_factory=dict)

    def add(self, values: Mapping[str, float], sign: int = 1) -> None:
        for name, value in values.items():
            total, count = self.sums.get(name, (0.0, 0))
            self.sums[name] = (total + sign * value, count + sign)

    def means(self, prefix: str = "") -> dict[str, float]:
        return {f"{prefix}{name}": total / n for name, (total, n) in self.sums.items() if n}


@dataclass(slots=True, kw_only=True)
class Progress:
    """An arm as its episodes come in. Means are over the newest try of each (problem, sample)."""

    metric: str
    metrics: tuple[str, ...]
    step: int = 0
    averages: Averages = field(default_factory=Averages)
    seen: dict[tuple[str, int], dict[str, float]] = field(default_factory=dict)

    def row(self, record: Mapping[str, Any]) -> tuple[dict[str, object], dict[str, float]]:
        """The episode's row; and its numbers, with `score` for the headline metric."""
        row = episode_row(record, metrics=self.metrics)
        values = {
            name: float(value)
            for name, value in row.items()
            if isinstance(value, int | float) and name != "sample"
        }
        if self.metric in values:
            values["score"] = values[self.metric]
        return row, values

    def add(self, record: Mapping[str, Any]) -> dict[str, float]:
        """Counts an episode, which replaces an earlier try; returns what is charted for it."""
        _, values = self.row(record)
        kept = {name: values[name] for name in {*self.metrics, *_AVERAGED} if name in values}
        place = (str(record["problem"]), int(record["sample"]))
        self.averages.add(self.seen.get(place, {}), -1)
        self.averages.add(kept)
        self.seen[place] = kept
        self.step += 1
        return {STEP: self.step, **values, **self.averages.means("mean/")}


def table_line(
    record: Mapping[str, Any], row: Mapping[str, object], values: Mapping[str, float]
) -> list[object]:
    said = (
        (turn["title"], turn["message"]["text"] if turn["message"] else turn["calls"][0]["visible"])
        for turn in record["turns"]
    )
    return [
        str(record["problem"]),
        int(record["sample"]),
        record["question"],
        " | ".join(record["answers"]),
        str((record["score"] or {}).get("extracted") or ""),
        values.get("score", 0.0),
        int(values["tokens_total"]),
        str(row["error"] or row["status"] or ""),
        "\n\n".join(f"{title}: {text}" for title, text in said),
    ]


def _flat(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        name = f"{path}/{key}" if path else str(key)
        if isinstance(item, Mapping):
            yield from _flat(item, name)
        elif isinstance(item, list | tuple) and any(isinstance(one, Mapping) for one in item):
            yield from _flat({str(index): one for index, one in enumerate(item)}, name)
        else:
            yield name, item[:1000] if isinstance(item, str) else item
