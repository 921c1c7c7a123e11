"""Concise generation: the model's own mode without thinking; all that it writes is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parley.prompt import fill
from parley.publishing import visible_message
from parley.types import Cue, Demo, Draft, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Concise:
    """Thinking is off, and the visible text is the message."""

    thinks: ClassVar[bool] = False
    max_asks: ClassVar[int] = 0
    schema: ClassVar[None] = None

    answer_thinks: bool = False
    """Whether the answering turn reasons all the same; the paper does not say, so it is a setting.
    False: the whole arm runs without thinking."""

    def instruct(self, cue: Cue) -> str:
        return fill("speak_free", product=cue.seat.product)

    def project(self, draft: Draft) -> Message:
        return visible_message(draft.outputs[0])

    def example(self, demo: Demo, cue: Cue) -> str:
        return demo.fact
