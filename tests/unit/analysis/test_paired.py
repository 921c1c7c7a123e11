"""Paired comparisons against values computed by hand, by other routes, and by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, ttest_rel

from parley.analysis.paired import MCNEMAR, compare, detectable, mcnemar, saving, sign_flip
from parley.analysis.stats import holm, interval, lone, ratio_interval, wilson

SCORES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.3, 0.5, 1.0])),
    min_size=2,
    max_size=9,
)


def test_mcnemar_is_a_binomial_test_of_the_discordant() -> None:
    first = [1.0] * 8 + [0.0] * 2 + [1.0] * 5
    second = [0.0] * 8 + [1.0] * 2 + [1.0] * 5
    found = compare(first, second, single=True)
    assert found.test.name == MCNEMAR
    assert found.test.p == pytest.approx(0.109375)  # 2 * (1 + 10 + 45) / 2^10
    assert found.test.p == pytest.approx(binomtest(2, 10).pvalue)
    assert (found.wins, found.ties, found.losses) == (8, 5, 2)
    assert found.odds_ratio == 4.0


def test_sign_flips_tried_by_hand() -> None:
    differences = [0.3, -0.1, 0.2, 0.0, 0.4]
    moved = [d for d in differences if d]
    totals = [
        sum(s * d for s, d in zip(signs, moved, strict=True))
        for signs in itertools.product((1, -1), repeat=4)
    ]
    expected = sum(abs(t) >= abs(sum(moved)) - 1e-12 for t in totals) / 16
    found = sign_flip(differences)
    assert found.p == pytest.approx(expected)
    assert found.name == "sign flips, exact"


def test_sign_flips_of_0_and_1_are_mcnemar() -> None:
    first, second = [1.0] * 7 + [0.0] * 3, [0.0] * 7 + [1.0] * 2 + [0.0]
    flipped = sign_flip([a - b for a, b in zip(first, second, strict=True)])
    assert flipped.p == pytest.approx(mcnemar(first, second).p)


def test_drawn_sign_flips_come_near_the_t_test_on_many_problems() -> None:
    random = np.random.default_rng(5)
    first = random.normal(0.1, 1, 80)
    second = np.zeros(80)
    found = sign_flip([float(d) for d in first])
    assert "drawn" in found.name
    assert found.p == pytest.approx(float(ttest_rel(first, second).pvalue), abs=0.02)
    assert found == sign_flip([float(d) for d in first])


def test_several_samples_are_not_mcnemars() -> None:
    assert compare([1.0, 0.0, 1.0], [0.0, 0.0, 0.0], single=False).test.name.startswith("sign")


@pytest.mark.parametrize(("first", "p"), [([1.0], 1.0), ([0.5], 1.0), ([], math.nan)])
def test_one_problem_and_none_prove_nothing(first: list[float], p: float) -> None:
    found = compare(first, [0.0] * len(first), single=True)
    assert found.test.p == pytest.approx(p, nan_ok=True)
    assert math.isnan(found.detectable)
    assert math.isnan(found.difference.low)


def test_a_nan_is_never_left_out() -> None:
    found = compare([1.0, math.nan, 0.0], [0.0, 0.0, 1.0], single=True)
    assert math.isnan(found.difference.mean)
    assert math.isnan(found.test.p)
    assert math.isnan(found.first)


def test_arms_that_never_differ() -> None:
    found = compare([1.0, 0.0, 1.0], [1.0, 0.0, 1.0], single=True)
    assert found.test.p == 1.0
    assert (found.difference.mean, found.difference.method) == (0.0, "alike")
    assert math.isnan(found.d_z)
    assert math.isnan(found.odds_ratio)
    assert math.isnan(found.detectable)


def test_detectable_difference_is_the_textbooks_on_many_problems() -> None:
    values = [1.0, -1.0] * 500
    expected = (norm.ppf(0.975) + norm.ppf(0.8)) / math.sqrt(1000)
    assert detectable(values) == pytest.approx(expected, rel=0.01)
    assert detectable(values, alpha=0.01) > detectable(values)
    assert detectable(values * 4) == pytest.approx(detectable(values) / 2, rel=0.01)


@pytest.mark.parametrize(("n", "comparisons"), [(2, 2), (3, 20), (5, 40), (6, 20)])
def test_few_problems_and_many_comparisons_have_the_power_that_is_claimed(
    n: int, comparisons: int
) -> None:
    """By drawing studies: the noncentral t of the libraries has no value out there."""
    random = np.random.default_rng(n)
    alpha = 0.05 / comparisons
    values = [float(value) for value in random.normal(size=n)]
    size = detectable(values, alpha=alpha) / float(np.std(values, ddof=1))
    drawn = random.normal(size, 1, (20_000, n))
    assert np.mean(ttest_rel(drawn, 0 * drawn, axis=1).pvalue < alpha) == pytest.approx(
        0.8, abs=0.015
    )


@pytest.mark.slow
def test_a_detectable_difference_is_found_four_times_in_five() -> None:
    random = np.random.default_rng(1)
    noise = random.normal(0, 0.3, (400, 40))
    effect = 0.3 * detectable([float(v) for v in noise[0] / noise[0].std(ddof=1)])
    found = [sign_flip([float(v) for v in row + effect], resamples=999).p < 0.05 for row in noise]
    assert 0.72 < float(np.mean(found)) < 0.88


@pytest.mark.slow
def test_intervals_hold_the_true_difference_as_often_as_they_say() -> None:
    """Ability is uniform, the second arm 0.1 less able: the mean of min(ability, 0.1) is 0.095."""
    random = np.random.default_rng(2)
    held = []
    for _ in range(300):
        ability = random.random(60)
        first = (random.random(60) < ability).astype(float)
        second = (random.random(60) < np.clip(ability - 0.1, 0, 1)).astype(float)
        found = interval([float(d) for d in first - second], resamples=999)
        held.append(found.low <= 0.095 <= found.high)
    assert 0.90 <= float(np.mean(held)) <= 0.99


@settings(deadline=None, max_examples=40)
@given(SCORES)
def test_a_comparison_the_other_way_round_has_the_other_sign(
    pairs: list[tuple[float, float]],
) -> None:
    first, second = [list(side) for side in zip(*pairs, strict=True)]
    one, two = compare(first, second, single=True), compare(second, first, single=True)
    assert one.difference.mean == pytest.approx(-two.difference.mean)
    assert one.test.p == pytest.approx(two.test.p)
    assert (one.wins, one.ties, one.losses) == (two.losses, two.ties, two.wins)
    assert one.d_z == pytest.approx(-two.d_z, nan_ok=True)
    assert one.detectable == pytest.approx(two.detectable, nan_ok=True)
    assert one.difference.low == pytest.approx(-two.difference.high, abs=0.05)
    assert 0 <= one.test.p <= 1
    assert one.wins + one.ties + one.losses == one.n == len(pairs)


def test_savings_by_hand() -> None:
    """A long problem that saves nothing weighs in the whole bill only."""
    found = saving([50.0, 1000.0], [100.0, 1000.0])
    assert found.ratio_of_means.mean == pytest.approx(1 - 1050 / 1100)
    assert found.mean_of_ratios.mean == pytest.approx(0.25)
    assert found.undefined == 0


def test_a_saving_the_same_everywhere_has_no_width() -> None:
    found = saving([50.0, 500.0, 5.0], [100.0, 1000.0, 10.0])
    for each in (found.ratio_of_means, found.mean_of_ratios):
        assert (each.mean, each.low, each.high) == pytest.approx((0.5, 0.5, 0.5))


def test_a_free_problem_has_no_ratio_but_counts_in_the_bill() -> None:
    found = saving([10.0, 10.0, 30.0], [0.0, 20.0, 40.0])
    assert found.undefined == 1
    assert found.mean_of_ratios.n == 2
    assert found.ratio_of_means.mean == pytest.approx(1 - 50 / 60)
    assert math.isnan(saving([1.0, 2.0], [0.0, 0.0]).ratio_of_means.mean)


def test_the_interval_of_a_ratio_is_fiellers_on_many_problems() -> None:
    random = np.random.default_rng(3)
    below = random.normal(1000, 200, 400)
    above = 0.6 * below + random.normal(0, 50, 400)
    found = ratio_interval([float(v) for v in above], [float(v) for v in below])
    residual = above - found.mean * below
    half = 1.96 * float(np.std(residual, ddof=1)) / math.sqrt(400) / float(np.mean(below))
    assert found.method == "BCa"
    assert found.low == pytest.approx(found.mean - half, abs=0.001)
    assert found.high == pytest.approx(found.mean + half, abs=0.001)


def test_wilson_by_the_formula() -> None:
    found = wilson([1.0] * 8 + [0.0] * 2)
    z, n, p = float(norm.ppf(0.975)), 10, 0.8
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half))
    assert found.method == "Wilson"
    assert wilson([0.0] * 12).high == pytest.approx(z * z / (12 + z * z))
    assert math.isnan(wilson([]).mean)
    with pytest.raises(ValueError, match="0 or 1"):
        wilson([0.5])


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    corrected = holm([0.01, math.nan, 0.04])
    assert corrected[0] == pytest.approx(0.02)
    assert math.isnan(corrected[1])
    assert holm([]) == []


@settings(deadline=None, max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_never_helps(values: list[float]) -> None:
    corrected = holm(values)
    assert all(new >= old - 1e-12 and new <= 1 for new, old in zip(corrected, values, strict=True))
    pairs = sorted(zip(values, corrected, strict=True))
    assert all(a[1] <= b[1] + 1e-12 for a, b in itertools.pairwise(pairs))
    assert min(corrected) == pytest.approx(min(1.0, len(values) * min(values)))


def test_a_lone_accuracy_has_wilsons_interval_and_other_scores_the_bootstraps() -> None:
    values = [1.0] * 8 + [0.0] * 2
    assert lone(values, "em", single=True) == wilson(values)
    assert lone(values, "em", single=False) == interval(values)
    assert lone(values, "f1", single=True) == interval(values)
    assert lone([0.5, *values], "em", single=True).method == "BCa"
    assert math.isnan(lone([1.0], "em", single=True).low)
