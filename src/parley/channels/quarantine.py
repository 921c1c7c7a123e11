"""A control of PACT: what its Action field does to those who hear it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from parley.errors import ConfigError
from parley.protocols import Passage
from parley.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """The Action of a record as sent, hidden, or replaced by one that the question gives.

    An Action tells others what to look for, and can lead them from the question to something near
    it. The shared history is edited, for the seat that wrote it too. A message without an Action,
    such as one of another strategy or one that could not be read, is heard as written.
    """

    action: Literal["sent", "hidden", "question"] = "hidden"
    """What becomes of the field."""
    wording: str = "Find what answers this question: {question}"
    """The Action that `question` puts in its place; {question} is the problem's question."""

    def __post_init__(self) -> None:
        if not self.wording.strip():
            raise ConfigError("channel.wording is empty", remedy="channel.action=hidden")

    def deliver(self, message: Message, passage: Passage) -> Message | None:
        if self.action == "sent" or "Action" not in message.data:
            return message
        data = dict(message.data)
        if self.action == "hidden":
            del data["Action"]
        else:
            question = " ".join(passage.problem.question.split())
            data["Action"] = self.wording.replace("{question}", question)
        text = "\n".join(f"{name}: {value}" for name, value in data.items())
        return replace(message, text=text, data=data)
