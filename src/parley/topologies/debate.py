"""Multi-agent debate (Du et al., 2024): answers, rounds of revision, and a vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from parley.errors import ConfigError
from parley.grading.voting import majority
from parley.prompt import fill
from parley.schedule import ALL_SHARES, Schedule
from parley.types import Answer, Cue, Seat, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Debate:
    """An opening and `rounds` rounds; in each, all debaters speak at once.

    From the first round on each hears the messages of the round before, the others' and its own.
    Up to the last round a debater publishes what the strategy lets through, and is told to end
    its message with an "Answer:" line: `conclusion` and `full` keep that line, a record such as
    PACT's drops it. In the last round nobody hears anything more, so all debaters answer, in the
    benchmark's format. Their majority wins; votes and ties are counted as `parley.grading.voting`
    says: of answers with equally many votes, that of the debater with the lowest number wins.
    """

    examples: ClassVar[str] = ""

    agents: int = 4
    """Debaters. The paper: 4."""
    rounds: int = 3
    """Rounds after the opening. The paper: 3, which makes 4 x 4 calls with 4 debaters."""
    evidence: Literal["all", "split"] = "all"
    """`all`: every debater sees all evidence. `split`: odd numbers see the first share, even ones
    the second. The paper does not say."""

    def __post_init__(self) -> None:
        if self.agents < 2 or self.rounds < 0:
            raise ConfigError(
                f"topology.agents={self.agents}, topology.rounds={self.rounds}",
                allowed="at least two agents, and no or more rounds after the opening",
                remedy="topology.agents=4 topology.rounds=3",
            )

    @property
    def seats(self) -> tuple[Seat, ...]:
        return tuple(self._seat(number) for number in range(self.agents))

    @property
    def max_turns(self) -> int:
        return self._schedule().turns

    @property
    def note(self) -> str:
        return fill("note_debate")

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        return self._schedule().next(history)

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        return majority(history[-self.agents :])

    def _schedule(self) -> Schedule:
        return Schedule(rounds=tuple(self._round(number) for number in range(self.rounds + 1)))

    def _round(self, number: int) -> tuple[Cue, ...]:
        begin = max(number - 1, 0) * self.agents
        heard = tuple(range(begin, number * self.agents))
        return tuple(
            Cue(seat=seat, round=number, hears=heard, answers=number == self.rounds)
            for seat in self.seats
        )

    def _seat(self, number: int) -> Seat:
        return Seat(
            name=f"debater_{number + 1}",
            title=f"Debater {number + 1}",
            role="debater",
            product="your answer and the reasons for it",
            label="Position",
            shares=ALL_SHARES if self.evidence == "all" else (number % 2,),
        )
