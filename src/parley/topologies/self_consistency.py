"""Several answers of one agent with all evidence, and their majority."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parley.errors import ConfigError
from parley.grading.voting import majority
from parley.schedule import ALL_SHARES, Schedule
from parley.types import Answer, Cue, Seat, Turn

# The seat of `single`, so that the first sample is that arm's call, seed and all.
SEAT = Seat(
    name="solo",
    title="Solver",
    role="solo",
    product="the answer",
    label="Answer",
    shares=ALL_SHARES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfConsistency:
    """`votes` independent answers, drawn at once with seeds of their own; the majority wins.

    Votes, ties and turns without an answer are counted as `parley.grading.voting` says: of
    answers with equally many votes, the earliest wins. Greedy sampling makes all votes alike.
    """

    seats: ClassVar[tuple[Seat, ...]] = (SEAT,)
    examples: ClassVar[str] = ""
    note: ClassVar[str] = ""

    votes: int = 8
    """Answers drawn for one problem, each a call. 8 as the paper's avg@8 draws."""

    def __post_init__(self) -> None:
        if self.votes < 1:
            raise ConfigError(
                f"topology.votes={self.votes}",
                allowed="a whole number from 1 on; 1 is `single`",
                remedy="topology.votes=8",
            )

    @property
    def max_turns(self) -> int:
        return self.votes

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        return Schedule(rounds=((Cue(seat=SEAT, round=0, answers=True),) * self.votes,)).next(
            history
        )

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        return majority(history)
