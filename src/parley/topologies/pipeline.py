"""Planner, Critic, Refiner, Solver: one turn each, in this order; the Solver answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parley.schedule import ALL_SHARES, answered, relay
from parley.types import Answer, Cue, Seat, Turn

_ROLES = (
    ("Planner", "a plan of short steps that leads to the answer", "Plan"),
    ("Critic", "your critique of the plan: what is wrong, missing or unclear in it", "Critique"),
    ("Refiner", "the revised plan, with the critique worked in", "Plan"),
    ("Solver", "the answer", "Answer"),
)

SEATS = tuple(
    Seat(
        name=title.lower(),
        title=title,
        role=title.lower(),
        product=product,
        label=label,
        shares=ALL_SHARES,
    )
    for title, product, label in _ROLES
)

_SCHEDULE = relay(SEATS, range)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Each role reads the problem, all its evidence, and all earlier messages.

    Only the Solver is told the format of the answer.
    """

    seats: ClassVar[tuple[Seat, ...]] = SEATS
    max_turns: ClassVar[int] = _SCHEDULE.turns
    examples: ClassVar[str] = ""
    note: ClassVar[str] = ""

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        return _SCHEDULE.next(history)

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        return answered(history[-1], "the solver")
