"""The loop: what ends an episode, what is kept of it, and that nothing depends on arrival."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from core_cases import ANSWER, Recorder, Table, Tiny, answered, arm, calls, chat, play, problem
from parley.calls import Run
from parley.episode import run_episode
from parley.errors import ContextOverflow, RequestRefused, TransportError
from parley.ledger import check
from parley.strategies.concise import Concise
from parley.strategies.full import Full
from parley.strategies.summary import Summary
from parley.topologies.split_evidence import SplitEvidence
from parley.types import (
    Answer,
    Ask,
    Completion,
    Cue,
    Demo,
    Draft,
    Episode,
    Message,
    Request,
    Turn,
)

THINKS = "<think>\nI see it.\n</think>\n\nAnn wrote it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Asks `asks` times before its message, which is the last output."""

    thinks: ClassVar[bool] = False
    answer_thinks: ClassVar[bool] = False
    schema: ClassVar[None] = None

    asks: int
    max_asks: int = 2
    thinking: bool = False

    def instruct(self, cue: Cue) -> str:
        return "Speak."

    def project(self, draft: Draft) -> Message | Ask:
        if len(draft.outputs) <= self.asks:
            return Ask(kind="repair", text="Again.", thinking=self.thinking)
        return Message(text=draft.outputs[-1].visible)

    def example(self, demo: Demo, cue: Cue) -> str:
        return demo.fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulty(SplitEvidence):
    """Two agents whose topology breaks, before the second turn or at the decision."""

    where: str = "next"

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        if self.where == "next" and history:
            raise KeyError("no such seat")
        return SplitEvidence.next(self, history)

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        raise ZeroDivisionError("no votes")


def failing(error: Exception, at: int) -> Any:
    """A script whose call number `at`, from 0, fails."""
    made: list[Request] = []

    def script(request: Request) -> str:
        made.append(request)
        if len(made) == at + 1:
            raise error
        return THINKS

    return script


async def test_an_episode_goes_well() -> None:
    episode, talked = await play(arm(Full()), [THINKS, THINKS, THINKS, ANSWER])
    assert episode.failure is None
    assert episode.score is not None
    assert episode.score.metrics["em"] == 1.0
    assert episode.answer == Answer(text=ANSWER, turn=3, rule="last turn")
    assert [turn.message is None for turn in episode.turns] == [False, False, False, True]
    assert [request.thinking for request in talked.requests] == [True] * 4
    for call in calls(episode):
        assert check(call.tokens, call.usage)
        assert not call.tokens.estimated
    answer = episode.turns[3].calls[0].tokens
    assert (answer.published, answer.discarded) == (0, 0)
    assert answer.answer == 3


@pytest.mark.parametrize(
    ("error", "repeat"),
    [
        (ContextOverflow("too long"), False),
        (TransportError("reset"), True),
        (RequestRefused("bad"), True),
        (ValueError("a mistake"), True),
    ],
)
@pytest.mark.parametrize("at", [0, 2])
async def test_an_error_is_a_row_and_finished_turns_are_kept(
    error: Exception, repeat: bool, at: int
) -> None:
    episode, talked = await play(arm(Concise()), failing(error, at))
    assert episode.failure is not None
    assert (episode.failure.error, episode.failure.repeat) == (type(error).__name__, repeat)
    assert episode.failure.message == str(error)
    assert (episode.answer, episode.score) == (None, None)
    assert len(episode.turns) == at
    assert len(talked.requests) == at + 1
    assert all(turn.calls[0].usage.completion for turn in episode.turns)


@pytest.mark.parametrize(("where", "turns"), [("next", 1), ("decide", 4)])
async def test_a_topologys_mistake_is_a_row(where: str, turns: int) -> None:
    episode, _ = await play(arm(Concise(), topology=Faulty(where=where)), answered)
    assert episode.failure is not None
    assert episode.failure.error == ("KeyError" if where == "next" else "ZeroDivisionError")
    assert episode.failure.repeat
    assert len(episode.turns) == turns


async def test_a_graders_mistake_is_a_row() -> None:
    given = arm(Concise(), benchmark=Tiny(error=RuntimeError("no grade")))
    episode, _ = await play(given, answered)
    assert episode.failure is not None
    assert (episode.failure.error, episode.score) == ("RuntimeError", None)
    assert len(episode.turns) == 4


async def test_grading_runs_off_the_loop() -> None:
    tiny = Tiny()
    await play(arm(Concise(), benchmark=tiny), answered)
    assert len(tiny.threads) == 1
    assert tiny.threads != [threading.get_ident()]


async def test_asks_are_calls_of_the_same_turn() -> None:
    given = arm(Asking(asks=2), topology=SplitEvidence(turns=2))
    episode, talked = await play(given, ["First.", "Second.", "Third.", ANSWER])
    first = episode.turns[0]
    assert [(call.kind, call.number) for call in first.calls] == [
        ("speak", 0),
        ("repair", 1),
        ("repair", 2),
    ]
    assert first.message == Message(text="Third.")
    assert len({call.seed for call in calls(episode)}) == 4
    second, third = talked.sent[1][-1][1], talked.sent[2][-1][1]
    assert second.endswith("Your draft:\nFirst.\nAgain.\n")
    assert third.endswith("Your draft:\nFirst.\nSecond.\nAgain.\n")
    assert "Speak." not in second
    assert [turn for turn, _ in first.calls[1].tokens.reread] == [0]


async def test_past_the_last_ask_the_message_is_rejected() -> None:
    given = arm(Asking(asks=9, max_asks=1), topology=SplitEvidence(turns=2))
    episode, talked = await play(given, ["First.", "Second.", ANSWER])
    assert episode.turns[0].message == Message(text="", status="rejected")
    assert len(episode.turns[0].calls) == 2
    assert "Message from Agent A:\n(empty)\n" in talked.sent[2][-1][1]
    assert [call.tokens.published for call in episode.turns[0].calls] == [0, 0]


async def test_an_ask_that_thinks_is_told_how() -> None:
    for thinking in (False, True):
        given = arm(Asking(asks=1, thinking=thinking), reasoning="prompted")
        _, talked = await play(given, answered)
        assert talked.requests[1].thinking is thinking
        assert ('starts with "Thought:"' in talked.sent[1][-1][1]) is thinking


async def test_what_a_turn_spent_before_it_failed_is_kept() -> None:
    given = arm(Summary(by="call"))
    episode, _ = await play(given, failing(ContextOverflow("too long"), 3))
    assert episode.failure is not None
    assert episode.failure.error == "ContextOverflow"
    last = episode.turns[-1]
    assert (last.index, last.message, len(last.calls)) == (1, None, 1)
    assert last.calls[0].usage.completion > 0
    assert check(last.calls[0].tokens, last.calls[0].usage)


TABLE = Table(plan=(((0, False), (1, False), (2, False)), ((2, False), (0, False)), ((1, True),)))


@dataclass(slots=True, kw_only=True)
class Together(Recorder):
    """Lets the calls of a first round through only when all of them wait, the last one first."""

    barrier: asyncio.Barrier
    waited: int = 0

    async def complete(self, request: Request) -> Completion:
        self.waited += 1
        place = self.waited
        if place <= self.barrier.parties:
            await self.barrier.wait()
            await asyncio.sleep((self.barrier.parties - place) / 50)
        return await Recorder.complete(self, request)


async def test_a_round_is_spoken_at_once_and_seeds_do_not_depend_on_arrival() -> None:
    given = arm(Concise(), topology=TABLE)
    together = Together(inner=chat(given, answered), barrier=asyncio.Barrier(3))
    async with asyncio.timeout(5):
        late = await run_episode(Run(arm=given, chat=together), problem(), 0)
    early, _ = await play(given, answered)
    assert [turn.seat for turn in late.turns] == [f"seat_{n}" for n in (0, 1, 2, 2, 0, 1)]
    assert [turn.index for turn in late.turns] == list(range(6))
    assert [turn.hears for turn in late.turns] == [()] * 3 + [(0, 1, 2)] * 2 + [(0, 1, 2, 3, 4)]
    arrived = [request.seed for request in together.requests[:3]]
    assert arrived == [turn.calls[0].seed for turn in reversed(late.turns[:3])]
    assert timeless(late) == timeless(early)


def timeless(episode: Episode) -> list[Any]:
    """What an episode holds, but for how long it took and in which order segments were met."""
    shown = [
        (turn.seat, turn.message, replace(call, latency=0.0, prompt=()))
        for turn in episode.turns
        for call in turn.calls
    ]
    return [*shown, episode.answer, episode.score, sorted(map(str, episode.segments))]


async def test_turns_that_finish_beside_a_failure_are_kept() -> None:
    episode, _ = await play(arm(Concise(), topology=TABLE), failing(TransportError("reset"), 1))
    assert episode.failure is not None
    assert episode.failure.repeat
    assert [turn.index for turn in episode.turns] == [0, 2]


async def test_cancelling_makes_no_row() -> None:
    given = arm(Concise(), topology=TABLE)
    waiting = Together(inner=chat(given, answered), barrier=asyncio.Barrier(4))
    task = asyncio.create_task(run_episode(Run(arm=given, chat=waiting), problem(), 0))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_one_of_64_episodes_fails_alone_d09() -> None:
    given = arm(Concise(), topology=SplitEvidence(turns=2), benchmark=Tiny())
    talked = chat(given, failing(ValueError("request 10"), 10))
    run = Run(arm=given, chat=talked)
    async with asyncio.timeout(30):
        played = await asyncio.gather(*(run_episode(run, problem(f"p{n}"), 0) for n in range(64)))
    failures = [episode.failure for episode in played if episode.failure]
    assert [failure.message for failure in failures] == ["request 10"]
    assert sum(episode.score is not None for episode in played) == 63


async def test_an_answering_turn_that_is_heard_is_heard_whole() -> None:
    table = Table(plan=(((0, True),), ((1, True),)))
    episode, talked = await play(arm(Full(), topology=table), answered)
    assert [turn.message for turn in episode.turns] == [None, None]
    assert episode.turns[0].visible in talked.sent[1][-1][1]
    assert episode.turns[0].calls[0].reasoning not in talked.sent[1][-1][1]
