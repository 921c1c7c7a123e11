"""Draws and bounds against scipy's, on small cases."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import pytest
from scipy.stats import bootstrap, permutation_test

from parley.analysis.paired import sign_flip
from parley.analysis.resampling import CELLS, flipped, left_out, means
from parley.analysis.stats import interval, intervals, lone, lones, ratio_interval

RANDOM = np.random.default_rng(11)
SKEWED = RANDOM.lognormal(0, 1, 37)
OTHER = SKEWED * 2 + RANDOM.normal(0, 0.1, 37)


def _ratio(above: Any, below: Any, axis: int = -1) -> Any:
    return np.mean(above, axis=axis) / np.mean(below, axis=axis)


@pytest.mark.parametrize("seed", [0, 5])
def test_the_interval_of_a_mean_is_scipys(seed: int) -> None:
    other = bootstrap((SKEWED,), np.mean, n_resamples=999, rng=np.random.default_rng(seed))
    found = interval(SKEWED.tolist(), seed=seed, resamples=999)
    expected = other.confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.method == "BCa"


def test_the_interval_of_a_ratio_is_scipys() -> None:
    other = bootstrap(
        (SKEWED, OTHER), _ratio, paired=True, n_resamples=999, rng=np.random.default_rng(0)
    )
    found = ratio_interval(SKEWED.tolist(), OTHER.tolist(), resamples=999)
    expected = other.confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("above", "below", "method"),
    [
        ([10.0, 10.0, 30.0], [0.0, 20.0, 40.0], "BCa"),
        ([1.0, 2.0], [0.0, 3.0], "percentile"),
        ([0.0, 2.0, 1.0], [0.0, 3.0, 3.0], "BCa"),
    ],
)
def test_where_draws_have_no_finite_ratio_the_interval_is_scipys(
    above: list[float], below: list[float], method: Literal["BCa", "percentile"]
) -> None:
    """A draw of the first problem alone has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = bootstrap(
            (np.array(above), np.array(below)),
            _ratio,
            paired=True,
            n_resamples=999,
            method=method,
            rng=np.random.default_rng(0),
        )
    found = ratio_interval(above, below, resamples=999)
    assert found.method == method
    expected = other.confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), nan_ok=True)


def test_quantities_on_shared_draws_have_the_numbers_they_have_alone() -> None:
    ones, twos, few = SKEWED.tolist(), OTHER.tolist(), [0.1, 0.9, 0.4]
    together = intervals([(ones,), (few,), (ones, twos), ([1.0] * 4,), (twos,)], resamples=99)
    alone = [
        interval(ones, resamples=99),
        interval(few, resamples=99),
        ratio_interval(ones, twos, resamples=99),
        interval([1.0] * 4, resamples=99),
        interval(twos, resamples=99),
    ]
    for found, expected in zip(together, alone, strict=True):
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
        assert (found.mean, found.n, found.method) == (expected.mean, expected.n, expected.method)


def test_arms_on_shared_draws_have_the_numbers_they_have_alone() -> None:
    arms = [([1.0, 0.0, 1.0, 1.0], "em", True), ([3.0, 5.0, 4.0, 9.0], "tokens", False)]
    together = lones(arms)
    alone = [lone(values, metric, single=single) for values, metric, single in arms]
    assert together[0] == alone[0]
    assert together[0].method == "Wilson"
    assert (together[1].low, together[1].high) == pytest.approx((alone[1].low, alone[1].high))


@pytest.mark.parametrize("n", [5, 2 * CELLS // 3])
def test_each_draw_has_as_many_problems_as_there_are(n: int) -> None:
    columns = np.column_stack([np.ones(n), np.arange(n, dtype=float)])
    found = means(columns, seed=1, draws=7)
    assert found.shape == (7, 2)
    assert found[:, 0] == pytest.approx(1)
    assert len(set(found[:, 1])) > 1
    assert np.all((found[:, 1] >= 0) & (found[:, 1] <= n - 1))


def test_a_nan_stays_in_its_column() -> None:
    columns = np.array([[1.0, np.nan], [2.0, 1.0], [4.0, 1.0]])
    found = means(columns, seed=0, draws=5)
    assert not np.isnan(found[:, 0]).any()
    assert np.isnan(found[:, 1]).all()


def test_the_jackknife_by_hand() -> None:
    assert left_out(np.array([[1.0], [2.0], [6.0]]))[:, 0].tolist() == [4.0, 3.5, 1.5]


def test_all_signs_of_few_problems_are_scipys() -> None:
    values = np.array([0.3, -0.1, 0.25, 0.4, -0.05, 0.6])
    other = permutation_test(
        (values, np.zeros(6)),
        lambda x, y: np.mean(x - y),
        permutation_type="samples",
        n_resamples=np.inf,
    )
    assert sign_flip(values.tolist()).p == pytest.approx(other.pvalue)


def test_drawn_signs_come_near_scipys() -> None:
    values = RANDOM.normal(0.2, 1, 50)
    other = permutation_test(
        (values, np.zeros(50)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
        rng=np.random.default_rng(0),
    )
    assert sign_flip(values.tolist()).p == pytest.approx(other.pvalue, abs=0.02)


@pytest.mark.parametrize("n", [3, 8, 13])
def test_flipped_sums_are_of_all_values_each_with_a_sign(n: int) -> None:
    """Powers of 2: each pattern of signs has a sum of its own, and all of them come."""
    values = np.array([2.0**place for place in range(n)])
    found = flipped(values, seed=2, draws=200 * n)
    assert set(found) <= {2.0 * kept - (2**n - 1) for kept in range(2**n)}
    assert abs(found.mean()) < 0.2 * 2**n
    if n == 3:
        assert len(set(found)) == 8
