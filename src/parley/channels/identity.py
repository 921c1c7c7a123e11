"""The default channel: a message is heard as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parley.types import Cue, Episode, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Nothing happens to a message between being written and being heard."""

    def deliver(
        self, message: Message, source: int, cue: Cue, recorded: Sequence[Episode]
    ) -> Message | None:
        return message
