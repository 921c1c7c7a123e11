"""Means with their uncertainty, and dominance. Seeded, so that a report is the same each time."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
RESAMPLES = 9999
CELLS = 2_000_000
"""Most draws held at once: bounds the memory of a bootstrap over many problems (16 MB)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean over `n` problems with its bounds; NaN where there is none to give."""

    mean: float
    low: float
    high: float
    n: int


def by_problem(episodes: pd.DataFrame, column: str) -> list[float]:
    """One value per problem: its samples averaged first, since they are not independent.

    A missing value makes its problem's value NaN; it is never left out of a mean.
    """
    import pandas as pd

    column_of_numbers = pd.to_numeric(episodes[column], errors="coerce")
    numbers = column_of_numbers.to_numpy(dtype=float, na_value=math.nan)
    sums: dict[str, list[float]] = {}
    for problem, value in zip(episodes["problem"], numbers, strict=True):
        sums.setdefault(problem, []).append(float(value))
    return [math.fsum(values) / len(values) for _, values in sorted(sums.items())]


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
        return Interval(mean=mean, low=mean, high=mean, n=n)
    low, high = _bounds(sample, "BCa", seed, resamples)
    if math.isnan(low) or math.isnan(high):
        low, high = _bounds(sample, "percentile", seed, resamples)
    return Interval(mean=mean, low=low, high=high, n=n)


def pareto(cost: Sequence[float], score: Sequence[float]) -> list[bool]:
    """Whether each point is on the front: none is at most as dear and at least as good, and
    better in one of the two. Equal points stay together; a NaN is never on the front."""
    points = list(zip(cost, score, strict=True))
    return [
        not (math.isnan(c) or math.isnan(s))
        and not any(a <= c and b >= s and (a < c or b > s) for a, b in points)
        for c, s in points
    ]


def _bounds(sample: Any, method: str, seed: int, resamples: int) -> tuple[float, float]:
    import numpy as np
    from scipy.stats import DegenerateDataWarning, bootstrap

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", DegenerateDataWarning)
        found = bootstrap(
            (sample,),
            np.mean,
            n_resamples=resamples,
            batch=max(1, CELLS // len(sample)),
            confidence_level=CONFIDENCE,
            method=method,
            rng=np.random.default_rng(seed),
        ).confidence_interval
    return float(found.low), float(found.high)
