"""A control: text cut to the length of another arm's messages, which tells form from brevity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean

from parley.errors import DataError
from parley.protocols import Passage
from parley.types import Message, Turn

UNITS = ("tokens", "characters", "words")


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthMatched:
    """Every message, a seat's own included, is cut to the donor's mean length of the same turn.

    A shorter message stays as it is, and so what is heard is shorter than the donor's mean on
    average: compare the message tokens as read, which are recorded.
    """

    donor: str = "pact"
    """The arm whose length is matched: the folder of an arm of this study, or the name of the
    strategy of the arm that is like this one otherwise, with channel=identity."""
    unit: str = "tokens"
    """`tokens` as they were generated, `characters` or `words`. A channel has no tokenizer: of a
    message with twice the tokens, half the characters stay. All are cut back to a whole word."""

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ValueError(f"channel.unit is one of {', '.join(UNITS)}")

    def deliver(self, message: Message, passage: Passage) -> Message | None:
        text = message.text.strip()
        limit = self._mean(passage)
        if self.unit == "words":
            return replace(message, text=_words(text, round(limit)))
        if self.unit == "tokens":
            # What no token was generated for is a template's words: nothing to match.
            share = limit / passage.tokens if passage.tokens else 1.0
            return replace(message, text=_cut(text, round(len(text) * min(share, 1.0))))
        return replace(message, text=_cut(text, round(limit)))

    def _mean(self, passage: Passage) -> float:
        turns = [
            episode.turns[passage.source]
            for episode in passage.recorded
            if len(episode.turns) > passage.source
        ]
        lengths = [self._length(turn, turn.message) for turn in turns if turn.message is not None]
        if not lengths:
            raise DataError(
                f"channel=length_matched: the donor has no message in turn {passage.source}",
                allowed="a donor of the same topology, with finished problems",
                remedy="run the donor arm first",
            )
        return fmean(lengths)

    def _length(self, turn: Turn, message: Message) -> int:
        if self.unit == "tokens":
            return turn.published_tokens
        return len(message.text.split()) if self.unit == "words" else len(message.text.strip())


def _words(text: str, limit: int) -> str:
    words = text.split()
    return text if len(words) <= limit else " ".join(words[:limit])


def _cut(text: str, limit: int) -> str:
    """At most so many characters, cut back to a whole word unless that halves them: not all
    scripts have spaces."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    whole = head.rstrip() if head[-1].isspace() else head.rsplit(None, 1)[0]
    return whole if limit / 2 <= len(whole) <= limit else text[:limit]
