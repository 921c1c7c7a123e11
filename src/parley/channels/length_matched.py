"""A control: text cut to the length of another arm's messages, which tells form from brevity."""

from __future__ import annotations

from dataclasses import dataclass, replace

from parley.errors import DataError
from parley.protocols import Passage
from parley.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthMatched:
    """Every message, a seat's own included, is cut to the donor's mean length of the same turn.

    Tokens are not known to a channel, so length is counted in characters or words of the messages
    as they were published. A shorter message stays as it is, and so what is heard is shorter than
    the donor's mean on average: compare the message tokens as read, which are recorded.
    """

    donor: str = "pact"
    """The arm whose length is matched: the folder of an arm of this study, or the name of the
    strategy of the arm that is like this one otherwise, with channel=identity."""
    unit: str = "characters"
    """`characters`, cut back to a whole word where there is one, or `words`. Characters are nearer
    to tokens, since strategies differ in the length of their words."""

    def __post_init__(self) -> None:
        if self.unit not in ("characters", "words"):
            raise ValueError("channel.unit is characters or words")

    def deliver(self, message: Message, passage: Passage) -> Message | None:
        limit = self._mean(passage)
        return replace(message, text=self._cut(message.text.strip(), limit))

    def _mean(self, passage: Passage) -> int:
        written = [
            episode.turns[passage.source].message
            for episode in passage.recorded
            if len(episode.turns) > passage.source
        ]
        lengths = [self._length(one.text) for one in written if one is not None]
        if not lengths:
            raise DataError(
                f"channel=length_matched: the donor has no message in turn {passage.source}",
                allowed="a donor of the same topology, with finished problems",
                remedy="run the donor arm first",
            )
        return round(sum(lengths) / len(lengths))

    def _length(self, text: str) -> int:
        return len(text.split()) if self.unit == "words" else len(text.strip())

    def _cut(self, text: str, limit: int) -> str:
        if self._length(text) <= limit:
            return text
        if self.unit == "words":
            return " ".join(text.split()[:limit])
        whole, space, _ = text[: limit + 1].rpartition(" ")
        return whole.rstrip() if space and whole.strip() else text[:limit]
