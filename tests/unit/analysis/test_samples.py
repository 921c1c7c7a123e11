from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.analysis.samples import average_at_k, majority_at_k, pass_at_k
from shared_data import case

ANSWERS = st.lists(st.sampled_from(["1", "2", "3", None]), min_size=1, max_size=7)


def test_a_missing_sample_counts_against_the_arm_and_is_counted() -> None:
    assert case("E15")["input"].startswith("p1: 1, error, 1, 1; p2: 0, 0, 0, 0; k=4")
    found = average_at_k({"p1": [1, None, 1, 1], "p2": [0, 0, 0, 0]}, 4)
    assert found.mean == 3 / 8
    assert found.completed_mean == 3 / 7
    assert (found.attempted, found.missing, found.incomplete) == (8, 1, ("p1",))


def test_samples_that_were_never_made_are_missing_too() -> None:
    assert average_at_k({"p": [1.0]}, 8).mean == 1 / 8
    assert average_at_k({"p": [1.0]}, 8).missing == 7
    assert average_at_k({"p": [1.0, 0.0, 0.0]}, 1).mean == 1
    assert math.isnan(average_at_k({}, 8).mean)
    assert math.isnan(average_at_k({"p": [None]}, 1).completed_mean)


def test_a_nan_is_never_skipped() -> None:
    assert math.isnan(average_at_k({"p": [1.0, math.nan]}, 2).mean)
    assert math.isnan(majority_at_k(["1", "2"], [1.0, math.nan], 2))


@given(st.integers(1, 9), st.data())
def test_pass_at_k_is_the_share_of_draws_with_a_correct_sample(n: int, data: st.DataObject) -> None:
    correct, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    drawn = list(combinations([1] * correct + [0] * (n - correct), k))
    assert pass_at_k(n, correct, k) == pytest.approx(sum(map(max, drawn)) / len(drawn))


def test_pass_at_k_at_its_ends() -> None:
    assert pass_at_k(8, 0, 8) == 0
    assert pass_at_k(8, 1, 8) == 1
    assert pass_at_k(8, 3, 1) == pytest.approx(3 / 8)
    assert pass_at_k(10**6, 1, 10**5) == pytest.approx(0.1)
    assert math.isnan(pass_at_k(4, 4, 8))
    for wrong in ((4, 5, 1), (4, -1, 1), (4, 1, 0)):
        with pytest.raises(ValueError, match=r"correct samples of 4|k=0"):
            pass_at_k(*wrong)


@given(ANSWERS, st.data())
def test_majority_at_k_is_the_mean_over_all_draws(
    answers: list[str | None], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(answers)))
    scores = [float(answer == "1") for answer in answers]
    values = []
    for drawn in combinations(answers, k):
        votes = [answer for answer in drawn if answer is not None]
        most = max(map(votes.count, votes), default=0)
        tied = {answer for answer in votes if votes.count(answer) == most}
        values.append(float("1" in tied) / len(tied) if tied else 0.0)
    assert majority_at_k(answers, scores, k) == pytest.approx(sum(values) / len(values))


def test_majority_of_one_is_the_average_and_fewer_samples_tell_nothing() -> None:
    answers, scores = ["1", "2", None, "1"], [1.0, 0.0, 0.0, 1.0]
    assert majority_at_k(answers, scores, 1) == average_at_k({"p": scores}, 4).mean
    assert majority_at_k(answers, scores, 4) == 1
    assert math.isnan(majority_at_k(answers, scores, 5))
    assert majority_at_k([None, None], [None, None], 2) == 0
    with pytest.raises(ValueError, match="4 answers but 1"):
        majority_at_k(answers, [1.0], 1)


def test_many_samples_are_quick() -> None:
    answers = [str(number % 40) for number in range(64)]
    scores = [float(answer == "1") for answer in answers]
    assert 0 < majority_at_k(answers, scores, 16) < 1
