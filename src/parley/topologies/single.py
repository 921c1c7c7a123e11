"""One agent with all evidence: what a system of several has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parley.schedule import ALL_SHARES, answered, relay
from parley.types import Answer, Cue, Seat, Turn

SEAT = Seat(
    name="solo",
    title="Solver",
    role="solo",
    product="the answer",
    label="Answer",
    shares=ALL_SHARES,
)

_SCHEDULE = relay((SEAT,), range)


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """One call, which answers. Nothing is published: of a strategy only `answer_thinks` counts."""

    seats: ClassVar[tuple[Seat, ...]] = (SEAT,)
    max_turns: ClassVar[int] = 1
    examples: ClassVar[str] = ""
    note: ClassVar[str] = ""

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        return _SCHEDULE.next(history)

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        return answered(history[-1], "the only turn")
