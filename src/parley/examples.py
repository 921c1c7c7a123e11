"""Worked examples: the same small problems, written out in the format of each strategy.

`shots=0` is the paper's setting. The packaged 135M model cannot do the task without examples.
Each example shows an opening turn and the final answer. The block is the same for every seat and
every turn of an arm, so that a prefix cache pays for it once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from parley.errors import ConfigError
from parley.parsing import split_thought
from parley.prompt import cue_segment, heard, segment, view
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
    Role,
    Segment,
    Usage,
)


@remembered(64)
def examples(
    topology: Topology, strategy: Strategy, *, shots: int, prompted: bool
) -> tuple[Segment, ...]:
    """`shots` worked examples as chat turns, before the real one; none when shots is 0.

    `prompted`: the model reasons in a block it writes itself, so the examples show one wherever
    the strategy thinks. Raises ConfigError if there are not so many examples.
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
        piece for one in stored[:shots] for piece in _example(one, topology, strategy, prompted)
    )


def _example(
    stored: Mapping[str, Any], topology: Topology, strategy: Strategy, prompted: bool
) -> tuple[Segment, ...]:
    """What the first seat reads and writes, then what the answering seat reads and answers."""
    problem, turns = _problem(stored), stored["turns"]
    cues = [
        Cue(seat=topology.seats[turn["seat"]], round=number, hears=tuple(range(number)))
        for number, turn in enumerate(turns)
    ]
    speeches = [
        _speech(turn, strategy, cue, prompted) for turn, cue in zip(turns, cues, strict=True)
    ]
    told = [
        heard(cue.seat.title, _message(speech, turn["fact"], strategy, cue).text, cue.round)
        for speech, turn, cue in zip(speeches, turns, cues, strict=True)
    ]
    closing = stored["closing"] if prompted and strategy.answer_thinks else ""
    first, last = cues[0].seat, cues[-1].seat
    read = [*view(problem, first), cue_segment(first, answers=False)]
    read_last = [*view(problem, last), *told, cue_segment(last, answers=True)]
    return (
        _turn(read, "user"),
        segment("examples", speeches[0], role="assistant"),
        _turn(read_last, "user"),
        segment("examples", _raw(closing, f"Answer: {stored['answer']}"), role="assistant"),
    )


def _turn(pieces: Sequence[Segment], role: Role) -> Segment:
    return segment("examples", "".join(piece.text for piece in pieces), role=role)


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
