"""Two agents with split evidence: who speaks, who hears what, who answers, and when it ends."""

from __future__ import annotations

import pytest

from core_cases import arm, completion, play, problem
from parley.benchmarks.aime import Aime
from parley.errors import ConfigError
from parley.strategies.artifact import Artifact
from parley.strategies.concise import Concise
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.strategies.summary import Summary
from parley.topologies.split_evidence import SEATS, SplitEvidence
from parley.types import Call, Message, Tokens, Turn

PAPER = SplitEvidence()
EARLY = SplitEvidence(turns=8, early_exit=True)


def turn(index: int, message: str | None, visible: str = "", finish: str = "stop") -> Turn:
    seat = SEATS[index % 2]
    output = completion(visible, finish=finish)
    call = Call(
        kind="speak",
        number=0,
        prompt=(),
        request_hash="",
        seed=0,
        thinking=True,
        max_tokens=1,
        reasoning="",
        visible=output.visible,
        finish=output.finish,
        usage=output.usage,
        tokens=Tokens(prompt={}),
    )
    return Turn(
        index=index,
        seat=seat.name,
        title=seat.title,
        round=index,
        hears=tuple(range(index)),
        answers=message is None,
        calls=(call,),
        message=None if message is None else Message(text=message),
    )


def spoken(*messages: str) -> tuple[Turn, ...]:
    return tuple(turn(index, text, text) for index, text in enumerate(messages))


def test_the_papers_four_turns() -> None:
    history: tuple[Turn, ...] = ()
    seen = []
    while cues := PAPER.next(history):
        (cue,) = cues
        seen.append((cue.seat.title, cue.round, cue.hears, cue.answers))
        history += (turn(len(history), None if cue.answers else "Answer: early"),)
    assert seen == [
        ("Agent A", 0, (), False),
        ("Agent B", 1, (0,), False),
        ("Agent A", 2, (0, 1), False),
        ("Agent B", 3, (0, 1, 2), True),
    ]
    assert PAPER.note == ""
    assert (PAPER.max_turns, EARLY.max_turns) == (4, 8)


def test_each_seat_sees_its_own_share() -> None:
    assert [seat.shares for seat in PAPER.seats] == [(0,), (1,)]
    assert len({seat.product for seat in PAPER.seats}) == 1, "the agents are symmetric"


def test_the_last_turn_answers() -> None:
    answer = PAPER.decide((*spoken("a", "b", "c"), turn(3, None, "Answer: Lyon")))
    assert (answer.text, answer.turn, answer.rule) == ("Answer: Lyon", 3, "last turn")
    assert not answer.truncated
    cut = PAPER.decide((*spoken("a", "b", "c"), turn(3, None, "", "length")))
    assert (cut.text, cut.truncated) == ("", True)


def test_a_closing_message_ends_the_exchange_from_the_second_turn_on() -> None:
    assert EARLY.next(spoken("Answer: Lyon")), "one agent alone cannot end it"
    closed = spoken("Answer: Paris", "It is there.\n**Answer:** Lyon")
    assert EARLY.next(closed) == ()
    answer = EARLY.decide(closed)
    assert (answer.text, answer.turn, answer.rule) == ("Answer: Lyon", 1, "closing message")
    assert EARLY.next(spoken("x", "The Answer: Lyon"))
    assert EARLY.next(spoken("x", "Answer:"))
    assert PAPER.next(closed), "without early exit all turns are played"


def test_the_rule_reads_the_message_not_the_raw_output() -> None:
    quiet = (turn(0, "a"), turn(1, "Fact: x", "Fact: x\nAnswer: Lyon"))
    (cue,) = EARLY.next(quiet)
    assert cue.seat.title == "Agent A"
    loud = (turn(0, "a"), turn(1, "Answer: Lyon", "nothing of the kind"))
    assert EARLY.next(loud) == ()


async def test_early_exit_in_an_episode() -> None:
    answers = ["Orr was written by Ann.", "Ann was born in Lyon.\nAnswer: Lyon"]
    for strategy in (Concise(), Full(), Conclusion()):
        episode, chat = await play(arm(strategy, topology=EARLY), answers)
        assert len(chat.requests) == len(episode.turns) == 2
        assert episode.answer is not None
        assert (episode.answer.text, episode.answer.rule) == ("Answer: Lyon", "closing message")
    facts = ["Fact: Ann wrote Orr.\nAnswer: Lyon"] * 7 + ["Answer: Lyon"]
    episode, _ = await play(arm(Artifact(), topology=EARLY), facts)
    assert len(episode.turns) == 8, "no closing line gets through"
    assert episode.answer is not None
    assert episode.answer.turn == 7


async def test_an_answer_weighed_in_published_reasoning_closes_nothing() -> None:
    first, weighed = "Orr was written by Ann.", "<think>\nAnswer: Paris?\n</think>\n"
    answers = [first, f"{weighed}Not sure yet.", f"{weighed}Answer: Lyon"]
    episode, _ = await play(arm(Full(), topology=EARLY), answers)
    assert episode.turns[1].message is not None
    assert "Answer: Paris?" in episode.turns[1].message.text
    assert episode.answer is not None
    assert (episode.answer.text, episode.answer.turn) == ("Answer: Lyon", 2)


def test_the_unfinished_line_of_a_cut_output_closes_nothing() -> None:
    for said in ("Answer: 70", "It is so.\nAnswer: 70", "Answer: St. Lo", "Answer:\n70"):
        assert EARLY.next((turn(0, "a"), turn(1, said, said, "length")))
    said = "Answer: 75\nBecause 70 pl"
    closed = (turn(0, "a"), turn(1, said, said, "length"))
    assert EARLY.next(closed) == ()
    answer = EARLY.decide(closed)
    assert (answer.text, answer.truncated) == ("Answer: 75", False), "that line is complete"


async def test_an_exchange_of_cut_answers_is_played_to_its_end_and_truncated() -> None:
    given_arm = arm(Conclusion(), topology=EARLY, benchmark=Aime(), max_tokens=2)
    question = problem(answers=("70",))
    episode, _ = await play(given_arm, ["Answer: 70 plus 5 is 75"] * 8, question=question)
    assert len(episode.turns) == 8
    assert episode.turns[1].message is not None
    assert episode.turns[1].message.text.startswith("Answer: 70")
    assert episode.score is not None
    assert (episode.score.extracted, episode.score.status) == (None, "truncated")


async def test_a_complete_message_made_of_a_cut_output_closes() -> None:
    cut = "Ann was born in Lyon, and so it goes on and on and on. " * 8
    given_arm = arm(Summary(by="call"), topology=EARLY, max_tokens=24)
    answers = [cut, "Ann wrote Orr.", cut, "She was born in Lyon.\nAnswer: Lyon"]
    episode, _ = await play(given_arm, answers)
    assert [call.finish for call in episode.turns[1].calls] == ["length", "stop"]
    assert episode.answer is not None
    assert (episode.answer.text, episode.answer.turn) == ("Answer: Lyon", 1)


@pytest.mark.parametrize("turns", [-2, 0, 1, 3, 7])
def test_other_numbers_of_turns_are_refused(turns: int) -> None:
    with pytest.raises(ConfigError, match="even number"):
        SplitEvidence(turns=turns)
