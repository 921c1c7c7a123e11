"""A control: a message comes, and says the same whatever was written."""

from __future__ import annotations

from dataclasses import dataclass

from parley.errors import ConfigError
from parley.protocols import Passage
from parley.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantMessage:
    """Every message of another seat is replaced by one text. A seat's own stay as written."""

    text: str = "I have read my part."
    """What is heard. The default tells nothing about any question."""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ConfigError(
                "channel.text is empty",
                allowed="a text",
                remedy="channel=no_message drops messages",
            )

    def deliver(self, message: Message, passage: Passage) -> Message | None:
        return message if passage.own else Message(text=self.text)
