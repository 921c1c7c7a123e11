"""Two symmetric agents with split evidence, taking turns; the last to speak answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from parley.errors import ConfigError
from parley.parsing import final_answer
from parley.prompt import fill
from parley.schedule import ALL_SHARES, answered
from parley.types import Answer, Cue, Seat, Turn

SEATS = tuple(
    Seat(
        name=f"agent_{letter.lower()}",
        title=f"Agent {letter}",
        role="agent",
        product="the fact from your paragraphs that helps most to answer the question",
        label="Fact",
        shares=(share,),
    )
    for share, letter in enumerate("AB")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitEvidence:
    """Agents A and B alternate; each hears all earlier messages, its own included.

    Who answers: the seat of turn number `turns`, always agent B as `turns` is even. The controls
    `receiver_evidence` and `authority` change this last turn alone: all messages stay those of the
    arm without them, and an exchange that ends early never comes to it.

    Exit rule, with `early_exit`: from the second turn on, a published message with a line that
    starts with "Answer:" ends the exchange, and that line is the answer. The rule reads messages,
    never raw output, so a strategy that lets no such line through plays all turns. A line in
    reasoning that was published does not count, nor does the last line of an output that was cut
    short: "Answer: 70" may have been going to be "Answer: 70 + 5 = 75".
    """

    turns: int = 4
    """Turns at most, even. The paper: 4 in its experiments, 8 in its diagnostics."""
    early_exit: bool = False
    """Whether a message may end the exchange. The paper's diagnostics say so without the rule."""

    receiver_evidence: Literal["own", "all"] = "own"
    """Evidence of the turn that answers. `all` is a control: with it in hand, what is a message
    still worth?"""
    authority: Literal["receiver", "sender"] = "receiver"
    """Who has the last turn. `receiver`: agent B, who was sent the last message. `sender` is a
    control: agent A, who wrote it, answers in B's place, and that answer stands."""

    def __post_init__(self) -> None:
        if self.turns < 2 or self.turns % 2:
            raise ConfigError(
                f"topology.turns={self.turns}",
                allowed="an even number from 2 on, so that agent B answers",
                remedy="topology.turns=4",
            )

    @property
    def seats(self) -> tuple[Seat, ...]:
        return SEATS

    @property
    def max_turns(self) -> int:
        return self.turns

    @property
    def examples(self) -> str:
        return "split_evidence"

    @property
    def note(self) -> str:
        return fill("note_early_exit") if self.early_exit else ""

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        done = len(history)
        if done == self.turns or self._closed(history) is not None:
            return ()
        answers = done == self.turns - 1
        seat = self._answering() if answers else SEATS[done % 2]
        return (Cue(seat=seat, round=done, hears=tuple(range(done)), answers=answers),)

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        closing, last = self._closed(history), history[-1]
        if closing is not None:
            return Answer(text=f"Answer: {closing}", turn=last.index, rule="closing message")
        return answered(last, "last turn")

    def _answering(self) -> Seat:
        seat = SEATS[0 if self.authority == "sender" else 1]
        return seat if self.receiver_evidence == "own" else replace(seat, shares=ALL_SHARES)

    def _closed(self, history: tuple[Turn, ...]) -> str | None:
        message = history[-1].message if self.early_exit and len(history) > 1 else None
        if message is None or not message.text:
            return None
        calls, text = history[-1].calls, message.text
        if any(span.source == "reasoning" for span in message.kept):
            # An answer weighed in published reasoning closes nothing, as it would not be graded.
            shown = [span for span in message.kept if span.source == "visible"]
            text = "".join(calls[s.output].visible[s.start : s.end] for s in shown)
        if calls[message.kept[-1].output if message.kept else 0].finish == "length":
            text = text[: text.rfind("\n") + 1]
        return final_answer(text)
