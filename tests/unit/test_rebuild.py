"""The exact prompts come back from a record: question, evidence and messages are stored once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import store_cases
from core_cases import Recorder, Table, arm, play, problem
from parley.arm import Arm
from parley.channels.identity import Identity
from parley.prompt import rebuild
from parley.protocols import Passage, Strategy
from parley.store import ArmWriter, read_episodes
from parley.strategies.artifact import Artifact
from parley.strategies.concise import Concise
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.strategies.pact import Pact
from parley.strategies.summary import Summary
from parley.types import Episode, Message, Paragraph, Request

STRATEGIES: dict[str, Strategy] = {
    "full": Full(),
    "concise": Concise(),
    "conclusion": Conclusion(),
    "conclusion_final": Conclusion(portion="final"),
    "summary": Summary(),
    "summary_call": Summary(by="call"),
    "artifact": Artifact(evidence=True, candidate=True),
    "pact": Pact(),
    "pact_structured": Pact(structured=True),
}
CONTROL = ("<think>", "</think>", "[INST]")
WILD = "Orr\u2028lies <|im_end|>\n\n<think> [INST] far.\r\n \u0085"
"""Text with control strings, blank lines and line separators, from a data set or a model."""


def wild(request: Request) -> str:
    """A different raw output for every call, some of them empty or cut in thinking."""
    words = f"<think>\nNote {request.seed}.\n\nAnd {WILD}\n</think>\n" if request.thinking else ""
    shapes = (
        f"{words}{WILD}\nFact: f{request.seed}\nSummary: s\nConclusion: c\nAction: a\nState: s",
        f"{words}",
        f"<think>\n{WILD}",
        f"{words}{{'Action': 'a', 'State': 's', 'Result': 'r'}}",
    )
    return shapes[request.seed % len(shapes)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noisy:
    """Drops messages, changes them, empties them, by who hears what; the rest goes through."""

    def deliver(self, message: Message, passage: Passage) -> Message | None:
        match (passage.source + passage.cue.round) % 4:
            case 0:
                return None
            case 1:
                return replace(message, text=f"{message.text[:20]} <|im_start|> changed\n\n")
            case 2:
                return replace(message, text="")
        return message


def same(episode: Episode, talked: Recorder, given: Arm) -> None:
    rebuilt = [
        rebuild(episode, turn, call, given.model.control)
        for turn in episode.turns
        for call in turn.calls
    ]
    assert rebuilt == talked.sent


def read_back(folder: Path, episode: Episode) -> Episode:
    with ArmWriter.open(folder, store_cases.manifest()) as writer:
        writer.append(episode)
    (read,) = read_episodes(folder)
    return read


def given_arm(strategy: Strategy, **changes: Any) -> Arm:
    return arm(strategy, **{"control": CONTROL, "max_tokens": 60, **changes})


ASKED = problem(
    question=f"Where is {WILD}?",
    options=("iron\n", "gold"),
    shares=((Paragraph(title="O\nrr", text=WILD), Paragraph(title="", text="")), ()),
)


@pytest.mark.parametrize("shots", [0, 2])
@pytest.mark.parametrize("reasoning", ["native", "prompted"])
@pytest.mark.parametrize("channel", [Identity(), Noisy()], ids=["identity", "noisy"])
@pytest.mark.parametrize("name", STRATEGIES)
async def test_prompts_are_rebuilt_as_they_were_sent(
    name: str, channel: Identity | Noisy, reasoning: str, shots: int, tmp_path: Path
) -> None:
    given = given_arm(STRATEGIES[name], channel=channel, reasoning=reasoning, shots=shots)
    for sample in range(4):
        episode, talked = await play(given, wild, question=ASKED, sample=sample)
        assert episode.failure is None
        assert len(talked.sent) >= 4
        same(episode, talked, given)
    same(read_back(tmp_path, episode), talked, given)


async def test_what_was_heard_is_stored_where_it_is_not_what_was_written() -> None:
    quiet, _ = await play(given_arm(Concise()), wild, question=ASKED)
    assert [turn.heard for turn in quiet.turns] == [()] * 4
    noisy, talked = await play(given_arm(Concise(), channel=Noisy()), wild, question=ASKED)
    last = dict(noisy.turns[3].heard)
    assert last[1] is None
    assert last[2] is not None
    assert "changed" in last[2]
    assert 0 not in last, "heard as it was written"
    assert talked.sent[3][-1][1].count("Message from") == 2


async def test_answers_that_are_heard_and_rounds_spoken_at_once(tmp_path: Path) -> None:
    plan = (((0, False), (1, True), (2, False)), ((0, True), (1, False)), ((2, True),))
    for channel in (Identity(), Noisy()):
        given = given_arm(Full(), topology=Table(plan=plan), channel=channel)
        episode, talked = await play(given, wild, question=ASKED)
        assert len(episode.turns) == 6
        same(episode, talked, given)
        same(read_back(tmp_path / type(channel).__name__, episode), talked, given)


async def test_a_failed_episode_is_rebuilt_as_far_as_it_went() -> None:
    given = given_arm(Summary(by="call"), topology=Table(plan=(((0, False), (1, False)),) * 2))
    made: list[Request] = []

    def script(request: Request) -> str:
        made.append(request)
        if len(made) == 6:
            raise ValueError("a mistake")
        return "Said."

    episode, talked = await play(given, script, question=ASKED)
    assert episode.failure is not None
    rebuilt = [
        rebuild(episode, turn, call, CONTROL) for turn in episode.turns for call in turn.calls
    ]
    assert len(rebuilt) > 4
    assert all(messages in talked.sent for messages in rebuilt)


async def test_long_texts_are_stored_once() -> None:
    episode, _ = await play(given_arm(Full()), wild, question=ASKED)
    parts = [part for part, *_ in episode.segments]
    assert parts.count("question") == 1
    assert parts.count("evidence") == 1, "the other share is empty"
    assert parts.count("history") == 3
    assert len(set(episode.segments)) == len(episode.segments)
    assert all(not entry[-2] for entry in episode.segments if entry[0] == "history")
