"""One problem solved once: the loop that runs every topology and every strategy."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from parley.calls import Pool, Run, Spoken, book, speak
from parley.composing import compose, instruction
from parley.errors import ContextOverflow, DataError
from parley.grading.thinking import noted
from parley.prompt import own_draft, segment
from parley.protocols import Benchmark
from parley.schedule import answered
from parley.types import (
    VERSION,
    Answer,
    Cue,
    Draft,
    Episode,
    Failure,
    Message,
    Problem,
    Score,
    Segment,
    Turn,
)

Place = tuple[int, str, int, str, int]
"""Seed, problem, sample, seat and turn: what a call's seed derives from, beside its kind."""


async def run_episode(run: Run, problem: Problem, sample: int) -> Episode:
    """Plays the topology's rounds, decides and grades. A failure is a row, not an exception."""
    pool, started = Pool(), time.time()
    history: tuple[Turn, ...] = ()
    answer: Answer | None = None
    score: Score | None = None
    failure: Failure | None = None
    try:
        run = granted(run, problem)
        if run.arm.opening is not None:
            history = pool.adopt(run.arm.opening(problem, sample))
        while cues := run.arm.topology.next(history):
            history = await play_round(run, pool, problem, sample, history, cues)
        history, grades = await _read(run.arm.benchmark, problem, history)
        answer = run.arm.topology.decide(history)
        score = grades.get((answer.text, answer.truncated))
        if score is None:
            score = await _graded(run.arm.benchmark, problem, answer)
        score = await _noted(run.arm.benchmark, problem, score, history, answer)
    except RoundFailed as failed:
        history, failure = failed.history, failed.failure
    except Exception as error:  # A topology's or grader's own mistake is a row, too.
        failure = failure_of(error)
    return Episode(
        version=VERSION,
        arm=run.arm.name,
        problem=problem.id,
        sample=sample,
        kind=problem.kind,
        question=problem.question,
        answers=problem.answers,
        options=problem.options,
        segments=tuple(pool.entries),
        turns=history,
        answer=answer,
        score=score,
        failure=failure,
        granted=getattr(run.arm.topology, "budget_tokens", None),
        started=started,
        seconds=time.time() - started,
    )


def granted(run: Run, problem: Problem) -> Run:
    """The run of a problem that has a budget of its own."""
    if problem.id not in run.grants:
        return run
    topology: Any = run.arm.topology
    tokens = run.grants[problem.id]
    return replace(run, arm=replace(run.arm, topology=replace(topology, budget_tokens=tokens)))


async def _read(
    benchmark: Benchmark, problem: Problem, history: tuple[Turn, ...]
) -> tuple[tuple[Turn, ...], dict[tuple[str, bool], Score]]:
    """The turns with what the benchmark reads in those that answer, and its grades by text and
    whether that was cut short: the same text is graded once."""
    turns, grades = [], {}
    for turn in history:
        if turn.answers:
            said = answered(turn, "")
            key = (said.text, said.truncated)
            if key not in grades:
                grades[key] = await _graded(benchmark, problem, said)
            turn = replace(turn, extracted=grades[key].extracted)
        turns.append(turn)
    return tuple(turns), grades


async def _noted(
    benchmark: Benchmark, problem: Problem, score: Score, history: tuple[Turn, ...], answer: Answer
) -> Score:
    """The grade, with what only the reasoning behind the answer states."""
    said = next((turn.calls[0] for turn in history if turn.index == answer.turn), None)
    if said is None or not said.reasoning or score.extracted is not None:
        return score
    cut = said.truncated_in_thinking
    return await _in_time(
        benchmark, lambda: noted(score, benchmark, problem, said.reasoning, truncated=cut)
    )


async def _graded(benchmark: Benchmark, problem: Problem, answer: Answer) -> Score:
    return await _in_time(
        benchmark, lambda: benchmark.grade(problem, answer.text, truncated=answer.truncated)
    )


async def _in_time(benchmark: Benchmark, grade: Callable[[], Score]) -> Score:
    """Grading may take its time, so it gets a thread, unless the benchmark says `quick`: what a
    change of threads costs is more than comparing two short texts."""
    return grade() if getattr(benchmark, "quick", False) else await asyncio.to_thread(grade)


class RoundFailed(Exception):
    """Carries what was finished of an episode, and why it goes no further. Never leaves here."""

    def __init__(self, history: tuple[Turn, ...], failure: Failure) -> None:
        super().__init__(failure.message)
        self.history, self.failure = history, failure


class TurnFailed(Exception):
    """Carries the calls that a turn made before one of them failed: their tokens were spent."""

    def __init__(self, turn: Turn, error: Exception) -> None:
        super().__init__(str(error))
        self.turn, self.error = turn, error


def failure_of(error: Exception) -> Failure:
    """Overflow is an outcome, and so is what the records of another arm lack; all else may go
    well on another day, or once mended."""
    repeat = not isinstance(error, ContextOverflow | DataError)
    return Failure(error=type(error).__name__, message=str(error), repeat=repeat)


async def play_round(
    run: Run,
    pool: Pool,
    problem: Problem,
    sample: int,
    history: tuple[Turn, ...],
    cues: tuple[Cue, ...],
) -> tuple[Turn, ...]:
    """All cues of a round, spoken concurrently. What finished beside a failure is kept."""
    turns = [
        _settled(take_turn(run, pool, problem, sample, history, cue, len(history) + place))
        for place, cue in enumerate(cues)
    ]
    # A round of one needs no task of its own.
    results = [await turns[0]] if len(turns) == 1 else await asyncio.gather(*turns)
    errors: list[Exception] = []
    for result in results:
        if isinstance(result, Turn):
            history += (result,)
        elif isinstance(result, TurnFailed):
            history += (result.turn,)
            errors.append(result.error)
        else:
            errors.append(result)
    if errors:
        raise RoundFailed(history, failure_of(errors[0]))
    return history


async def _settled(turn: Coroutine[Any, Any, Turn]) -> Turn | Exception:
    """The turn, or the error it ended in. A component that calls sys.exit ends its turn only."""
    try:
        return await turn
    except Exception as error:
        return error
    except SystemExit as left:
        return RuntimeError(f"a component left with sys.exit({left.code})")


async def take_turn(
    run: Run,
    pool: Pool,
    problem: Problem,
    sample: int,
    history: tuple[Turn, ...],
    cue: Cue,
    index: int,
) -> Turn:
    """One seat speaks; its strategy makes the message, asking the seat again where it must."""
    segments, changed = compose(run, problem, history, cue)
    place: Place = (run.arm.seed, problem.id, sample, cue.seat.name, index)
    spoken: list[Spoken] = []
    message: Message | None = None
    error: Exception | None = None
    try:
        message = await converse(run, segments, cue, place, spoken)
    except Exception as raised:
        if not spoken:
            raise
        error = raised
    calls = [
        await book(run, pool, one, number, message, answers=cue.answers)
        for number, one in enumerate(spoken)
    ]
    turn = Turn(
        index=index,
        seat=cue.seat.name,
        title=cue.seat.title,
        round=cue.round,
        hears=cue.hears,
        answers=cue.answers,
        calls=tuple(calls),
        message=message,
        heard=changed,
    )
    if error is not None:
        raise TurnFailed(turn, error) from error
    return turn


async def converse(
    run: Run,
    segments: tuple[Segment, ...],
    cue: Cue,
    place: Place,
    spoken: list[Spoken],
) -> Message | None:
    """The speech and all asks, added to `spoken` as they are made; the message, if it is one."""
    strategy = run.arm.strategy
    thinking = strategy.answer_thinks if cue.answers else strategy.thinks
    schema = None if cue.answers else strategy.schema
    first, most = (*place, "speak", 0), cue.max_tokens
    spoken.append(
        await speak(
            run,
            segments,
            kind="speak",
            thinking=thinking,
            place=first,
            schema=schema,
            max_tokens=most,
        )
    )
    while not cue.answers:
        draft = Draft(cue=cue, outputs=tuple(one.completion for one in spoken))
        wanted = strategy.project(draft)
        if isinstance(wanted, Message):
            return wanted
        if len(spoken) > strategy.max_asks:
            return Message(text="", status="rejected")
        shown = tuple(s for s in segments if s.part not in ("instruction", "cue", "examples"))
        drafts = own_draft([one.completion.visible for one in spoken], place[-1])
        words = instruction(run.arm, wanted.text, thinks=wanted.thinking)
        again = (*shown, drafts, segment("instruction", words))
        where = (*place, wanted.kind, len(spoken))
        spoken.append(
            await speak(
                run,
                again,
                kind=wanted.kind,
                thinking=wanted.thinking,
                place=where,
                max_tokens=most,
            )
        )
    return None
