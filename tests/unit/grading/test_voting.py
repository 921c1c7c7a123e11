"""Majorities: what is a vote, which votes are the same, and what decides a tie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_cases import arm, play
from parley.grading.voting import vote_of
from parley.strategies.full import Full
from parley.topologies.debate import Debate
from parley.topologies.self_consistency import SelfConsistency


@pytest.mark.parametrize(
    ("text", "vote"),
    [
        ("Answer: The Maple Ridge.", "maple ridge"),
        ("Answer: x\n**Final answer:** Maple  ridge", "maple ridge"),
        ("It is Maple Ridge.", None),
        ("Answer:", None),
        ("Answer: ...", None),
        ("Answer: A", "a"),
        ("Answer: (A)", "a"),
        (r"so \boxed{12} or \boxed{ 42 }.", "42"),
        (r"Answer: \boxed{\text{B}}", "textb"),
        (r"Answer: $\boxed{42}$", "42"),
        ("", None),
    ],
)
def test_what_is_a_vote(text: str, vote: str | None) -> None:
    assert vote_of(text) == vote


@given(st.text())
def test_every_text_is_a_vote_or_none(text: str) -> None:
    assert vote_of(text) != ""


async def decided(*answers: str) -> tuple[int, str, float]:
    topology = SelfConsistency(votes=len(answers))
    episode, _ = await play(arm(Full(), topology=topology), answers)
    assert episode.answer is not None
    assert episode.score is not None
    return episode.answer.turn, episode.answer.rule, episode.score.metrics["em"]


async def test_the_majority_wins_after_normalisation() -> None:
    votes = ("Answer: Oak Falls", "Answer: maple ridge", "Answer: the Maple Ridge!")
    assert await decided(*votes) == (1, "majority vote", 1)


async def test_of_equals_the_earliest_wins() -> None:
    a, b = "Answer: Oak Falls", "Answer: Maple Ridge"
    assert await decided(a, b) == (0, "tied vote: earliest", 0)
    assert await decided(b, a, a, b) == (0, "tied vote: earliest", 1)
    assert await decided("Answer: Lyon", b, a, a, b) == (1, "tied vote: earliest", 1)


async def test_who_gives_no_answer_has_no_vote() -> None:
    assert await decided("I cannot tell.", "no idea", "Answer: Maple Ridge") == (
        2,
        "majority vote",
        1,
    )
    assert await decided("Maple Ridge", "Oak Falls", "Oak Falls") == (0, "no vote: first turn", 1)


async def test_a_debate_counts_its_last_round_only() -> None:
    votes = ["Answer: Oak Falls"] * 6 + ["Answer: Oak Falls", "Answer: Maple Ridge"]
    votes[7:] = ["Answer: Maple Ridge", "Answer: maple ridge"]
    given_arm = arm(Full(), topology=Debate(agents=3, rounds=2))
    episode, _ = await play(given_arm, votes)
    assert episode.answer is not None
    assert (episode.answer.turn, episode.answer.rule) == (7, "majority vote")
    assert episode.score is not None
    assert episode.score.metrics["em"] == 1
