"""Majorities: what is a vote, which votes are the same, and what decides a tie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_cases import Tiny, arm, play, problem
from parley.benchmarks.aime import Aime
from parley.benchmarks.gpqa import GpqaDiamond
from parley.benchmarks.hotpotqa import HotpotQA
from parley.benchmarks.openbookqa import OpenBookQA
from parley.grading.voting import comparable, vote
from parley.protocols import Benchmark, Topology
from parley.strategies.full import Full
from parley.topologies.debate import Debate
from parley.topologies.self_consistency import SelfConsistency
from parley.types import Problem

OPTIONS = ("iron", "iron ore", "gold", "none of these")
LETTERS = (
    *(
        "Answer: **C**",
        "Answer: $C$",
        "(C) gold",
        "C. gold",
        "Option C",
        "gold",
        "Long.\n\nC: gold",
    ),
    *("The correct option is (C).", "\\boxed{\\text{C}}", "\\boxed{B}\nAnswer: C", "Answer: gold"),
    *("Answer: A", "Answer: iron ore", "D.", "\\boxed{B}", "Answer: B or C", "It is hard to say."),
    *("iron or gold", "Answer:", "C. elegans is a worm", ""),
)
INTEGERS = (
    *(
        "so \\boxed{12} or \\boxed{ 42 }.",
        "\\boxed{042}",
        "Answer: 42.",
        "**42**",
        "Answer: 12, 42",
    ),
    *("The answer is 42.", "\\boxed{1{,}234}", "There are 12 of 73 things", "\\boxed{}", ""),
)
LINES = (
    *(
        "Answer: The Maple Ridge.",
        "Long.\n\nmaple ridge",
        "Maple Ridge",
        "**Final answer:** Oak Falls",
    ),
    *("Oak Falls", "So it is Oak Falls.", "Answer:", "...", ""),
)
KINDS: tuple[tuple[Benchmark, Problem, tuple[str, ...]], ...] = (
    (OpenBookQA(), problem(answers=("C",), options=OPTIONS), LETTERS),
    (GpqaDiamond(), problem(answers=("C",), options=OPTIONS), LETTERS),
    (Aime(), problem(answers=("42",)), INTEGERS),
    (HotpotQA(), problem(), LINES),
)


@pytest.mark.parametrize(
    ("extracted", "expected"),
    [
        ("The Maple Ridge.", "maple ridge"),
        ("Maple  ridge", "maple ridge"),
        (r"The \textbf{Maple} Ridge", "maple ridge"),
        ("The answer is Maple Ridge.", "maple ridge"),
        ("...", None),
        ("A", "a"),
        ("C", "c"),
        ("007", "7"),
        ("-5", "-5"),
        ("12 March 1945", "12 march 1945"),
        ("", None),
        (None, None),
    ],
)
def test_what_is_a_vote(extracted: str | None, expected: str | None) -> None:
    assert vote(extracted) == expected


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
        ("Choice Hotels", "Hotels", False),
        ("Option Care Health", "Care Health", False),
    ],
)
def test_which_votes_are_the_same(one: str, other: str, same: bool) -> None:
    assert (comparable(one) == comparable(other)) == same


@given(st.text())
def test_every_text_is_a_vote_or_none(text: str) -> None:
    assert vote(text) != ""


@given(st.data())
async def test_a_vote_is_what_the_grader_reads(data: st.DataObject) -> None:
    """Whatever the debaters say: of the answers that the benchmark extracts, the first of the most
    frequent; and it is graded as if it had been given alone."""
    benchmark, question, texts = data.draw(st.sampled_from(KINDS))
    said = data.draw(st.lists(st.sampled_from(texts), min_size=1, max_size=5))
    given_arm = arm(Full(), benchmark=benchmark, topology=SelfConsistency(votes=len(said)))
    episode, _ = await play(given_arm, said, question=question)
    grades = [benchmark.grade(question, text.strip()) for text in said]
    assert [turn.extracted for turn in episode.turns] == [grade.extracted for grade in grades]
    votes = [vote(grade.extracted) for grade in grades]
    cast = [one for one in votes if one is not None]
    first = next(
        (votes.index(one) for one in cast if cast.count(one) == max(map(cast.count, cast))), 0
    )
    assert episode.answer is not None
    assert (episode.answer.turn, episode.score) == (first, grades[first])


@pytest.mark.parametrize("topology", [SelfConsistency(votes=4), Debate(agents=4, rounds=0)])
async def test_a_bare_option_outvotes_a_retracted_one(topology: Topology) -> None:
    said = ("A is the best option.\n\nI am not sure.", "C. gold", "Option C", "gold")
    given_arm = arm(Full(), benchmark=OpenBookQA(), topology=topology)
    question = problem(answers=("C",), options=OPTIONS)
    episode, _ = await play(given_arm, said, question=question)
    assert [turn.extracted for turn in episode.turns] == [None, "C", "C", "C"]
    assert episode.answer is not None
    assert (episode.answer.turn, episode.answer.rule) == (1, "majority vote")
    assert episode.score is not None
    assert episode.score.metrics == {"accuracy": 1}


async def test_only_turns_that_answer_are_read() -> None:
    answers = ["Answer: Oak Falls"] * 3 + ["Answer: Maple Ridge"]
    benchmark = Tiny()
    episode, _ = await play(arm(Full(), benchmark=benchmark), answers)
    assert [turn.extracted for turn in episode.turns] == [None, None, None, "Maple Ridge"]
    assert len(benchmark.threads) == 1, "what was read is not graded again"


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
    ridge = "Answer: Maple Ridge"
    assert await decided("Answer:", "...", ridge) == (2, "majority vote", 1)
    assert await decided("Answer:", "...") == (0, "no vote: first turn", 0)
    assert await decided("Maple Ridge", "Oak Falls", "Oak Falls") == (1, "majority vote", 0)


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
    given_arm = arm(Full(), topology=topology, benchmark=Aime())
    episode, _ = await play(given_arm, votes, question=problem(answers=("42",)))
    assert episode.answer is not None
    assert (episode.answer.turn, episode.answer.rule) == (1, "majority vote")
