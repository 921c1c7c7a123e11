"""A control: nobody hears anybody else."""

from __future__ import annotations

from dataclasses import dataclass

from parley.protocols import Passage
from parley.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class NoMessage:
    """Messages are written and dropped. A seat still hears its own: that is memory, not talk."""

    def deliver(self, message: Message, passage: Passage) -> Message | None:
        return message if passage.own else None
