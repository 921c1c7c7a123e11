"""Arms of a study compared in pairs, on the problems that both hold.

A failed episode counts with 0 in every score and with the tokens it had spent; one that was
never recorded is in no mean. Differences are the first arm less the second.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parley.analysis.costs import Cost
from parley.analysis.frames import Frames, tidy
from parley.analysis.naming import counted, facets
from parley.analysis.paired import ALPHA, Saving, compare, saving
from parley.analysis.scored_arms import ScoredArm, check_two, scored_arms, unlike
from parley.analysis.selecting import SETTINGS, differences, find, matched, only
from parley.analysis.stats import Interval, holm, lones
from parley.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

BASELINE = "full"
"""What others are compared with unless told: the strategy that projects nothing away."""
FEWEST = 6
"""Problems that must differ before all of them in one direction are improbable (2 / 2^6)."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What was found, as flat rows for a table of any kind."""

    study: str
    metrics: tuple[str, ...]
    """The scores compared: several where a study has benchmarks of different kinds."""
    cost: Cost
    arms: tuple[Row, ...]
    """Each arm alone, over all its problems: `arm` (its folder), `label`, `n`, `errors`,
    `truncated` (share of episodes with a call that was cut short), `score` and `cost`, both with
    `_low` and `_high`, and `method`, how the score's interval was made."""
    pairs: tuple[Row, ...]
    """Each comparison: see `PAIR`."""
    notes: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """The comparisons as a frame with the columns of `PAIR`."""
        return tidy([{name: row[name] for name in PAIR} for row in self.pairs])


PAIR = (
    *("benchmark", "model", "first", "second", "metric", "n", "n_first", "n_second"),
    *("score_first", "score_second", "difference", "difference_low", "difference_high"),
    *("interval", "test", "p", "p_holm", "wins", "ties", "losses", "d_z", "odds_ratio"),
    *("detectable", "alpha", "errors_first", "errors_second"),
    *("truncated_first", "truncated_second"),
    *("cost", "cost_first", "cost_second"),
    *("saving_ratio_of_means", "saving_ratio_of_means_low", "saving_ratio_of_means_high"),
    *("saving_mean_of_ratios", "saving_mean_of_ratios_low", "saving_mean_of_ratios_high"),
)
"""Columns of a comparison. `p_holm` is corrected for all comparisons of the table; `detectable`
is at `alpha`, which the comparisons share (0.05 by their number), at power 0.8."""


def compare_study(
    frames: Frames,
    *,
    baseline: str | None = None,
    metric: str | None = None,
    cost: Cost | None = None,
    seed: int = 0,
) -> Compared:
    """Every arm against the baseline of its own benchmark and model: the arm of that name, by
    default `full`, else the dearest. Raises ConfigError at a name or metric no arm has."""
    arms = scored_arms(frames, metric, cost or Cost())
    chosen: list[tuple[ScoredArm, ScoredArm]] = []
    told: list[str] = []
    groups = facets([arm.row for arm in arms])
    if baseline is not None:
        find(frames, baseline)
    for positions in groups.values():
        members = [arms[i] for i in positions]
        held = [arm for arm in members if arm.score]
        lonely = [arm.label for arm in members if not arm.score]
        told += [f"{label}: not compared, no episode that has the score." for label in lonely]
        base = _baseline(held, baseline)
        if base is None:
            continue
        others = [arm for arm in held if arm is not base]
        alike = [arm for arm in others if arm.metric == base.metric]
        told += [unlike(arm, base) for arm in others if arm.metric != base.metric]
        chosen += [(arm, base) for arm in alike]
        for arm in alike:
            apart = differences(arm.row, base.row, SETTINGS)
            told += [f"{arm.label} and {base.label}: {text}" for text in apart]
        named = sum(_named(arm, BASELINE) for arm in held)
        if baseline is None and named != 1 and len(held) > 1:
            told.append(
                f"{named or 'no'} arms are named {BASELINE!r}: compared with the dearest, "
                f"{base.label}."
            )
        if len(held) == 1:
            told.append(f"{base.label}: one arm, there is nothing to compare it with.")
    return _compared(frames, arms, chosen, told, cost or Cost(), seed)


def compare_two(
    frames: Frames,
    first: str,
    second: str,
    *,
    metric: str | None = None,
    cost: Cost | None = None,
    seed: int = 0,
) -> Compared:
    """Two arms, named by label, strategy or folder, also of different models; where a study has
    both in several models, one comparison for each."""
    ones, twos = find(frames, first), find(frames, second)
    pairs = [(ones[0], twos[0])] if len(ones) == len(twos) == 1 else matched(frames, ones, twos)
    if any(one == two for one, two in pairs):
        raise ConfigError(f"{first!r} and {second!r} are the same arm")
    rows = frames.arm_rows()
    held = only(frames, [rows[place]["folder"] for pair in pairs for place in pair])
    by_folder = {arm.row["folder"]: arm for arm in scored_arms(held, metric, cost or Cost())}
    chosen = [
        (by_folder[rows[one]["folder"]], by_folder[rows[two]["folder"]]) for one, two in pairs
    ]
    told: list[str] = []
    for one, two in chosen:
        told += differences(one.row, two.row)
        check_two(one, two, frames.faults)
    arms = [arm for pair in chosen for arm in pair]
    return _compared(held, arms, chosen, told, cost or Cost(), seed)


def _compared(
    frames: Frames,
    arms: Sequence[ScoredArm],
    pairs: Sequence[tuple[ScoredArm, ScoredArm]],
    told: Sequence[str],
    cost: Cost,
    seed: int,
) -> Compared:
    alpha = ALPHA / max(1, len(pairs))
    rows = [_pair(one, two, cost, alpha, seed) for one, two in pairs]
    for row, corrected in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = corrected
    metrics = dict.fromkeys(arm.metric for arm in arms)
    notes = [*frames.faults, *told]
    for one, two in pairs:
        notes += _limits(one, two, cost)
    return Compared(
        study=", ".join(dict.fromkeys(str(arm.row["study"]) for arm in arms)),
        metrics=tuple(metrics),
        cost=cost,
        arms=tuple(_alone(arms, seed)),
        pairs=tuple(rows),
        notes=tuple(dict.fromkeys(notes)),
    )


def _alone(arms: Sequence[ScoredArm], seed: int) -> Iterator[Row]:
    asked: list[tuple[list[float], str, bool]] = []
    for arm in arms:
        asked.append((list(arm.score.values()), arm.metric, arm.single))
        asked.append((list(arm.cost.values()), "cost", False))
    found = iter(lones(asked, seed=seed))
    for arm, score, cost in zip(arms, found, found, strict=True):
        row = {name: arm.row[name] for name in ("arm", "benchmark", "model")}
        row |= {"label": arm.label, "n": score.n, "errors": arm.errors, "method": score.method}
        row["truncated"] = arm.truncated
        yield {**row, **_bounds("score", score), **_bounds("cost", cost)}


def _pair(one: ScoredArm, two: ScoredArm, cost: Cost, alpha: float, seed: int) -> Row:
    common = sorted(set(one.score) & set(two.score))
    found = compare(
        [one.score[name] for name in common],
        [two.score[name] for name in common],
        single=one.single and two.single,
        alpha=alpha,
        seed=seed,
    )
    spent = [one.cost[name] for name in common], [two.cost[name] for name in common]
    saved = saving(*spent, seed=seed)
    return {
        **{"benchmark": one.row["benchmark"], "model": one.row["model"]},
        **{"first": one.label, "second": two.label, "metric": one.row["metric"]},
        **{"n": found.n, "n_first": len(one.score), "n_second": len(two.score)},
        **{"score_first": found.first, "score_second": found.second},
        **_bounds("difference", found.difference),
        **{"interval": found.difference.method, "test": found.test.name, "p": found.test.p},
        **{"wins": found.wins, "ties": found.ties, "losses": found.losses},
        **{"d_z": found.d_z, "odds_ratio": found.odds_ratio},
        **{"detectable": found.detectable, "alpha": found.alpha},
        **{"errors_first": one.errors, "errors_second": two.errors},
        **{"truncated_first": one.truncated, "truncated_second": two.truncated},
        **{"cost": cost.kind, "cost_first": _mean(spent[0]), "cost_second": _mean(spent[1])},
        **_savings(saved),
    }


def _savings(saved: Saving) -> Row:
    return {
        **_bounds("saving_ratio_of_means", saved.ratio_of_means),
        **_bounds("saving_mean_of_ratios", saved.mean_of_ratios),
    }


def _limits(one: ScoredArm, two: ScoredArm, cost: Cost) -> Iterator[str]:
    common = set(one.score) & set(two.score)
    if set(one.score) != set(two.score):
        yield (
            f"{one.label} holds {counted(len(one.score), 'problem')}, {two.label} "
            f"{len(two.score)}: compared on the {len(common)} that both hold."
        )
    apart = sum(one.score[name] != two.score[name] for name in common)
    if 0 < apart < FEWEST:
        yield (
            f"{one.label} and {two.label} differ on {counted(apart, 'problem')}: with fewer than "
            f"{FEWEST} no test can reach p < 0.05, and the bootstrap interval is too narrow."
        )
    for arm in (one, two):
        if arm.row["run"] != "finished":
            yield f"{arm.label}: the run is marked {arm.row['run']!r}."
        if lost := int(arm.row["missing"]):
            planned = int(arm.row["planned_problems"]) * int(arm.row["planned_samples"])
            yield f"{arm.label}: {lost} of {planned} planned episodes are missing, and in no mean."
        if arm.errors:
            yield f"{arm.label}: {arm.errors} failed episodes count as 0, at what they spent."
        if lacking := sum(math.isnan(arm.score[name]) for name in common):
            metric, problems = arm.row["metric"], counted(lacking, "problem")
            yield f"{arm.label}: {metric} is not a number on {problems}."
        if lacking := sum(math.isnan(arm.cost[name]) for name in common):
            why = " (reused calls have no latency or cache of their own)" if not cost.plain else ""
            yield f"{arm.label}: the cost is not known on {counted(lacking, 'problem')}{why}."
    if free := sum(two.cost[name] == 0 for name in common):
        yield f"{two.label}: {counted(free, 'problem')} cost nothing, where there is no ratio."


def _baseline(arms: Sequence[ScoredArm], name: str | None) -> ScoredArm | None:
    named = [arm for arm in arms if _named(arm, name or BASELINE)]
    if len(named) == 1:
        return named[0]
    if name is not None and named:
        raise ConfigError(
            f"several arms are named {name!r}", allowed=", ".join(arm.label for arm in named)
        )
    if name is not None and arms:
        raise ConfigError(
            f"no arm of {arms[0].row['benchmark']}, {arms[0].row['model']} is named {name!r}",
            allowed=", ".join(arm.label for arm in arms),
        )
    return max(arms, key=lambda arm: (_mean(list(arm.cost.values())), arm.label), default=None)


def _named(arm: ScoredArm, name: str) -> bool:
    return name in (arm.label, arm.row["label"], arm.row["strategy"], arm.row["arm"])


def _bounds(name: str, found: Interval) -> Row:
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
