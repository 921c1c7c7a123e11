"""What a seat reads on its turn: which messages reach it, and how its prompt is laid out."""

from __future__ import annotations

from parley.arm import Arm
from parley.calls import Run
from parley.examples import examples
from parley.prompt import after_examples, cue_segment, fill, heard, segment, system, view
from parley.protocols import Passage
from parley.types import Cue, Message, Problem, Segment, Turn

Changed = tuple[tuple[int, str | None], ...]
"""(turn, text as heard) of each message that the channel changed; None where it was dropped."""


def compose(
    run: Run, problem: Problem, history: tuple[Turn, ...], cue: Cue
) -> tuple[tuple[Segment, ...], Changed]:
    """The prompt of a turn, and what the channel changed of the messages it hears.

    What never changes for a seat comes first, for prefix caches. Without worked examples the
    instruction stands at the end, where a model heeds it best. With them it stands before them:
    they show how it is followed, and end like the real turn does.
    """
    arm = run.arm
    told, changed = hear(run, problem, history, cue)
    others = tuple(seat.title for seat in arm.topology.seats if seat.name != cue.seat.name)
    head, words = system(cue.seat, others), told_to(arm, problem, cue)
    if not arm.shots:
        own = (segment("instruction", words),) if words else ()
        last = cue_segment(cue.seat, answers=cue.answers)
        return (head, *view(problem, cue.seat), *told, *own, last), changed
    first = (segment("instruction", words, role="system"),) if words else ()
    shown = examples(
        arm.topology,
        arm.strategy,
        shots=arm.shots,
        prompted=arm.model.reasoning == "prompted",
        answers=cue.answers,
    )
    return (head, *first, *shown, *after_examples(problem, cue, told)), changed


def hear(
    run: Run, problem: Problem, history: tuple[Turn, ...], cue: Cue
) -> tuple[list[Segment], Changed]:
    """The messages that reach the cued seat through the channel, and those it changed."""
    told: list[Segment] = []
    changed: list[tuple[int, str | None]] = []
    for source in cue.hears:
        turn = history[source]
        written = turn.message or Message(text=turn.visible)
        passage = Passage(
            source=source,
            speaker=turn.seat,
            cue=cue,
            problem=problem,
            recorded=run.recorded,
            tokens=turn.published_tokens,
        )
        received = run.arm.channel.deliver(written, passage)
        if received is None or received.text != written.text:
            changed.append((source, received.text if received else None))
        if received is not None:
            told.append(heard(turn.title, received.text, source))
    return told, tuple(changed)


def told_to(arm: Arm, problem: Problem, cue: Cue) -> str:
    """What a seat is told about its turn."""
    if cue.answers:
        words = arm.benchmark.answer_format(problem)
        return instruction(arm, words, thinks=arm.strategy.answer_thinks)
    return instruction(arm, speech_words(arm, cue), thinks=arm.strategy.thinks)


def speech_words(arm: Arm, cue: Cue) -> str:
    """What a seat is told to write in a message: the strategy's words, and the topology's."""
    return "\n".join(words for words in (arm.strategy.instruct(cue), arm.topology.note) if words)


def instruction(arm: Arm, words: str, *, thinks: bool) -> str:
    """The words; a model without native thinking is also told how to think."""
    if thinks and arm.model.reasoning == "prompted":
        return f"{fill('reason')}\n{words}"
    return words
