"""Conclusion only: the model thinks, and its reasoning is removed from the message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from parley.parsing import section
from parley.prompt import fill
from parley.publishing import Fallback, part_message, visible_message
from parley.types import Cue, Demo, Draft, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """Thinking on, reasoning removed."""

    thinks: ClassVar[bool] = True
    max_asks: ClassVar[int] = 0
    schema: ClassVar[None] = None

    portion: Literal["visible", "final"] = "visible"
    """`visible`: all visible text, under the same words as `full`; this is also the control that
    tells the effect of removing the reasoning from that of a format. `final`: only the closing
    "Conclusion:" line, which the seat is asked to write."""
    fallback: Fallback = "visible"
    """What `final` sends when there is no such line."""
    answer_thinks: bool = True
    """Whether the answering turn reasons."""

    def instruct(self, cue: Cue) -> str:
        name = "speak_free" if self.portion == "visible" else "speak_conclusion"
        return fill(name, product=cue.seat.product)

    def project(self, draft: Draft) -> Message:
        output = draft.outputs[0]
        if self.portion == "visible":
            return visible_message(output)
        return part_message(output, section(output.visible, "Conclusion"), self.fallback)

    def example(self, demo: Demo, cue: Cue) -> str:
        free = demo.fact
        return free if self.portion == "visible" else f"{free}\nConclusion: {demo.result}"
