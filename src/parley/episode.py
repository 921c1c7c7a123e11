"""One problem solved once: the loop that runs every topology and every strategy."""

from __future__ import annotations

import asyncio
import time

from parley.calls import Pool, Run, book, speak
from parley.errors import ContextOverflow
from parley.examples import examples
from parley.prompt import fill, heard, own_draft, segment, system, view
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


async def run_episode(run: Run, problem: Problem, sample: int) -> Episode:
    """Plays the topology's rounds, decides and grades. A failure is a row, not an exception."""
    arm, pool, started = run.arm, Pool(), time.time()
    history: tuple[Turn, ...] = ()
    answer: Answer | None = None
    score: Score | None = None
    failure: Failure | None = None
    try:
        while cues := arm.topology.next(history):
            history = await play_round(run, pool, problem, sample, history, cues)
        answer = arm.topology.decide(history)
        score = await asyncio.to_thread(
            arm.benchmark.grade, problem, answer.text, truncated=answer.truncated
        )
    except RoundFailed as failed:
        history, failure = failed.history, failed.failure
    return Episode(
        version=VERSION,
        arm=arm.name,
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
        started=started,
        seconds=time.time() - started,
    )


class RoundFailed(Exception):
    """Carries what was finished of an episode, and why it goes no further. Never leaves here."""

    def __init__(self, history: tuple[Turn, ...], failure: Failure) -> None:
        super().__init__(failure.message)
        self.history, self.failure = history, failure


async def play_round(
    run: Run,
    pool: Pool,
    problem: Problem,
    sample: int,
    history: tuple[Turn, ...],
    cues: tuple[Cue, ...],
) -> tuple[Turn, ...]:
    """All cues of a round, spoken concurrently. Turns that finish beside a failure are kept."""
    results = await asyncio.gather(
        *(
            take_turn(run, pool, problem, sample, history, cue, len(history) + place)
            for place, cue in enumerate(cues)
        ),
        return_exceptions=True,
    )
    history += tuple(turn for turn in results if isinstance(turn, Turn))
    for error in results:
        if isinstance(error, Exception):
            # Overflow is an outcome; all else may go well on another day, or once mended.
            repeat = not isinstance(error, ContextOverflow)
            kind = type(error).__name__
            raise RoundFailed(history, Failure(error=kind, message=str(error), repeat=repeat))
        if isinstance(error, BaseException):
            raise error
    return history


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
    strategy = run.arm.strategy
    segments, changed = compose(run, problem, history, cue)
    thinking = strategy.answer_thinks if cue.answers else strategy.thinks
    schema = None if cue.answers else strategy.schema
    place = (run.arm.seed, problem.id, sample, cue.seat.name, index)
    first = (*place, "speak", 0)
    spoken = [
        await speak(run, segments, kind="speak", thinking=thinking, place=first, schema=schema)
    ]
    message: Message | None = None
    while not cue.answers and message is None:
        draft = Draft(cue=cue, outputs=tuple(one.completion for one in spoken))
        wanted = strategy.project(draft)
        if isinstance(wanted, Message):
            message = wanted
        elif len(spoken) > strategy.max_asks:
            message = Message(text="", status="rejected")
        else:
            shown = tuple(s for s in segments if s.part not in ("instruction", "cue", "examples"))
            drafts = own_draft([one.completion.visible for one in spoken], index)
            again = (*shown, drafts, segment("instruction", wanted.text))
            where = (*place, wanted.kind, len(spoken))
            spoken.append(
                await speak(run, again, kind=wanted.kind, thinking=wanted.thinking, place=where)
            )
    calls = [
        await book(run.chat, pool, one, number, message, answers=cue.answers)
        for number, one in enumerate(spoken)
    ]
    return Turn(
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


def compose(
    run: Run, problem: Problem, history: tuple[Turn, ...], cue: Cue
) -> tuple[tuple[Segment, ...], tuple[tuple[int, str | None], ...]]:
    """The prompt of a turn, and what the channel changed of the messages it hears."""
    arm = run.arm
    prompted = arm.model.reasoning == "prompted"
    thinks = arm.strategy.answer_thinks if cue.answers else arm.strategy.thinks
    told: list[Segment] = []
    changed: list[tuple[int, str | None]] = []
    for source in cue.hears:
        written = history[source].message or Message(text=history[source].visible)
        received = arm.channel.deliver(written, source, cue, run.recorded)
        if received is None or received.text != written.text:
            changed.append((source, received.text if received else None))
        if received is not None:
            told.append(heard(history[source].title, received.text, source))
    words = arm.benchmark.answer_format(problem)
    if not cue.answers:
        words = "\n".join(w for w in (arm.strategy.instruct(cue), arm.topology.note) if w)
    if prompted and thinks:
        words = f"{fill('reason')}\n{words}"
    segments = (
        system(cue.seat, [s.title for s in arm.topology.seats if s.name != cue.seat.name]),
        *examples(arm.topology, arm.strategy, shots=arm.shots, prompted=prompted),
        *view(problem, cue.seat),
        *told,
        segment("instruction", words),
        segment("cue", fill("cue_answer" if cue.answers else "cue_speak", title=cue.seat.title)),
    )
    return segments, tuple(changed)
