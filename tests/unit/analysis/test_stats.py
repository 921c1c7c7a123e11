"""Intervals and dominance."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.analysis.frames import tidy
from parley.analysis.stats import by_problem, interval, pareto
from shared_data import case, needs_shared


def test_interval_is_the_same_each_time_and_holds_the_mean() -> None:
    values = [0.0, 0.91, 0.5, 0.27, 1.0, 0.03, 0.72]
    first, second = interval(values, seed=3), interval(values, seed=3)
    assert first == second
    assert first.low < first.mean < first.high
    assert first != interval(values, seed=4)


def test_interval_matches_the_normal_approximation_on_many_problems() -> None:
    values = [float(i % 2) for i in range(400)]
    found = interval(values)
    half = 1.96 * 0.5 / math.sqrt(400)
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.5 - half, abs=0.01)
    assert found.high == pytest.approx(0.5 + half, abs=0.01)


def test_one_problem_has_no_interval() -> None:
    found = interval([0.4])
    assert found.mean == 0.4
    assert math.isnan(found.low)
    assert math.isnan(found.high)


@pytest.mark.parametrize("n", [2, 6, 50])
def test_values_that_are_alike_have_no_width(n: int) -> None:
    found = interval([1.0] * n)
    assert (found.mean, found.low, found.high, found.n) == (1.0, 1.0, 1.0, n)


def test_a_nan_is_never_left_out() -> None:
    assert math.isnan(interval([1.0, math.nan, 1.0]).mean)
    assert math.isnan(interval([]).mean)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_interval_is_ordered_and_within_the_values(values: list[float]) -> None:
    found = interval(values, resamples=99)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_samples_of_a_problem_are_averaged_first() -> None:
    rows = [("a", 1.0), ("a", 0.0), ("b", 1.0), ("a", 0.5)]
    frame = tidy([{"problem": problem, "f1": value} for problem, value in rows])
    assert by_problem(frame, "f1") == [0.5, 1.0]


@needs_shared
def test_an_error_stays_in_the_denominator() -> None:
    assert case("E15")["id"] == "E15"
    values = [("p1", 1.0), ("p1", 0.0), ("p1", 1.0), ("p1", 1.0), *[("p2", 0.0)] * 4]
    frame = tidy([{"problem": problem, "em": value} for problem, value in values])
    assert interval(by_problem(frame, "em")).mean == 0.375


def test_a_column_without_any_number_is_nan() -> None:
    frame = tidy([{"problem": "a", "f1": None}, {"problem": "b", "f1": None}])
    assert all(math.isnan(value) for value in by_problem(frame, "f1"))


def test_front_keeps_the_undominated() -> None:
    cost = [1.0, 2.0, 3.0, 3.0]
    score = [0.3, 0.6, 0.5, 0.9]
    assert pareto(cost, score) == [True, True, False, True]


def test_front_keeps_duplicates_and_drops_equal_scores_that_cost_more() -> None:
    assert pareto([1.0, 1.0, 2.0], [0.5, 0.5, 0.5]) == [True, True, False]


def test_nan_is_never_on_the_front_and_dominates_nothing() -> None:
    nan = math.nan
    assert pareto([nan, 1.0, 0.5], [0.9, nan, 0.1]) == [False, False, True]
    assert pareto([], []) == []


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9))
def test_every_arm_off_the_front_is_beaten_by_one_on_it(points: list[tuple[int, int]]) -> None:
    on_front = pareto([float(c) for c, _ in points], [float(s) for _, s in points])
    front = [point for point, kept in zip(points, on_front, strict=True) if kept]
    assert front
    for (cost, score), kept in zip(points, on_front, strict=True):
        beaten = any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in front)
        assert beaten is not kept
