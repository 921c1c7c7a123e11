"""Arms with their values by problem, and which two of them can be compared at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parley.analysis.costs import Cost, charged
from parley.analysis.frames import Frames
from parley.analysis.naming import shortest
from parley.analysis.stats import per_problem
from parley.errors import ConfigError

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredArm:
    """One arm's values by problem."""

    row: Row
    label: str
    score: Mapping[str, float]
    cost: Mapping[str, float]
    single: bool
    errors: int = 0
    truncated: float = math.nan
    """Share of its episodes in which a call was cut short."""

    @property
    def metric(self) -> str:
        """The score's name."""
        return str(self.row["metric"])


def scored_arms(frames: Frames, metric: str | None, cost: Cost) -> list[ScoredArm]:
    """Every arm, without values where it has no episode or not the metric; None is each arm's
    own. Raises ConfigError at a metric no arm has."""
    rows = frames.arm_rows()
    groups = dict(iter(frames.episodes.groupby("folder"))) if len(frames.episodes) else {}
    if metric and not any(metric in row["metrics"].split() for row in rows):
        known = dict.fromkeys(name for row in rows for name in row["metrics"].split())
        raise ConfigError(f"no arm has a metric {metric!r}", allowed=", ".join(known))
    found = []
    for row, label in zip(rows, shortest(rows) if rows else [], strict=True):
        name = metric or row["metric"]
        row = {**row, "metric": name}
        episodes = groups.get(row["folder"])
        if episodes is None or name not in row["metrics"].split():
            found.append(ScoredArm(row=row, label=label, score={}, cost={}, single=True))
            continue
        episodes = charged(episodes, str(row["model"]), cost)
        found.append(
            ScoredArm(
                row=row,
                label=label,
                score=per_problem(episodes, name),
                cost=per_problem(episodes, "cost"),
                single=len(episodes) == episodes["problem"].nunique(),
                errors=int(episodes["failed"].sum()),
                truncated=float(episodes["truncated"].astype(float).mean()),
            )
        )
    return found


def check_two(one: ScoredArm, two: ScoredArm, faults: Sequence[str]) -> None:
    """Raises ConfigError where the two cannot be compared. `faults` are those of the frames."""
    for arm in (one, two):
        if not arm.score:
            told = [text for text in faults if text.startswith(f"{arm.row['arm']}: ")]
            why = f" ({told[0].partition(': ')[2].rstrip('.')})" if told else ""
            raise ConfigError(
                f"{arm.label} has no episode with {arm.metric}{why}",
                remedy="parley report on its study says what there is",
            )
    if one.metric != two.metric:
        raise ConfigError(
            f"{one.label} is scored by {one.metric}, {two.label} by {two.metric}",
            allowed="--metric NAME, of a score that both have",
        )
    if not set(one.score) & set(two.score):
        raise ConfigError(
            f"{one.label} and {two.label} hold no problem in common",
            remedy="run both on the same benchmark, with the same limit_seed",
        )


def unlike(arm: ScoredArm, base: ScoredArm) -> str:
    """Why an arm is not compared with the baseline of its benchmark and model."""
    return (
        f"{arm.label} is scored by {arm.metric}, {base.label} by {base.metric}: not compared "
        "unless --metric names a score that both have."
    )
