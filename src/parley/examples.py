"""Worked examples: the same small problems, written out in the format of each strategy.

`shots=0` is the paper's setting. The packaged 135M model cannot do the task without examples.
Each example shows an opening turn and the final answer. The block is the same for every seat and
every turn of an arm, so that a prefix cache pays for it once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from parley.errors import ConfigError
from parley.parsing import split_reasoning
from parley.prompt import heard, segment, view
from parley.protocols import Strategy, Topology
from parley.templates import template
from parley.types import Completion, Cue, Demo, Draft, Message, Paragraph, Problem, Segment, Usage


def examples(
    topology: Topology, strategy: Strategy, *, shots: int, prompted: bool
) -> tuple[Segment, ...]:
    """One segment with `shots` worked examples; none when shots is 0.

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
    texts = (_example(one, topology, strategy, prompted) for one in stored[:shots])
    numbered = "".join(f"Example {n}\n{text}" for n, text in enumerate(texts, 1))
    return (segment("examples", numbered + "Your turn"),)


def _example(
    stored: Mapping[str, Any], topology: Topology, strategy: Strategy, prompted: bool
) -> str:
    """What the first seat reads and writes, then what the answering seat does."""
    problem, turns = _problem(stored), stored["turns"]
    cues = [
        Cue(seat=topology.seats[turn["seat"]], round=number, hears=tuple(range(number)))
        for number, turn in enumerate(turns)
    ]
    speeches = [
        _speech(turn, strategy, cue, prompted) for turn, cue in zip(turns, cues, strict=True)
    ]
    messages = [
        heard(cue.seat.title, _message(speech, strategy, cue).text, cue.round).text
        for speech, cue in zip(speeches, cues, strict=True)
    ]
    closing = stored["closing"] if prompted and strategy.answer_thinks else ""
    answer = _raw(closing, f"Answer: {stored['answer']}")
    return "".join(
        [
            *(s.text for s in view(problem, cues[0].seat)),
            f"{cues[0].seat.title} writes:\n{speeches[0]}\n",
            *(s.text for s in view(problem, cues[-1].seat)),
            *messages,
            f"{cues[-1].seat.title} answers:\n{answer}\n",
        ]
    )


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
    return f"<think>\n{reasoning}\n</think>\n{visible}" if reasoning else visible


def _message(raw: str, strategy: Strategy, cue: Cue) -> Message:
    """The example's message, made by the strategy itself; an ask is answered by the output."""
    split = split_reasoning(raw)
    output = Completion(
        reasoning=split.reasoning,
        visible=split.visible,
        finish="stop",
        usage=Usage(prompt=0, completion=0),
    )
    projected = strategy.project(Draft(cue=cue, outputs=(output,)))
    if isinstance(projected, Message):
        return projected
    return Message(text=split.visible)
