"""Means with their uncertainty, and dominance. Seeded, so that a report is the same each time.

Several samples of a problem are one observation, their mean: problems are what was drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parley.analysis.resampling import bounds, means

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
RESAMPLES = 9999
BINARY = frozenset({"em", "accuracy"})
"""Scores that are right or wrong. Others may be 0 or 1 throughout by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean (or a ratio of means) over `n` problems with its bounds; NaN where there is none."""

    mean: float
    low: float
    high: float
    n: int
    method: str = ""
    """"BCa", "percentile", "Wilson" or "alike" (no width); empty without bounds."""


def per_problem(episodes: pd.DataFrame, column: str) -> dict[str, float]:
    """One value per problem, in the order of their ids: its samples averaged first, since they
    are not independent.

    A missing value makes its problem's value NaN; it is never left out of a mean.
    """
    import numpy as np
    import pandas as pd

    column_of_numbers = pd.to_numeric(episodes[column], errors="coerce")
    numbers = column_of_numbers.to_numpy(dtype=float, na_value=math.nan)
    places, names = pd.factorize(episodes["problem"], sort=True)
    order = np.argsort(places, kind="stable")
    values = numbers[order].tolist()
    if len(names) < len(values):
        ends = np.cumsum(np.bincount(places)).tolist()
        starts = [0, *ends[:-1]]
        values = [
            math.fsum(values[start:end]) / (end - start)
            for start, end in zip(starts, ends, strict=True)
        ]
    return dict(zip(names.tolist(), values, strict=True))


def by_problem(episodes: pd.DataFrame, column: str) -> list[float]:
    """The values of `per_problem`, without the ids."""
    return list(per_problem(episodes, column).values())


def interval(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """The mean of one value per problem, with a 95% bootstrap interval over problems.

    BCa where it applies, else percentile. One problem has no interval; a NaN among the values
    makes everything NaN. Alike values have an interval of width 0: the bootstrap cannot see the
    uncertainty of a sample that does not vary.
    """
    return intervals([(values,)], seed=seed, resamples=resamples)[0]


def ratio_interval(
    above: Sequence[float], below: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    """The ratio of two means over the same problems, which are drawn in pairs. NaN where a value
    is missing or the mean below is 0."""
    return intervals([(above, below)], seed=seed, resamples=resamples)[0]


def intervals(
    quantities: Sequence[tuple[Sequence[float], ...]], *, seed: int = 0, resamples: int = RESAMPLES
) -> list[Interval]:
    """As `interval` for (values,) and `ratio_interval` for (above, below), and the same numbers,
    but those of equally many problems share their draws: many cost hardly more than one."""
    import numpy as np

    columns = [np.column_stack([np.asarray(c, dtype=float) for c in q]) for q in quantities]
    found = [_without_draws(each) for each in columns]
    for n in dict.fromkeys(len(columns[place]) for place, known in enumerate(found) if not known):
        open_places = [p for p, known in enumerate(found) if not known and len(columns[p]) == n]
        drawn = means(np.hstack([columns[p] for p in open_places]), seed=seed, draws=resamples)
        at = 0
        for place in open_places:
            own = columns[place]
            width = own.shape[1]
            low, high, method = bounds(own, drawn[:, at : at + width], _ratio, CONFIDENCE)
            at += width
            mean = _observed(own)
            found[place] = Interval(mean=mean, low=low, high=high, n=n, method=method)
    return [each for each in found if each]


def _without_draws(columns: Any) -> Interval | None:
    """The interval where nothing need be drawn."""
    import numpy as np

    n = len(columns)
    mean = math.nan if n == 0 or np.isnan(columns).any() else _observed(columns)
    if n < 2 or math.isnan(mean):
        return Interval(mean=mean, low=math.nan, high=math.nan, n=n)
    alike = (
        np.ptp(columns) == 0
        if columns.shape[1] == 1
        else np.allclose(columns[:, 0], mean * columns[:, 1], rtol=1e-12, atol=0)
    )
    return Interval(mean=mean, low=mean, high=mean, n=n, method="alike") if alike else None


def _observed(columns: Any) -> float:
    """The mean of one column, or the ratio of two columns' means; NaN where the second's is 0."""
    sums = [math.fsum(column) for column in columns.T]
    if len(sums) == 1:
        return sums[0] / len(columns)
    return sums[0] / sums[1] if sums[1] else math.nan


def _ratio(found: Any) -> Any:
    """The statistic of `_observed` of means, a row each."""
    return found[..., 0] if found.shape[-1] == 1 else found[..., 0] / found[..., 1]


def wilson(values: Sequence[float]) -> Interval:
    """An accuracy with Wilson's 95% interval, which has a width also where all or none are
    right. One value per problem, each 0 or 1: raises ValueError at any other."""
    from statsmodels.stats.proportion import proportion_confint

    if not all(value in (0, 1) for value in values):
        raise ValueError("Wilson's interval is for values that are 0 or 1")
    n = len(values)
    if n == 0:
        return Interval(mean=math.nan, low=math.nan, high=math.nan, n=0)
    right = round(math.fsum(values))
    low, high = proportion_confint(right, n, alpha=1 - CONFIDENCE, method="wilson")
    return Interval(mean=right / n, low=float(low), high=float(high), n=n, method="Wilson")


def lone(values: Sequence[float], metric: str, *, single: bool, seed: int = 0) -> Interval:
    """The mean of one arm: Wilson's interval for an accuracy of a `single` sample per problem,
    else the bootstrap's."""
    return lones([(values, metric, single)], seed=seed)[0]


def lones(arms: Sequence[tuple[Sequence[float], str, bool]], *, seed: int = 0) -> list[Interval]:
    """As `lone` for each (values, metric, single), on shared draws. Costs have a name, too."""
    exact = [
        single and metric in BINARY and len(values) > 1 and all(v in (0, 1) for v in values)
        for values, metric, single in arms
    ]
    drawn = iter(intervals([(a[0],) for a, e in zip(arms, exact, strict=True) if not e], seed=seed))
    return [wilson(a[0]) if e else next(drawn) for a, e in zip(arms, exact, strict=True)]


def holm(values: Sequence[float]) -> list[float]:
    """p values corrected for being several, by Holm's step-down rule. A NaN is no test: it stays,
    and does not count among them."""
    from statsmodels.stats.multitest import multipletests

    tested = [place for place, value in enumerate(values) if not math.isnan(value)]
    corrected = list(values)
    if tested:
        found = multipletests([values[place] for place in tested], method="holm")[1]
        for place, value in zip(tested, found, strict=True):
            corrected[place] = float(value)
    return corrected


def pareto(cost: Sequence[float], score: Sequence[float]) -> list[bool]:
    """Whether each point is on the front: none is at most as dear and at least as good, and
    better in one of the two. Equal points stay together; a NaN is never on the front."""
    points = list(zip(cost, score, strict=True))
    return [
        not (math.isnan(c) or math.isnan(s))
        and not any(a <= c and b >= s and (a < c or b > s) for a, b in points)
        for c, s in points
    ]
