"""Two arms on the same problems: how far apart, how sure, and how small a difference n can show.

One value per problem and arm, in the same order (samples of a problem averaged first). Every
number is of the first arm less the second. Seeded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from parley.analysis.resampling import flipped
from parley.analysis.stats import RESAMPLES, Interval, interval, intervals

ALPHA = 0.05
POWER = 0.8
FARTHEST = 2.0**12
"""Standard deviations beyond which no difference is looked for."""
EXACT = 14
"""Problems that differ up to which all sign flips are tried (2^14 are), instead of drawn ones."""
MCNEMAR = "exact McNemar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A two-sided test: which, its p, NaN where there is nothing to test."""

    __test__ = False

    name: str
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two arms in one score."""

    n: int
    """Problems that both arms hold."""
    first: float
    second: float
    """The two means."""
    difference: Interval
    """First less second."""
    test: Test
    wins: int
    ties: int
    losses: int
    """Problems on which the first is better, alike, worse."""
    d_z: float
    """Cohen's d of paired values: mean difference over the differences' standard deviation."""
    odds_ratio: float
    """Problems only the first solves over those only the second does; NaN unless values are 0
    or 1, and where both solve the same."""
    detectable: float
    """The smallest difference that would be found with power 0.8 at `alpha`, two-sided, from the
    observed variance of the differences; NaN where they do not vary."""
    alpha: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """How much cheaper the first arm is, as a share of the second; negative where it is dearer.

    The two are different questions: `ratio_of_means` is the saving on the whole bill, in which
    long problems weigh more; `mean_of_ratios` is the saving on an average problem.
    """

    ratio_of_means: Interval
    mean_of_ratios: Interval
    undefined: int
    """Problems on which the second arm cost nothing: in no mean of ratios."""


def compare(
    first: Sequence[float],
    second: Sequence[float],
    *,
    single: bool,
    alpha: float = ALPHA,
    seed: int = 0,
) -> Comparison:
    """`single` says that both arms hold one sample per problem; values that are then all 0 or 1
    are tested by McNemar's exact test, others by flipping signs. A NaN makes everything NaN."""
    pairs = [(float(one), float(two)) for one, two in zip(first, second, strict=True)]
    differences = [one - two for one, two in pairs]
    binary = single and all(value in (0, 1) for pair in pairs for value in pair)
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return Comparison(
        n=len(pairs),
        first=_mean(first),
        second=_mean(second),
        difference=interval(differences, seed=seed),
        test=mcnemar(first, second) if binary else sign_flip(differences, seed=seed),
        wins=wins,
        ties=sum(d == 0 for d in differences),
        losses=losses,
        d_z=_d_z(differences),
        odds_ratio=_odds(wins, losses) if binary else math.nan,
        detectable=detectable(differences, alpha=alpha),
        alpha=alpha,
    )


def mcnemar(first: Sequence[float], second: Sequence[float]) -> Test:
    """McNemar's exact test: of the problems that only one arm solves, are half the first's?"""
    from statsmodels.stats.contingency_tables import mcnemar as exact_test

    table = [[0, 0], [0, 0]]
    for one, two in zip(first, second, strict=True):
        table[int(one == 0)][int(two == 0)] += 1
    if not any(map(sum, table)):
        return Test(name=MCNEMAR, p=math.nan)
    return Test(name=MCNEMAR, p=float(exact_test(table, exact=True).pvalue))


def sign_flip(differences: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Test:
    """Paired permutation: were the arms alike, each problem's difference could as well have had
    the other sign. Problems without a difference say nothing about its sign."""
    import numpy as np

    values = np.asarray(differences, dtype=float)
    if len(values) == 0 or np.isnan(values).any():
        return Test(name="sign flips", p=math.nan)
    moved = values[values != 0]
    exact = len(moved) <= EXACT
    name = "sign flips, exact" if exact else f"sign flips, {resamples:,} drawn"
    if len(moved) < 2:  # nothing moved, or one that moved up or down by chance
        return Test(name=name, p=1.0)
    if exact:
        places = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved))
        totals = (1.0 - 2.0 * (places & 1)) @ moved
    else:
        totals = flipped(moved, seed=seed, draws=resamples)
    # Sums of the same numbers in another order differ in their last digits.
    reached = np.abs(totals) >= abs(moved.sum()) - 1e-12 * np.abs(moved).sum()
    extra = 0 if exact else 1  # the signs as they are count as one of those drawn
    return Test(name=name, p=float((reached.sum() + extra) / (len(totals) + extra)))


def detectable(
    differences: Sequence[float], *, alpha: float = ALPHA, power: float = POWER
) -> float:
    """The mean difference that a paired t test of this many problems, varying this much, would
    find with the given power."""
    from scipy.optimize import brentq

    spread = _spread(differences)
    if math.isnan(spread) or spread == 0:
        return math.nan
    n = len(differences)
    low, high = 0.0, 1.0
    while high < FARTHEST and _power(high, n, alpha) < power:
        low, high = high, 2 * high
    if high >= FARTHEST:
        return math.nan
    size = brentq(lambda size: _power(size, n, alpha) - power, low, high)
    return float(size) * spread


def _power(size: float, n: int, alpha: float) -> float:
    """Of a two-sided paired t test, at so many standard deviations: over the values that the
    sample's spread may have. (scipy's noncentral t has none for few problems and a small alpha.)
    """
    from scipy.integrate import quad
    from scipy.special import ndtr
    from scipy.stats import chi, t

    degrees = n - 1
    edge, shift = float(t.isf(alpha / 2, degrees)), size * math.sqrt(n)
    ends = chi.ppf([1e-12, 1 - 1e-12], degrees)

    def found(root: float) -> float:
        limit = edge * root / math.sqrt(degrees)
        return float((ndtr(shift - limit) + ndtr(-shift - limit)) * chi.pdf(root, degrees))

    return float(quad(found, *ends, limit=200)[0])


def saving(first: Sequence[float], second: Sequence[float], *, seed: int = 0) -> Saving:
    """What the first costs less than the second, of its cost."""
    shares = [1 - one / two for one, two in zip(first, second, strict=True) if two != 0]
    ratio, average = intervals([(first, second), (shares,)], seed=seed)
    return Saving(
        ratio_of_means=_less(ratio),
        mean_of_ratios=average,
        undefined=len(first) - len(shares),
    )


def _less(ratio: Interval) -> Interval:
    return Interval(
        mean=1 - ratio.mean,
        low=1 - ratio.high,
        high=1 - ratio.low,
        n=ratio.n,
        method=ratio.method,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _spread(differences: Sequence[float]) -> float:
    """The standard deviation, 0 for differences that are alike but for rounding."""
    n = len(differences)
    if n < 2 or any(map(math.isnan, differences)):
        return math.nan
    middle = _mean(differences)
    spread = math.sqrt(math.fsum((d - middle) ** 2 for d in differences) / (n - 1))
    return 0.0 if spread < 1e-12 else spread


def _d_z(differences: Sequence[float]) -> float:
    spread = _spread(differences)
    return math.nan if math.isnan(spread) or spread == 0 else _mean(differences) / spread


def _odds(wins: int, losses: int) -> float:
    if losses == 0:
        return math.inf if wins else math.nan
    return wins / losses
