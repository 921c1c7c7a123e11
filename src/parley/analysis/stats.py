"""Means with their uncertainty, and dominance. Seeded, so that a report is the same each time.

Several samples of a problem are one observation, their mean: problems are what was drawn.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
RESAMPLES = 9999
BINARY = frozenset({"em", "accuracy"})
"""Scores that are right or wrong. Others may be 0 or 1 throughout by chance."""
CELLS = 2_000_000
"""Most draws held at once: bounds the memory of a bootstrap over many problems (16 MB)."""


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
    import pandas as pd

    column_of_numbers = pd.to_numeric(episodes[column], errors="coerce")
    numbers = column_of_numbers.to_numpy(dtype=float, na_value=math.nan)
    sums: dict[str, list[float]] = {}
    for problem, value in zip(episodes["problem"], numbers, strict=True):
        sums.setdefault(problem, []).append(float(value))
    return {name: math.fsum(values) / len(values) for name, values in sorted(sums.items())}


def by_problem(episodes: pd.DataFrame, column: str) -> list[float]:
    """The values of `per_problem`, without the ids."""
    return list(per_problem(episodes, column).values())


def interval(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """The mean of one value per problem, with a 95% bootstrap interval over problems.

    BCa where it applies, else percentile. One problem has no interval; a NaN among the values
    makes everything NaN. Alike values have an interval of width 0: the bootstrap cannot see the
    uncertainty of a sample that does not vary.
    """
    import numpy as np

    sample = np.asarray(values, dtype=float)
    n = len(sample)
    if n == 0 or np.isnan(sample).any():
        return Interval(mean=math.nan, low=math.nan, high=math.nan, n=n)
    mean = math.fsum(sample) / n
    if n == 1:
        return Interval(mean=mean, low=math.nan, high=math.nan, n=n)
    if np.ptp(sample) == 0:
        return Interval(mean=mean, low=mean, high=mean, n=n, method="alike")
    low, high, method = _bounds((sample,), np.mean, seed, resamples)
    return Interval(mean=mean, low=low, high=high, n=n, method=method)


def ratio_interval(
    above: Sequence[float], below: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    """The ratio of two means over the same problems, which are drawn in pairs. NaN where a value
    is missing or the mean below is 0."""
    import numpy as np

    one, two = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
    n = len(one)
    total = math.fsum(two)
    if n == 0 or total == 0 or np.isnan(one).any() or np.isnan(two).any():
        return Interval(mean=math.nan, low=math.nan, high=math.nan, n=n)
    mean = math.fsum(one) / total
    if n == 1:
        return Interval(mean=mean, low=math.nan, high=math.nan, n=n)
    if np.allclose(one, mean * two, rtol=1e-12, atol=0):
        return Interval(mean=mean, low=mean, high=mean, n=n, method="alike")

    def ratio(x: Any, y: Any, axis: int = -1) -> Any:
        return np.mean(x, axis=axis) / np.mean(y, axis=axis)

    low, high, method = _bounds((one, two), ratio, seed, resamples)
    return Interval(mean=mean, low=low, high=high, n=n, method=method)


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
    right_or_wrong = all(value in (0, 1) for value in values)
    if single and metric in BINARY and len(values) > 1 and right_or_wrong:
        return wilson(values)
    return interval(values, seed=seed)


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


def _bounds(
    samples: tuple[Any, ...], statistic: Callable[..., Any], seed: int, resamples: int
) -> tuple[float, float, str]:
    """BCa where it gives numbers, else percentile."""
    import numpy as np
    from scipy.stats import DegenerateDataWarning, bootstrap

    low, high, method = math.nan, math.nan, ""
    for method in ("BCa", "percentile"):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", DegenerateDataWarning)
            found = bootstrap(
                samples,
                statistic,
                paired=len(samples) > 1,
                vectorized=True,
                n_resamples=resamples,
                batch=max(1, CELLS // len(samples[0])),
                confidence_level=CONFIDENCE,
                method=method,
                rng=np.random.default_rng(seed),
            ).confidence_interval
        low, high = float(found.low), float(found.high)
        if not (math.isnan(low) or math.isnan(high)):
            break
    return low, high, method
