"""Worked examples: the same small problems, written out in the format of each strategy.

`shots=0` is the paper's setting. The packaged 135M model cannot do the task without examples.
Each example shows an opening turn and the final answer. The block is the same for every seat and
every turn of an arm, so that a prefix cache pays for it once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from parley.errors import ConfigError
from parley.parsing import split_thought
from parley.prompt import after_examples, heard, segment
from parley.protocols import Strategy, Topology
from parley.remembering import remembered
from parley.templates import template
from parley.types import (
    Ask,
    Completion,
    Cue,
    Demo,
    Draft,
    Message,
    Paragraph,
    Problem,
    Segment,
    Usage,
)


@remembered(64)
def examples(
    topology: Topology, strategy: Strategy, *, shots: int, prompted: bool, answers: bool
) -> tuple[Segment, ...]:
    """`shots` worked examples as chat turns, before the real one; none when shots is 0.

    `answers`: whether they show how to answer, or how to write messages. `prompted`: the model
    reasons in a line it writes itself, so the examples show one wherever the strategy thinks.
    Raises ConfigError if there are not so many examples.
    """
    if shots == 0:
        return ()
    name = f"examples_{topology.examples}.json"
    stored = json.loads(template(name)) if topology.examples else []
    if shots > len(stored):
        raise ConfigError(
            f"shots={shots}",
            allowed=f"0 to {len(stored)}, the worked examples there are for this topology",
            remedy=f"shots={len(stored)}",
        )
    return tuple(
        piece
        for one in stored[:shots]
        for piece in _example(one, topology, strategy, prompted, answers)
    )


def _example(
    stored: Mapping[str, Any],
    topology: Topology,
    strategy: Strategy,
    prompted: bool,
    answers: bool,
) -> Iterator[Segment]:
    """What each seat reads and writes in its turn; or what the last one reads and answers."""
    problem = _problem(stored)
    told: list[Segment] = []
    for number, turn in enumerate(stored["turns"]):
        cue = Cue(seat=topology.seats[turn["seat"]], round=number, hears=tuple(range(number)))
        speech = _speech(turn, strategy, cue, prompted)
        if not answers:
            yield from _shown(after_examples(problem, cue, told), speech)
        message = _message(speech, turn["fact"], strategy, cue)
        told.append(heard(cue.seat.title, message.text, number))
    if answers:
        closing = stored["closing"] if prompted and strategy.answer_thinks else ""
        answer = _raw(closing, f"Answer: {stored['answer']}")
        yield from _shown(after_examples(problem, replace(cue, answers=True), told), answer)


def _shown(read: Sequence[Segment], written: str) -> tuple[Segment, Segment]:
    asked = "".join(piece.text for piece in read)
    return segment("examples", asked), segment("examples", written, role="assistant")


def _problem(stored: Mapping[str, Any]) -> Problem:
    shares = tuple(
        tuple(Paragraph(title=title, text=text) for title, text in share)
        for share in stored["shares"]
    )
    return Problem(
        id="example", question=stored["question"], answers=(stored["answer"],), shares=shares
    )


def _speech(turn: Mapping[str, Any], strategy: Strategy, cue: Cue, prompted: bool) -> str:
    demo = Demo(**{key: value for key, value in turn.items() if key != "seat"})
    reasoning = demo.reasoning if prompted and strategy.thinks else ""
    return _raw(reasoning, strategy.example(demo, cue))


def _raw(reasoning: str, visible: str) -> str:
    return f"Thought: {reasoning}\n{visible}" if reasoning else visible


def _message(raw: str, fact: str, strategy: Strategy, cue: Cue) -> Message:
    """The example's message, made by the strategy itself; an ask is answered by the fact."""
    outputs = tuple(_output(text) for text in (raw, fact))
    projected = strategy.project(Draft(cue=cue, outputs=outputs[:1]))
    if isinstance(projected, Ask):
        projected = strategy.project(Draft(cue=cue, outputs=outputs))
    return projected if isinstance(projected, Message) else Message(text=fact)


def _output(raw: str) -> Completion:
    split = split_thought(raw)
    return Completion(
        reasoning=split.reasoning,
        visible=split.visible,
        finish="stop",
        usage=Usage(prompt=0, completion=0),
    )
