"""Chain of agents (arXiv 2406.02818): each worker reads its part and the message before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parley.errors import ConfigError
from parley.schedule import Schedule, answered, relay
from parley.types import Answer, Cue, Seat, Turn

_MANAGER = Seat(
    name="manager",
    title="Manager",
    role="manager",
    product="the answer",
    label="Answer",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainOfAgents:
    """Worker n holds share n of the evidence and hears the last message only.

    Without a manager the last worker answers. A worker beyond the shares that a problem has
    reads the question alone, as all do where there is no evidence.
    """

    examples: ClassVar[str] = ""
    note: ClassVar[str] = ""

    workers: int = 2
    """The paper: 2 on split evidence, 4 where it is set beside the pipeline."""
    manager: bool = False
    """Whether a manager without evidence answers from the last message, as in the original work.
    The paper mentions none, so its last worker answers."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise ConfigError(
                f"topology.workers={self.workers}",
                allowed="a whole number from 1 on",
                remedy="topology.workers=2",
            )

    @property
    def seats(self) -> tuple[Seat, ...]:
        workers = tuple(_worker(number) for number in range(self.workers))
        return (*workers, _MANAGER) if self.manager else workers

    @property
    def max_turns(self) -> int:
        return self._schedule().turns

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        return self._schedule().next(history)

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        return answered(history[-1], "the manager" if self.manager else "the last worker")

    def _schedule(self) -> Schedule:
        return relay(self.seats, lambda turn: range(max(turn - 1, 0), turn))


def _worker(number: int) -> Seat:
    return Seat(
        name=f"worker_{number + 1}",
        title=f"Worker {number + 1}",
        role="worker",
        product="all that is known so far and helps to answer the question",
        label="Findings",
        shares=(number,),
    )
