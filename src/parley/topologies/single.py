"""One agent with all evidence: what a system of several has to beat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from parley.schedule import ALL_SHARES, answered, check_budget, relay
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

    budget_tokens: int | None = None
    """Most completion tokens of the call, in place of sampling.max_tokens; None leaves it to that.
    budget=ARM sets it to what that arm used."""

    def __post_init__(self) -> None:
        check_budget(self.budget_tokens)

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        return tuple(replace(cue, max_tokens=self.budget_tokens) for cue in _SCHEDULE.next(history))

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        return answered(history[-1], "the only turn")
