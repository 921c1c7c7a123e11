"""Brief summary: a short free-form summary of the turn is all that the others read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from parley.parsing import section
from parley.prompt import fill
from parley.publishing import Fallback, part_message, visible_message
from parley.types import Ask, Cue, Demo, Draft, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The seat writes freely, then sums up."""

    thinks: ClassVar[bool] = True
    schema: ClassVar[None] = None

    by: Literal["same_turn", "call"] = "same_turn"
    """`same_turn`: the output ends in a "Summary:" line; `call`: a second call to the same seat
    sums its draft up, whose tokens count too. There is no such call for a draft without text."""
    fallback: Fallback = "visible"
    """What `same_turn` sends when there is no such line."""
    answer_thinks: bool = True
    """Whether the answering turn reasons."""

    @property
    def max_asks(self) -> int:
        return 0 if self.by == "same_turn" else 1

    def instruct(self, cue: Cue) -> str:
        name = "speak_summary" if self.by == "same_turn" else "speak_free"
        return fill(name, product=cue.seat.product)

    def project(self, draft: Draft) -> Message | Ask:
        if self.by == "call":
            speech = visible_message(draft.outputs[0])
            if not speech.text:
                return speech
            if len(draft.outputs) == 1:
                return Ask(kind="summary", text=fill("ask_summary"))
            return visible_message(draft.outputs[1], number=1)
        output = draft.outputs[0]
        return part_message(output, section(output.visible, "Summary"), self.fallback)

    def example(self, demo: Demo, cue: Cue) -> str:
        free = demo.fact
        return f"{free}\nSummary: {demo.fact}" if self.by == "same_turn" else free
