"""Topologies whose rounds are known before anybody speaks: tables of cues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from parley.errors import ConfigError
from parley.types import Answer, Cue, Seat, Turn

ALL_SHARES = tuple(range(64))
"""For a seat that sees all evidence, however many shares there are; a problem may have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Fixed rounds; the cues of one round are spoken at once."""

    rounds: tuple[tuple[Cue, ...], ...]

    @property
    def turns(self) -> int:
        """Turns, and so calls without asks, of an episode."""
        return sum(map(len, self.rounds))

    def next(self, history: Sequence[Turn]) -> tuple[Cue, ...]:
        """The round that follows; empty after the last one."""
        done = len(history)
        for cues in self.rounds:
            if done < len(cues):
                return cues
            done -= len(cues)
        return ()


def spent(turns: Sequence[Turn]) -> int:
    """Completion tokens of all calls of the turns, as the server counted them."""
    return sum(call.usage.completion for turn in turns for call in turn.calls)


def check_budget(tokens: int | None) -> None:
    """Refuses a budget of a topology that allows no call."""
    if tokens is not None and tokens < 1:
        raise ConfigError(
            f"topology.budget_tokens={tokens}",
            allowed="a whole number of completion tokens from 1 on, or null for no limit",
            remedy="budget=ARM grants what an arm of the study used",
        )


def relay(seats: Sequence[Seat], hears: Callable[[int], Sequence[int]]) -> Schedule:
    """Each seat once, one after the other; `hears` gives the turns that turn number n hears.
    The last one answers."""
    last = len(seats) - 1
    return Schedule(
        rounds=tuple(
            (Cue(seat=seat, round=turn, hears=tuple(hears(turn)), answers=turn == last),)
            for turn, seat in enumerate(seats)
        )
    )


def answered(turn: Turn, rule: str) -> Answer:
    """What a turn says, as the system's answer; the benchmark reads and grades its visible text."""
    call = turn.calls[0]
    truncated = call.truncated_in_thinking or call.finish == "length"
    return Answer(text=turn.visible, turn=turn.index, truncated=truncated, rule=rule)
