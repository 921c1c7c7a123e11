"""The topologies that are tables of cues: who speaks, hears and answers, in real episodes."""

from __future__ import annotations

from typing import Any

import pytest

from core_cases import THOUGHT, answered, arm, play, problem
from parley.errors import ConfigError
from parley.protocols import Topology
from parley.strategies.artifact import Artifact
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.topologies.chain_of_agents import ChainOfAgents
from parley.topologies.debate import Debate
from parley.topologies.pipeline import Pipeline
from parley.topologies.self_consistency import SelfConsistency
from parley.topologies.single import Single
from parley.topologies.split_evidence import SplitEvidence
from parley.types import Episode

BARE = problem(shares=())
FIRST, SECOND = "The Quiet Lantern was painted", "Clara Barlow was born in"
"""How the useful paragraph of each share begins."""
Shape = list[tuple[str, int, tuple[int, ...], bool]]


def shape(episode: Episode) -> Shape:
    return [(turn.title, turn.round, turn.hears, turn.answers) for turn in episode.turns]


def relay(*titles: str, last_only: bool = False) -> Shape:
    """Each hears all messages before its own, or the last; the last one answers."""
    hears = [tuple(range(n))[-1:] if last_only else tuple(range(n)) for n in range(len(titles))]
    last = len(titles) - 1
    return [(title, n, hears[n], n == last) for n, title in enumerate(titles)]


ROLES = ("Planner", "Critic", "Refiner", "Solver")
WORKERS = tuple(f"Worker {number}" for number in range(1, 5))
SHAPES: list[tuple[Topology, Shape]] = [
    (Pipeline(), relay(*ROLES)),
    (Single(), relay("Solver")),
    (SelfConsistency(votes=3), [("Solver", 0, (), True)] * 3),
    (ChainOfAgents(), relay(*WORKERS[:2], last_only=True)),
    (ChainOfAgents(workers=4), relay(*WORKERS, last_only=True)),
    (ChainOfAgents(manager=True), relay(*WORKERS[:2], "Manager", last_only=True)),
    (
        Debate(agents=2, rounds=2),
        [
            ("Debater 1", 0, (), False),
            ("Debater 2", 0, (), False),
            ("Debater 1", 1, (0, 1), False),
            ("Debater 2", 1, (0, 1), False),
            ("Debater 1", 2, (2, 3), True),
            ("Debater 2", 2, (2, 3), True),
        ],
    ),
    (
        SplitEvidence(authority="sender"),
        relay("Agent A", "Agent B", "Agent A", "Agent A"),
    ),
]


@pytest.mark.parametrize(("topology", "expected"), SHAPES, ids=lambda part: type(part).__name__)
@pytest.mark.parametrize("question", [problem(), BARE], ids=["evidence", "bare"])
async def test_who_speaks_who_hears_and_who_answers(
    topology: Topology, expected: Shape, question: Any
) -> None:
    episode, chat = await play(arm(Full(), topology=topology), answered, question=question)
    assert episode.failure is None
    assert shape(episode) == expected
    assert len(chat.requests) == topology.max_turns == len(expected)
    assert len({request.seed for request in chat.requests}) == len(expected)
    assert episode.score is not None
    assert episode.score.metrics["em"] == 1
    for turn, sent in zip(episode.turns, chat.sent, strict=True):
        prompt = sent[-1][1]
        assert prompt.count("Message from") == len(turn.hears)
        assert (turn.message is None) == turn.answers
        # Only who answers is told the format of the answer.
        assert ("shortest exact answer" in prompt) == turn.answers
        assert len(sent[0][1]) < 400
        assert "$" not in sent[0][1]


def evidence(sent: Any) -> tuple[bool, bool]:
    return FIRST in sent[-1][1], SECOND in sent[-1][1]


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        (Pipeline(), [(True, True)] * 4),
        (Single(), [(True, True)]),
        (SelfConsistency(votes=2), [(True, True)] * 2),
        (ChainOfAgents(manager=True), [(True, False), (False, True), (False, False)]),
        (Debate(rounds=0), [(True, True)] * 4),
        (Debate(rounds=0, evidence="split"), [(True, False), (False, True)] * 2),
        (SplitEvidence(), [(True, False), (False, True)] * 2),
        (
            SplitEvidence(receiver_evidence="all"),
            [(True, False), (False, True), (True, False), (True, True)],
        ),
        (
            SplitEvidence(authority="sender"),
            [(True, False), (False, True), (True, False), (True, False)],
        ),
    ],
)
async def test_who_sees_which_evidence(topology: Topology, expected: Any) -> None:
    outputs = ["Fact: nothing useful"] * (topology.max_turns - 1) + ["Answer: x"]
    episode, chat = await play(arm(Artifact(), topology=topology), outputs)
    assert episode.failure is None
    assert [evidence(sent) for sent in chat.sent] == expected


async def test_the_controls_of_the_last_turn_change_no_message() -> None:
    plain, sent = await play(arm(Full()), answered)
    for changed in (SplitEvidence(receiver_evidence="all"), SplitEvidence(authority="sender")):
        episode, chat = await play(arm(Full(), topology=changed), answered)
        assert chat.requests[:-1] == sent.requests[:-1]
        assert chat.requests[-1] != sent.requests[-1]
        assert [turn.message for turn in episode.turns] == [turn.message for turn in plain.turns]


async def test_a_roles_artifact_is_its_own_product() -> None:
    outputs = [
        f"{THOUGHT}Sure.\nPlan: find her",
        f"{THOUGHT}Critique: whom?",
        f"{THOUGHT}Plan: find the painter",
        f"{THOUGHT}Answer: Maple Ridge",
    ]
    episode, chat = await play(arm(Artifact(), topology=Pipeline()), outputs)
    said = [turn.message.text for turn in episode.turns if turn.message]
    assert said == ["find her", "whom?", "find the painter"]
    told = [sent[-1][1] for sent in chat.sent]
    assert all('"Plan:"' in told[turn] for turn in (0, 2))
    assert '"Critique:"' in told[1]
    assert "PRIVATE" not in "".join(told)


async def test_debaters_are_told_to_publish_an_answer_and_do() -> None:
    given = arm(Conclusion(), topology=Debate(agents=2, rounds=1))
    episode, chat = await play(given, [f"{THOUGHT}I say so.\nAnswer: {n}" for n in range(4)])
    for sent in chat.sent[:2]:
        assert 'starts with "Answer:" and gives your answer so far' in sent[-1][1]
    for sent in chat.sent[2:]:
        assert "Message from Debater 1:\nI say so.\nAnswer: 0\n" in sent[-1][1]
        assert "Message from Debater 2:\nI say so.\nAnswer: 1\n" in sent[-1][1]
        assert "so far" not in sent[-1][1]
        assert "PRIVATE" not in sent[-1][1]
    assert episode.answer is not None
    assert (episode.answer.text, episode.answer.turn) == ("I say so.\nAnswer: 2", 2)


async def test_the_first_vote_is_the_call_of_single() -> None:
    _, one = await play(arm(Full(), topology=Single()), answered)
    _, several = await play(arm(Full(), topology=SelfConsistency(votes=3)), answered)
    assert several.requests[0] == one.requests[0]
    assert {request.messages for request in several.requests} == {one.requests[0].messages}


@pytest.mark.parametrize(
    "make",
    [
        lambda: ChainOfAgents(workers=0),
        lambda: Debate(agents=1),
        lambda: Debate(rounds=-1),
        lambda: SelfConsistency(votes=0),
    ],
)
def test_impossible_numbers_are_refused(make: Any) -> None:
    with pytest.raises(ConfigError, match=r"topology\."):
        make()


async def test_there_are_no_worked_examples_for_them() -> None:
    for topology in (Pipeline(), Single(), SelfConsistency(), ChainOfAgents(), Debate()):
        episode, _ = await play(arm(Full(), topology=topology, shots=1), answered)
        assert episode.failure is not None
        assert "shots=1" in episode.failure.message
