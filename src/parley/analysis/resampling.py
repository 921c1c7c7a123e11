"""Problems drawn again, many times: means of several columns over the same draws, flipped signs,
and the bounds that follow.

Means are products of a matrix of counts with the columns, so that one set of draws serves as many
quantities as there are, and a draw costs a few nanoseconds per problem. Seeded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

CELLS = 100_000
"""Draws of problems held at once: few enough for a processor's cache, which is also the fastest."""
ALIKE = 1e-12
"""Relative difference below which two means differ by rounding only."""


def means(columns: Matrix, *, seed: int, draws: int) -> Matrix:
    """Mean of each column (a row per problem) in each draw: a row per draw, a column per column.
    The draws depend on seed and number of problems alone. A NaN makes its column NaN."""
    import numpy as np

    n = len(columns)
    random = np.random.default_rng(seed)
    found = np.empty((draws, columns.shape[1]))
    for start, size in _batches(draws, n):
        places = random.integers(0, n, size=(size, n))
        places += np.arange(0, size * n, n)[:, None]
        counts = np.bincount(places.ravel(), minlength=size * n).reshape(size, n)
        found[start : start + size] = counts.astype(float) @ columns
    return found / n


def flipped(values: Matrix, *, seed: int, draws: int) -> Matrix:
    """The sum of the values in each draw, each value with a sign of its own by chance."""
    import numpy as np

    n = len(values)
    random = np.random.default_rng(seed)
    found = np.empty(draws)
    for start, size in _batches(draws, n):
        packed = np.frombuffer(random.bytes(size * -(-n // 8)), dtype=np.uint8)
        kept = np.unpackbits(packed.reshape(size, -1), axis=1, count=n)
        found[start : start + size] = 2 * (kept.astype(float) @ values)
    found -= values.sum()
    return found


def left_out(columns: Matrix) -> Matrix:
    """Mean of each column without each of its rows in turn: the jackknife's values."""
    rest: Matrix = (columns.sum(axis=0) - columns) / (len(columns) - 1)
    return rest


def bounds(
    columns: Matrix, drawn: Matrix, statistic: Callable[[Any], Any], confidence: float
) -> tuple[float, float, str]:
    """Interval of a statistic of the columns' means, and its method: BCa (Efron 1987) where it
    gives numbers, else percentile. `drawn` is what `means` gave."""
    import numpy as np

    edge = (1 - confidence) / 2
    with np.errstate(all="ignore"):
        values = np.sort(statistic(drawn))
        shares, method = _corrected(columns, values, statistic, edge), "BCa"
    if any(map(math.isnan, shares)):
        shares, method = (edge, 1 - edge), "percentile"
    if np.isnan(values).any():
        return math.nan, math.nan, method
    return _quantile(values, shares[0]), _quantile(values, shares[1]), method


def _quantile(values: Matrix, share: float) -> float:
    """Of sorted values, linear between neighbours; also infinite ones, which numpy's is not."""
    place = share * (len(values) - 1)
    before = math.floor(place)
    low, high = float(values[before]), float(values[math.ceil(place)])
    return low if low == high else low + (place - before) * (high - low)


def _corrected(
    columns: Matrix, values: Matrix, statistic: Callable[[Any], Any], edge: float
) -> tuple[float, float]:
    """Which shares of the draws are the bounds, corrected for bias and for a spread that changes
    with the value. NaN where all draws lie on one side, or nothing varies."""
    import numpy as np
    from scipy.special import ndtr, ndtri

    observed = statistic(columns.mean(axis=0))
    slack = ALIKE * abs(observed)
    below, above = values < observed - slack, values > observed + slack
    bias = ndtri((1 + below.mean() - above.mean()) / 2)
    held = statistic(left_out(columns))
    away = held.mean() - held
    acceleration = np.sum(away**3) / (6 * np.sum(away**2) ** 1.5)
    normal = bias + ndtri(np.array([edge, 1 - edge]))
    low, high = ndtr(bias + normal / (1 - acceleration * normal))
    return float(low), float(high)


def _batches(draws: int, n: int) -> Iterator[tuple[int, int]]:
    size = max(1, CELLS // n)
    for start in range(0, draws, size):
        yield start, min(size, draws - start)
