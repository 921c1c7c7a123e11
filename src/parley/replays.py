"""Re-projection: one sender's recorded raw outputs, projected anew, and a receiver that answers.

The exchange of a finished arm is cut behind one turn, the sender's. Everything up to there is as
it was recorded, but for that turn's message, which another strategy makes of the same raw output.
Then the seat that answers in the topology does so, at once: one call. Of what it reads nothing
but the sender's message differs between two strategies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from parley.arm import Arm
from parley.donors import pinned
from parley.errors import ConfigError, DataError
from parley.ledger import again
from parley.protocols import Strategy, Topology
from parley.schedule import answered
from parley.store import read_episodes
from parley.types import (
    Answer,
    Ask,
    Call,
    Completion,
    Cue,
    Draft,
    Episode,
    Message,
    Problem,
    Seat,
    Turn,
)

Key = tuple[str, int]
"""(problem, sample)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """A topology cut short: behind the sender's turn, its answering seat answers.

    That seat hears what it would have heard of the turns there are, and the sender's in any case.
    """

    topology: Topology
    turn: int
    """The sender's turn."""

    @property
    def seats(self) -> tuple[Seat, ...]:
        return self.topology.seats

    @property
    def max_turns(self) -> int:
        return self.turn + 2

    @property
    def examples(self) -> str:
        return self.topology.examples

    @property
    def note(self) -> str:
        return self.topology.note

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        if len(history) > self.turn + 1:
            return ()
        cue = answering(self.topology)
        heard = sorted({turn for turn in cue.hears if turn < self.turn} | {self.turn})
        return (replace(cue, round=history[-1].round + 1, hears=tuple(heard)),)

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        return answered(history[-1], f"replay: right after turn {self.turn}")


def answering(topology: Topology) -> Cue:
    """The one cue that answers, where messages end nothing early. Raises ConfigError where none
    or several do."""
    history: tuple[Turn, ...] = ()
    while cues := topology.next(history):
        last = [cue for cue in cues if cue.answers]
        if len(last) == 1 == len(cues):
            return last[0]
        if last:
            break
        history += tuple(_silent(cue, len(history) + place) for place, cue in enumerate(cues))
    raise ConfigError(
        f"{type(topology).__name__}: not one seat answers, but several or none",
        allowed="an arm whose topology ends in one answer: split_evidence, pipeline, "
        "chain_of_agents",
        remedy="--from ARM names another arm",
    )


def _silent(cue: Cue, index: int) -> Turn:
    return Turn(
        index=index,
        seat=cue.seat.name,
        title=cue.seat.title,
        round=cue.round,
        hears=cue.hears,
        answers=False,
        calls=(),
        message=Message(text=""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """What one arm recorded up to the sender's turn, episode by episode."""

    folder: Path
    turn: int
    sender: str
    """The sender's seat."""
    episodes: Mapping[Key, Episode]

    @property
    def hash(self) -> str:
        """Changes with anything that the sender wrote, or that was written before."""
        return pinned([(key, _written(self.episodes[key])) for key in sorted(self.episodes)])


def outputs_of(folder: Path, topology: Topology, turn: int | None) -> Outputs:
    """The recorded outputs of one sender of an arm: of turn number `turn`, from 0 on, or of the
    first turn by another seat than the one that answers. Raises ConfigError where that turn is
    none, or is the answering seat's own."""
    receiver = answering(topology).seat.name
    recorded = list(read_episodes(folder))
    spoken: dict[int, str] = {}
    for episode in recorded:
        spoken.update({one.index: one.seat for one in episode.turns if one.message is not None})
    senders = [index for index, seat in sorted(spoken.items()) if seat != receiver]
    if not senders or (turn is not None and turn not in senders):
        said = "no turn" if turn is None else f"turn {turn}"
        raise ConfigError(
            f"{folder.name}: {said} holds a message of another seat than {receiver}, which answers",
            allowed=f"turns {', '.join(map(str, senders)) or '(none)'}",
            remedy="--turn N names the turn whose output is replayed; turns count from 0",
        )
    chosen = senders[0] if turn is None else turn
    return Outputs(
        folder=folder,
        turn=chosen,
        sender=spoken[chosen],
        episodes={
            (one.problem, one.sample): replace(one, turns=one.turns[: chosen + 1])
            for one in recorded
            if _reaches(one, chosen)
        },
    )


def _reaches(episode: Episode, turn: int) -> bool:
    """Whether all turns up to this one are recorded, and this one's message was written."""
    turns = episode.turns[: turn + 1]
    whole = [one.index for one in turns] == list(range(turn + 1))
    return whole and turns[-1].message is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """How episodes begin: the recorded turns, the sender's message projected by a strategy."""

    outputs: Outputs
    strategy: Strategy
    topology: Topology

    def __call__(self, problem: Problem, sample: int) -> Episode:
        """The recorded turns of a problem. Raises DataError where there are none, as for an
        episode that failed before the sender's turn."""
        episode = self.outputs.episodes.get((problem.id, sample))
        if episode is None:
            raise DataError(
                f"{self.outputs.folder.name} has no output of {self.outputs.sender} in turn "
                f"{self.outputs.turn} of problem {problem.id!r}, sample {sample}"
            )
        if episode.question != problem.question:
            raise DataError(
                f"{self.outputs.folder.name} asked another question under {problem.id!r}"
            )
        *earlier, last = episode.turns
        kept = tuple(
            replace(one, calls=tuple(replace(call, reused=True) for call in one.calls))
            for one in earlier
        )
        return replace(episode, turns=(*kept, self._projected(last)))

    def _projected(self, turn: Turn) -> Turn:
        """The turn as this strategy would have made it of the same raw output: of its first call.
        What a strategy would ask the sender in addition is not asked: that message is rejected."""
        (seat,) = (seat for seat in self.topology.seats if seat.name == turn.seat)
        cue = Cue(seat=seat, round=turn.round, hears=turn.hears)
        call = turn.calls[0]
        output = completion_of(call)
        message = self.strategy.project(Draft(cue=cue, outputs=(output,)))
        if isinstance(message, Ask):
            message = Message(text="", status="rejected")
        tokens = call.tokens
        if turn.message is None or message.kept != turn.message.kept:
            tokens = again(asdict(tokens), output, message.kept, False)
        return replace(turn, calls=(replace(call, tokens=tokens, reused=True),), message=message)


def replay_arm(source: Arm, projecting: Arm, outputs: Outputs, study: str) -> Arm:
    """The arm of a replay study: all of the source's settings, and the strategy of another arm
    for the sender's message alone. What it replays is part of its identity."""
    what = {
        "study": source.study,
        "arm": outputs.folder.name,
        "turn": outputs.turn,
        "sender": outputs.sender,
        "outputs": outputs.hash,
        "strategy": projecting.identity["strategy"],
        "code": projecting.identity["code"],
    }
    return replace(
        source,
        study=study,
        label=projecting.label,
        choices={
            **source.choices,
            "strategy": projecting.label,
            "replay": f"{source.label} turn {outputs.turn}",
        },
        identity={**source.identity, "replay": what},
        config={**source.config, "study": study, "replay": what},
        topology=Handoff(topology=source.topology, turn=outputs.turn),
        opening=Replay(outputs=outputs, strategy=projecting.strategy, topology=source.topology),
    )


def completion_of(call: Call) -> Completion:
    """The raw output of a recorded call."""
    return Completion(
        reasoning=call.reasoning,
        visible=call.visible,
        finish=call.finish,
        usage=call.usage,
        flags=call.flags,
        truncated_in_thinking=call.truncated_in_thinking,
    )


def _written(episode: Episode) -> list[Any]:
    """All outputs, and all messages but the sender's own, which is made anew."""
    *earlier, last = episode.turns
    return [
        *([one.seat, one.message and one.message.text, _raw(one)] for one in earlier),
        [last.seat, _raw(last)[:1]],
    ]


def _raw(turn: Turn) -> list[list[Any]]:
    return [[call.reasoning, call.visible, call.finish] for call in turn.calls]
