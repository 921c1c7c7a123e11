"""A frontier with its uncertainty: all arms drawn again together, over the problems they share.

Drawing problems jointly keeps what arms have in common (a hard problem is hard for all), so that
chances are of the arms' differences and not of the problems. Seeded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parley.analysis.resampling import means
from parley.analysis.stats import CONFIDENCE, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

DRAWS = 4000
REFERENCE = 1.1
"""The reference point of the hypervolume: score 0 at this many times the dearest arm's cost, so
that the dearest arm counts, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Mean score and mean cost of each arm: as observed, and in each draw of problems (a row per
    draw, a column per arm). An arm that lacks a value on any problem is NaN throughout."""

    n: int
    score: Sequence[float]
    cost: Sequence[float]
    scores: Matrix
    costs: Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """What to use at a budget."""

    budget: float
    chosen: int | None
    """The arm with the best observed score of those whose observed cost fits; the cheaper one of
    equal ones. None where none fits."""
    chance: tuple[float, ...]
    """Per arm, the share of draws in which it is best among those that fit; arms that are equal
    share a draw. They sum to less than 1 where in some draws no arm fits."""


def comparable(held: Sequence[frozenset[str]]) -> list[int]:
    """Arms that may be drawn together, in their order: those that share at least half of the
    problems of the arm that overlaps most with all others. A barely begun arm would otherwise
    leave the others its few problems. All of them where fewer than two would remain."""
    order = sorted(
        range(len(held)), key=lambda i: (-sum(len(held[i] & other) for other in held), i)
    )
    kept: list[int] = []
    common: frozenset[str] = frozenset()
    for arm in order:
        shared = common & held[arm] if kept else held[arm]
        if not kept or 2 * len(shared) >= len(held[order[0]]):
            kept.append(arm)
            common = shared
    return sorted(kept) if len(kept) > 1 else list(range(len(held)))


def draw(
    scores: Sequence[Sequence[float]],
    costs: Sequence[Sequence[float]],
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> Draws:
    """One row per arm, one column per problem, the same problems in each. Fewer than two problems
    give no draws: nothing is known of their spread."""
    import numpy as np

    score, cost = np.asarray(scores, dtype=float), np.asarray(costs, dtype=float)
    n = score.shape[1] if score.ndim == 2 else 0
    missing = np.isnan(score).any(axis=-1) | np.isnan(cost).any(axis=-1) if n else []
    score, cost = score.copy(), cost.copy()
    if n:
        score[missing], cost[missing] = math.nan, math.nan
    arms = len(score)
    drawn = np.empty((0, 2 * arms))
    if n > 1:
        drawn = means(np.vstack([score, cost]).T, seed=seed, draws=draws)
    return Draws(
        n=n,
        score=[math.fsum(row) / n if n else math.nan for row in score],
        cost=[math.fsum(row) / n if n else math.nan for row in cost],
        scores=drawn[:, :arms],
        costs=drawn[:, arms:],
    )


def chances(drawn: Draws) -> list[float]:
    """Per arm, the share of draws in which it is on the Pareto front; equal arms both are. NaN
    without draws or for an arm without a point."""
    import numpy as np

    score, cost = _rounded(drawn.scores), _rounded(drawn.costs)
    if not len(score):
        return [math.nan] * len(drawn.score)
    found = []
    for arm, observed in enumerate(drawn.score):
        own_score, own_cost = score[:, [arm]], cost[:, [arm]]
        as_good = (cost <= own_cost) & (score >= own_score)
        better = (cost < own_cost) | (score > own_score)
        beaten = (as_good & better).any(axis=1)
        found.append(math.nan if math.isnan(observed) else float(1 - np.mean(beaten)))
    return found


def reference(drawn: Draws) -> tuple[float, float]:
    """Cost and score of the point from which the hypervolume is measured; NaN without an arm."""
    known = [cost for cost in drawn.cost if not math.isnan(cost)]
    return (REFERENCE * max(known), 0.0) if known else (math.nan, 0.0)


def hypervolume(drawn: Draws) -> Interval:
    """The share of the rectangle between the reference point and a free, perfect answer (score 1
    at cost 0) that the front covers, in [0, 1], with the draws' 95% interval. The reference
    stays where the observed costs put it."""
    import numpy as np

    dearest, _ = reference(drawn)
    if math.isnan(dearest) or dearest == 0:
        return Interval(mean=math.nan, low=math.nan, high=math.nan, n=drawn.n)
    kept = [arm for arm, score in enumerate(drawn.score) if not math.isnan(score)]
    observed = _volume([drawn.cost[i] for i in kept], [drawn.score[i] for i in kept], dearest)
    if not len(drawn.scores):
        return Interval(mean=observed, low=math.nan, high=math.nan, n=drawn.n)
    each = [
        _volume(cost, score, dearest)
        for cost, score in zip(drawn.costs[:, kept], drawn.scores[:, kept], strict=True)
    ]
    edge = 100 * (1 - CONFIDENCE) / 2
    low, high = (float(value) for value in np.percentile(each, [edge, 100 - edge]))
    return Interval(mean=observed, low=low, high=high, n=drawn.n, method="percentile")


def best_at(drawn: Draws, budget: float) -> Best:
    """The best arm for at most so much per problem, and how often another draw of problems would
    say the same."""
    import numpy as np

    fitting = [
        (-score, cost, arm)
        for arm, (score, cost) in enumerate(zip(drawn.score, drawn.cost, strict=True))
        if cost <= budget
    ]
    chosen = min(fitting)[2] if fitting else None
    if not len(drawn.scores):
        return Best(budget=budget, chosen=chosen, chance=(math.nan,) * len(drawn.score))
    score = np.where(drawn.costs <= budget, _rounded(drawn.scores), -np.inf)
    score = np.where(np.isnan(drawn.scores), -np.inf, score)
    best = (score == score.max(axis=1, keepdims=True)) & np.isfinite(score)
    shares = best / np.maximum(best.sum(axis=1, keepdims=True), 1)
    return Best(budget=budget, chosen=chosen, chance=tuple(map(float, shares.mean(axis=0))))


def budgets(drawn: Draws, count: int = 4) -> list[float]:
    """Round budgets from the cheapest arm's cost to the dearest one's."""
    known = sorted(cost for cost in drawn.cost if not math.isnan(cost))
    if not known or known[-1] <= 0:
        return []
    low, high = known[0], known[-1]
    scale: float = 10 ** (math.floor(math.log10(high)) - 1)
    steps = [low + (high - low) * step / (count - 1) for step in range(count)]
    return sorted({math.ceil(round(step / scale, 6)) * scale for step in steps})


def _volume(cost: Any, score: Any, dearest: float) -> float:
    """Covered share of the rectangle from (dearest, 0) to (0, 1)."""
    import moocore
    import numpy as np

    points = np.column_stack([np.asarray(cost) / dearest, score])
    return float(moocore.hypervolume(points, ref=(1.0, 0.0), maximise=(False, True)))


def _rounded(values: Matrix) -> Matrix:
    """In units of the largest, without the last digits, in which sums of the same numbers may
    differ: ties stay ties."""
    import numpy as np

    largest = np.nanmax(np.abs(values)) if (~np.isnan(values)).any() else 0.0
    return np.round(values / float(largest or 1.0), 12)
