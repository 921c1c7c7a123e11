"""A control: a true message of the same form, about another problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from parley.errors import DataError
from parley.protocols import Passage
from parley.seeds import derive
from parley.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffledMessage:
    """What another seat wrote is replaced by what the same seat wrote in the same turn of another
    problem, in a finished donor arm. A seat's own messages stay as written.

    The problem's id and `seed` decide which problem that is, so all turns and samples of a problem
    hear the same one, unless it ended before that turn: then the next one that did not is taken.
    """

    donor: str = ""
    """The arm whose messages are heard: the folder of an arm of this study, or the name of the
    strategy of the arm that is like this one otherwise, with channel=identity. Empty is this arm's
    own strategy."""
    seed: int = 42
    """Another seed pairs the problems differently."""

    def deliver(self, message: Message, passage: Passage) -> Message | None:
        if passage.own:
            return message
        for candidate in self._candidates(passage):
            return Message(text=candidate.text)
        raise DataError(
            f"channel=shuffled_message: no other problem of the donor has a message of "
            f"{passage.speaker} in turn {passage.source}",
            allowed="a donor of the same topology, with at least two finished problems",
            remedy="run the donor arm with a larger limit",
        )

    def _candidates(self, passage: Passage) -> Iterator[Message]:
        """Messages of other problems, from a place that the problem decides."""
        episodes, problem = passage.recorded, passage.problem.id
        start = derive(self.seed, "shuffled_message", problem) % max(len(episodes), 1)
        for step in range(len(episodes)):
            episode = episodes[(start + step) % len(episodes)]
            if episode.problem == problem or len(episode.turns) <= passage.source:
                continue
            turn = episode.turns[passage.source]
            if turn.seat == passage.speaker and turn.message is not None:
                yield turn.message
