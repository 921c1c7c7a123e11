"""The default channel: a message is heard as it was written."""

from __future__ import annotations

from dataclasses import dataclass

from parley.protocols import Passage
from parley.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Nothing happens to a message between being written and being heard."""

    def deliver(self, message: Message, passage: Passage) -> Message | None:
        return message
