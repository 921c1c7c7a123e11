"""Published figures beside measured ones.

A published row belongs to an arm of the same benchmark, model, topology, strategy, channel and
settings. An arm without one is shown beside the nearest of the same topology and strategy, marked
with what differs, and without a difference: those two numbers measure two things.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.analysis.caveats import caveats
from parley.analysis.frames import Frames, plain_rows
from parley.analysis.naming import shortest
from parley.analysis.publications import Publication, Published
from parley.analysis.stats import Interval, by_problem, interval
from parley.store import read_manifest

if TYPE_CHECKING:
    import pandas as pd

SAME = "same"
GRANTED: Mapping[str, object] = {
    "replay": None,
    "budget": None,
    "topology.authority": "receiver",
    "topology.receiver_evidence": "own",
    "topology.manager": False,
    "topology.agents": 4,
    "topology.rounds": 3,
    "strategy.answer_thinks": True,
    "strategy.structured": False,
    "strategy.serialisation": "explicit",
    "strategy.portion": "visible",
    "strategy.evidence": False,
    "strategy.candidate": False,
    "strategy.by": "same_turn",
}
"""What a published row was run with unless its own settings or conditions say otherwise. An arm
that has such a setting, and in another value, was run in another way."""
FALLBACK = {"f1_squad": "f1"}
"""Measured in the place of a metric that an arm's benchmark does not have."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What stands beside what."""

    rows: tuple[Row, ...]
    """One per arm, published row and metric. `match` is "same", or what differs."""
    caveats: tuple[str, ...]
    """Why rows marked "same" may not be comparable, each with the arms it applies to."""
    alone: tuple[str, ...]
    """Arms that no published row belongs to."""
    unused: Mapping[str, int]
    """Published rows that no arm belongs to, counted by table."""
    confidence: Mapping[str, str]

    @property
    def matched(self) -> bool:
        return any(row["match"] == SAME for row in self.rows)


def compare(frames: Frames, table: pd.DataFrame, publication: Publication) -> Comparison:
    """Sets every arm of the results table beside what is published."""
    rows = plain_rows(table)
    arms = {(arm["study"], arm["arm"]): arm for arm in frames.arm_rows()}
    groups = dict(iter(frames.episodes.groupby("folder"))) if len(frames.episodes) else {}
    found: list[Row] = []
    told: dict[str, list[str]] = {}
    alone: list[str] = []
    used: set[int] = set()
    for row, label in zip(rows, shortest(rows), strict=True):
        folder = arms[row["study"], row["arm"]]["folder"]
        held = arms[row["study"], row["arm"]]["metrics"].split()
        arm = facts(Path(folder), row)
        nearest = _nearest(publication.rows, arm)
        same = [(place, published) for place, published, differs in nearest if not differs]
        used.update(place for place, _ in same)
        if not same:
            alone.append(label)
        for _, published, differs in nearest:
            for made in _rows(
                published, differs, {**row, "label": label}, held, groups.get(folder)
            ):
                found.append(made)
                if not differs:
                    for text in caveats(published, made["measured_as"], arm):
                        told.setdefault(text, []).append(label)
    unused = Counter(p.table for place, p in enumerate(publication.rows) if place not in used)
    held = list(dict.fromkeys(row["arm"] for row in found if row["match"] == SAME))
    return Comparison(
        rows=tuple(found),
        caveats=tuple(_addressed(text, labels, held) for text, labels in told.items()),
        alone=tuple(alone),
        unused=dict(unused),
        confidence=publication.confidence,
    )


def facts(folder: Path, row: Row) -> Row:
    """An arm's row, its settings by dotted key, and the plain names that rows are matched by."""
    manifest = read_manifest(folder)
    parts = {name: part for name, part in manifest.identity.items() if isinstance(part, dict)}
    settings = {
        f"{name}.{key}": value for name, part in parts.items() for key, value in part.items()
    }
    plain = {
        name: _module(parts.get(name, {})) or _base(row.get(name))
        for name in ("topology", "strategy", "channel")
    }
    models = {_model(row.get("model")), _model(parts.get("model", {}).get("name"))}
    return {
        **row,
        **settings,
        **plain,
        "benchmark": _base(row.get("benchmark")),
        "engine": _base(row.get("engine")),
        "models": models,
    }


def _nearest(
    publications: Sequence[Published], arm: Row
) -> list[tuple[int, Published, tuple[str, ...]]]:
    """The published rows that belong to the arm; without one, those that differ in the least."""
    found = [
        (place, published, differs)
        for place, published in enumerate(publications)
        if (differs := _differs(published, arm)) is not None
    ]
    least = min((_distance(differs) for _, _, differs in found), default=0)
    nearest = [one for one in found if _distance(one[2]) == least]
    if not least:
        return nearest
    # One of each table is enough to look at: that under the most alike conditions.
    nearest.sort(key=lambda one: sum(arm.get(k) != v for k, v in one[1].conditions.items()))
    return sorted({one[1].table: one for one in reversed(nearest)}.values(), key=lambda one: one[0])


def _distance(differs: Sequence[str]) -> int:
    """Another benchmark is further away than another model, and that than other settings."""
    return sum(
        {"other settings": 1, "other model": 2, "other benchmark": 4}[one] for one in differs
    )


def _differs(published: Published, arm: Row) -> tuple[str, ...] | None:
    """In what the two differ; None where topology, strategy or channel is another one."""
    for name in ("topology", "strategy", "channel"):
        wanted = getattr(published, name)
        if not published.topology or (wanted and arm[name] != wanted):
            return None
    checks = {
        "other benchmark": arm["benchmark"] == published.benchmark,
        "other model": _model(published.model) in arm["models"],
        "other settings": all(
            _alike(arm.get(key), value) for key, value in published.settings.items()
        )
        and not any(
            arm.get(key) not in (None, "", "-", value)
            for key, value in GRANTED.items()
            if key not in published.settings and key not in published.conditions
        ),
    }
    return tuple(said for said, fits in checks.items() if not fits)


def _alike(here: object, there: object) -> bool:
    """Lists are alike in any order."""
    if isinstance(here, list) and isinstance(there, list):
        return sorted(map(str, here)) == sorted(map(str, there))
    return here == there


def _rows(
    published: Published,
    differs: Sequence[str],
    row: Row,
    held: Sequence[str],
    episodes: pd.DataFrame | None,
) -> Iterator[Row]:
    for metric, value in published.values.items():
        column = _measured_as(metric, held)
        if column is None:
            continue
        percent = not metric.startswith("tokens_")
        measured = _measured(column, episodes, 100 if percent else 1)
        gap = math.nan if differs else measured.mean - value
        yield {
            "study": row["study"],
            "arm": row["label"],
            "folder": row["arm"],
            "match": ", ".join(differs) or SAME,
            "table": published.table,
            "method": published.method,
            "benchmark": published.benchmark,
            "model": published.model,
            "metric": metric,
            "measured_as": column,
            "unit": published.units[metric],
            "published": value,
            "measured": measured.mean,
            "measured_low": measured.low,
            "measured_high": measured.high,
            "n": measured.n,
            "difference": gap,
            "difference_percent": math.nan if percent else 100 * gap / value,
            "truncated": math.nan if row["truncated"] is None else row["truncated"],
            "confidence": published.confidence[metric],
            "source": published.source,
            "note": published.note,
        }


def _measured_as(metric: str, held: Sequence[str]) -> str | None:
    """The column that measures a published metric; None where the arm has no such metric."""
    if metric.startswith("tokens_"):
        return metric
    return next((name for name in (metric, FALLBACK.get(metric)) if name in held), None)


def _measured(column: str, episodes: pd.DataFrame | None, scale: int) -> Interval:
    if episodes is None:
        return Interval(mean=math.nan, low=math.nan, high=math.nan, n=0)
    found = interval(by_problem(episodes, column))
    return Interval(
        mean=scale * found.mean, low=scale * found.low, high=scale * found.high, n=found.n
    )


def _addressed(text: str, labels: Sequence[str], all_labels: Sequence[str]) -> str:
    """The sentence, with the arms it applies to unless it is all of them."""
    own = list(dict.fromkeys(labels))
    return text if own == list(all_labels) else f"{text} ({', '.join(own)})"


def _module(part: Mapping[str, Any]) -> str:
    """ "split_evidence" of "parley.topologies.split_evidence.SplitEvidence"."""
    return str(part.get("_target_", "")).rpartition(".")[0].rpartition(".")[2]


def _base(choice: object) -> str:
    """A choice without the settings behind it."""
    return str(choice).partition("(")[0]


def _model(name: object) -> str:
    """ "qwen3-8b" of "Qwen/Qwen3-8B" and of "qwen3_8b(context=4096)"."""
    return re.sub(r"[^a-z0-9.]+", "-", _base(name).rpartition("/")[2].lower()).strip("-")
