"""The frontier's uncertainty: chances, hypervolume, and what to use at a budget."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parley.analysis.fronts import (
    best_at,
    budgets,
    chances,
    comparable,
    draw,
    hypervolume,
    reference,
)
from parley.analysis.stats import pareto

ROW = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=4, max_size=4)


def test_hypervolume_by_hand() -> None:
    """Reference: cost 1.1 * 200 = 220, score 0. Steps: 0.4 from 100 to 200, 0.8 from there on."""
    drawn = draw([[0.4, 0.4], [0.8, 0.8], [0.3, 0.3]], [[100.0] * 2, [200.0] * 2, [150.0] * 2])
    assert reference(drawn) == pytest.approx((220.0, 0.0))
    found = hypervolume(drawn)
    assert found.mean == pytest.approx((100 * 0.4 + 20 * 0.8) / 220)
    assert (found.low, found.high) == pytest.approx((found.mean, found.mean))


def test_an_arm_that_is_always_better_is_on_the_front_and_others_never() -> None:
    score = [[1.0, 1.0, 0.5], [0.5, 0.0, 0.0]]
    cost = [[10.0, 20.0, 10.0], [20.0, 30.0, 30.0]]
    assert chances(draw(score, cost)) == [1.0, 0.0]


def test_equal_arms_share() -> None:
    drawn = draw([[0.1, 0.7, 0.3]] * 2, [[1.0, 2.0, 4.0]] * 2)
    assert chances(drawn) == [1.0, 1.0]
    best = best_at(drawn, 10)
    assert best.chance == pytest.approx((0.5, 0.5))
    assert best.chosen == 0


def test_problems_are_drawn_together() -> None:
    """The better arm is better on each problem, though both vary much more than they differ."""
    hard = np.random.default_rng(0).random(30)
    drawn = draw([list(hard), list(hard + 0.01)], [[1.0] * 30, [1.0] * 30])
    assert chances(drawn) == [0.0, 1.0]


def test_an_arm_with_a_missing_value_has_no_point() -> None:
    drawn = draw([[0.5, math.nan], [0.2, 0.4]], [[1.0, 1.0], [2.0, 2.0]])
    found = chances(drawn)
    assert math.isnan(found[0])
    assert found[1] == 1.0
    assert math.isnan(drawn.score[0])
    assert best_at(drawn, 5).chance == (0.0, 1.0)
    assert not math.isnan(hypervolume(drawn).mean)


def test_a_budget_no_arm_fits() -> None:
    drawn = draw([[0.5, 0.6]], [[100.0, 120.0]])
    best = best_at(drawn, 50)
    assert best.chosen is None
    assert best.chance == (0.0,)


def test_a_budget_leaves_out_what_is_dearer() -> None:
    drawn = draw([[0.2, 0.3], [0.9, 0.8]], [[100.0, 100.0], [300.0, 300.0]])
    assert best_at(drawn, 200).chosen == 0
    assert best_at(drawn, 300).chosen == 1
    assert best_at(drawn, 300).chance == (0.0, 1.0)
    assert budgets(drawn) == [100.0, 170.0, 240.0, 300.0]


def test_one_problem_has_no_chances() -> None:
    drawn = draw([[0.5]], [[10.0]])
    assert math.isnan(chances(drawn)[0])
    assert math.isnan(hypervolume(drawn).low)
    assert best_at(drawn, 20).chosen == 0
    assert math.isnan(best_at(drawn, 20).chance[0])


def test_no_problem_in_common() -> None:
    drawn = draw([[], []], [[], []])
    assert all(map(math.isnan, chances(drawn)))
    assert best_at(drawn, 20).chosen is None
    assert math.isnan(hypervolume(drawn).mean)
    assert budgets(drawn) == []


def test_small_prices_keep_their_differences() -> None:
    drawn = draw([[0.5, 0.5], [0.5, 0.5]], [[1e-11, 1e-11], [2e-11, 2e-11]])
    assert chances(drawn) == [1.0, 0.0]


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(ROW, ROW), min_size=1, max_size=4))
def test_some_arm_is_on_every_front(arms: list[tuple[list[float], list[float]]]) -> None:
    scores = [score for score, _ in arms]
    costs = [[1 + value for value in cost] for _, cost in arms]
    drawn = draw(scores, costs, draws=64)
    found = chances(drawn)
    assert sum(found) >= 1 - 1e-9
    assert sum(best_at(drawn, 99).chance) == pytest.approx(1)
    first = pareto([float(c) for c in drawn.costs[0]], [float(s) for s in drawn.scores[0]])
    assert any(first)
    assert all(chance > 0 for chance, on in zip(found, first, strict=True) if on)
    volume = hypervolume(drawn)
    assert 0 <= volume.mean <= 1


@pytest.mark.parametrize(
    ("held", "kept"),
    [
        (["abcd", "abcd", "a"], [0, 1]),  # barely begun
        (["wxyz", "abcd", "abcd"], [1, 2]),  # of other problems
        (["abcd", "abc", "abc"], [0, 1, 2]),
        (["abcd", "a"], [0, 1]),  # two arms are compared on what they share
        (["ab", "cd"], [0, 1]),
        (["ab"], [0]),
        ([], []),
    ],
)
def test_arms_are_drawn_together_that_share_enough(held: list[str], kept: list[int]) -> None:
    assert comparable([frozenset(problems) for problems in held]) == kept
