"""Several answers of one agent with all evidence, and their majority."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parley.errors import ConfigError
from parley.grading.voting import majority
from parley.schedule import ALL_SHARES, Schedule, check_budget, spent
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

    With a budget they are drawn one after the other until it is spent, `most_votes` at the most.
    A vote may use all that is left, so that the budget is never exceeded: the last
    one is often cut short, and a vote without an answer counts for none.

    Votes, ties and turns without an answer are counted as `parley.grading.voting` says: of
    answers with equally many votes, the earliest wins. Greedy sampling makes all votes alike.
    """

    seats: ClassVar[tuple[Seat, ...]] = (SEAT,)
    examples: ClassVar[str] = ""
    note: ClassVar[str] = ""

    votes: int = 8
    """Answers drawn for one problem, each a call. 8 as the paper's avg@8 draws."""
    budget_tokens: int | None = None
    """Completion tokens of all votes together; None is no limit. budget=ARM sets it to what that
    arm used."""
    most_votes: int = 64
    """Most votes that a budget buys: answers of a few tokens would make hundreds."""
    least_tokens: int = 16
    """Tokens that must be left of a budget for another vote; fewer would hold no answer. The first
    vote is drawn all the same."""

    def __post_init__(self) -> None:
        check_budget(self.budget_tokens)
        if self.least_tokens < 1:
            raise ConfigError(
                f"topology.least_tokens={self.least_tokens}",
                allowed="a whole number from 1 on",
                remedy="topology.least_tokens=16",
            )
        for name in ("votes", "most_votes"):
            if getattr(self, name) < 1:
                raise ConfigError(
                    f"topology.{name}={getattr(self, name)}",
                    allowed="a whole number from 1 on; 1 is `single`",
                    remedy="topology.votes=8 topology.most_votes=64",
                )

    @property
    def max_turns(self) -> int:
        return self.votes if self.budget_tokens is None else self.most_votes

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        if self.budget_tokens is None:
            votes = (Cue(seat=SEAT, round=0, answers=True),) * self.votes
            return Schedule(rounds=(votes,)).next(history)
        left = self.budget_tokens - spent(history)
        if history and (left < self.least_tokens or len(history) >= self.most_votes):
            return ()
        return (Cue(seat=SEAT, round=len(history), answers=True, max_tokens=left),)

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        return majority(history)
