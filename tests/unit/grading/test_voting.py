"""Majorities: what is a vote, which votes are the same, and what decides a tie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_cases import arm, play
from parley.grading.answers import integer_answer, letter_answer, stated_answer
from parley.grading.voting import comparable, votes_of
from parley.strategies.full import Full
from parley.topologies.debate import Debate
from parley.topologies.self_consistency import SelfConsistency
from shared_data import case

AS_GRADED = (
    r"so \boxed{12} or \boxed{ 42 }.",
    r"\boxed{042}",
    r"\boxed{\text{42}}",
    r"\boxed{1{,}234}",
    r"$$\boxed{\mathbf{336^\circ}}$$",
    "The answer is 42.",
    "We add.\n\n**42**",
    "Answer: 7\nso \\boxed{42}",
    "\\boxed{42}\nAnswer: 7",
    "Correct answer: 42",
    r"nested \boxed{\text{a {b {c}}} 4}",
    "There are 12 of 73 things",
    r"\boxed{}",
    "",
)
LETTERS = (
    *("Answer: **C**", "Answer: $C$", "Answer: (C)", "**C**", "C.", "(c)", r"\boxed{\text{C}}"),
    *(
        r"\boxed{ \text{ C } }",
        r"Answer: so \boxed{C} it is",
        r"\boxed{B}, no: \boxed{\mathrm{C}.}",
    ),
    *("Answer: B\nso \\boxed{C}", "\\boxed{B}\nAnswer: C", "The correct option is (C)."),
    *("Answer: C\nBecause it shines", "Answer:\n```\nC\n```", "It is hard to say.", "Answer:"),
)


def vote(text: str, *, truncated: bool = False) -> str | None:
    stated = stated_answer(text, truncated=truncated)
    return None if stated is None else comparable(stated)


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("text", AS_GRADED)
def test_an_integer_is_voted_for_as_it_is_graded(text: str, truncated: bool) -> None:
    graded = integer_answer(text, truncated=truncated)
    if graded.value is not None or graded.status != "not_integer":
        assert vote(text, truncated=truncated) == graded.value


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("text", LETTERS)
def test_a_letter_is_voted_for_as_it_is_graded(text: str, truncated: bool) -> None:
    graded = letter_answer(text, ("iron", "ore", "gold", "none"), truncated=truncated).value
    assert vote(text, truncated=truncated) == (graded and graded.lower())


def test_a09_every_wrapper_is_the_same_vote() -> None:
    texts = [stated_answer(text) for text in case("A09")["input"]]
    assert votes_of([*texts, "C"]) == ["c"] * 11


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Answer: The Maple Ridge.", "maple ridge"),
        ("Answer: x\n**Final answer:** Maple  ridge", "maple ridge"),
        (r"Answer: \boxed{The \textbf{Maple} Ridge}", "maple ridge"),
        ("The answer is Maple Ridge.", "maple ridge"),
        ("It is Maple Ridge.", None),
        ("Answer: ...", None),
        ("Answer: A", "a"),
        ("Answer: 007", "7"),
        ("Answer: -5", "-5"),
        ("Answer: 12 March 1945", "12 march 1945"),
    ],
)
def test_what_is_a_vote(text: str, expected: str | None) -> None:
    assert vote(text) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1/2", "12", False),
        ("3.5", "35", False),
        ("1 2\n3 4", "1234", False),
        ("x + 1", "x+1", True),
        ("3, 5", "(3,5)", False),
        ("$x^2$", "x^2", True),
        ("x", "-x", False),
        (r"\frac{1}{2}", r"\frac{ 1 }{ 2 }", True),
        ("70,000", "70000", True),
        ('"Oak Falls"', "oak falls.", True),
    ],
)
def test_which_votes_are_the_same(one: str, other: str, same: bool) -> None:
    assert (comparable(one) == comparable(other)) == same


def test_a_letter_with_words_is_that_letter_where_it_is_an_option() -> None:
    assert votes_of(["C", "(C) gold", "C. gold", "**C**: gold", None]) == ["c"] * 4 + [None]
    assert votes_of(["C. Columbus", "C. Lewis"]) == ["c columbus", "c lewis"]


@given(st.text())
def test_every_text_is_a_vote_or_none(text: str) -> None:
    assert vote(text) != ""
    assert comparable(text) != ""


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


async def test_a_box_and_a_label_are_one_vote() -> None:
    votes = ("Answer: 7", r"\boxed{042}", "Answer: 42.")
    topology = SelfConsistency(votes=3)
    episode, _ = await play(arm(Full(), topology=topology), votes)
    assert episode.answer is not None
    assert (episode.answer.turn, episode.answer.rule) == (1, "majority vote")
