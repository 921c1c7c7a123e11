"""What a tracker shows of an arm, as plain values: its config, its charted numbers, its table.

Pure; knows no tracker's package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parley.metrics import episode_row
from parley.redaction import redact

STEP = "episode"
"""The charts' own step metric: episodes in the order in which they finished, from 1."""
EACH, RUNNING = "episode/", "running/"
"""What one episode gave, which W&B charts only when asked; and the means so far."""
SPENT = f"{RUNNING}tokens_spent"
BY_TOKENS = f"{RUNNING}score_by_tokens"
"""The mean score so far, charted against all tokens that the arm has spent so far."""
CHARTED = (
    "score",
    "tokens/total",
    "tokens/prompt",
    "tokens/completion",
    "truncated",
    "messages/ok",
)
"""What every arm's default page compares, one bar an arm, with `score/` of each metric."""
COLUMNS = (
    *("problem", "sample", "question", "gold", "extracted", "score", "tokens", "status"),
    "messages",
)
_AVERAGED = {
    "score": "score",
    "tokens_total": "tokens",
    "tokens_prompt": "tokens_prompt",
    "tokens_completion": "tokens_completion",
}
_SHARES = ("truncated", "truncated_in_thinking", "overflow", "estimated")
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
    """An arm as its episodes come in. Means are over the newest try of each (problem, sample);
    tokens spent are those of all tries."""

    metric: str
    metrics: tuple[str, ...]
    step: int = 0
    spent: float = 0.0
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
        names = _AVERAGED | {name: name for name in self.metrics if name != "score"}
        kept = {short: values[name] for name, short in names.items() if name in values}
        place = (str(record["problem"]), int(record["sample"]))
        self.averages.add(self.seen.get(place, {}), -1)
        self.averages.add(kept)
        self.seen[place] = kept
        self.step += 1
        self.spent += values["tokens_total"]
        running = self.averages.means(RUNNING)
        by_tokens = {BY_TOKENS: running[f"{RUNNING}score"]} if f"{RUNNING}score" in running else {}
        each = {f"{EACH}{name}": value for name, value in values.items()}
        return {STEP: self.step, **each, **running, SPENT: self.spent, **by_tokens}


def summary(
    episodes: Iterable[tuple[str, Mapping[str, float]]], metrics: Sequence[str]
) -> dict[str, float]:
    """An arm's numbers under the names that all arms share, from each episode's problem and row.

    `score` and `tokens/...` are means over problems, samples of one problem averaged first;
    `messages/...` are shares of all messages, `truncated` and its like of all episodes; `n`
    counts problems, `recorded` episodes.
    """
    problems: dict[str, Averages] = {}
    sums: dict[str, float] = {}
    count = 0
    for problem, values in episodes:
        count += 1
        problems.setdefault(problem, Averages()).add(values)
        for name, value in values.items():
            sums[name] = sums.get(name, 0.0) + value
    means = Averages()
    for averages in problems.values():
        means.add(averages.means())
    mean = means.means()
    found = {"score": mean["score"]} if "score" in mean else {}
    found |= {f"score/{name}": mean[name] for name in metrics if name in mean}
    found |= {
        name.replace("tokens_", "tokens/", 1): value
        for name, value in mean.items()
        if name.startswith("tokens_")
    }
    found |= {name: sums.get(name, 0.0) / count for name in _SHARES if count}
    if written := sums.get("messages"):
        shares = (name for name in sums if name.startswith("messages_"))
        found |= {name.replace("_", "/", 1): sums[name] / written for name in shares}
    found |= {name: mean[name] for name in ("calls", "asks", "messages", "turns") if name in mean}
    return {**found, "n": len(problems), "recorded": count, "errors": int(sums.get("failed", 0))}


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
