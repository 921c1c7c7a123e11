"""Replays: the same raw outputs, projected by several strategies, and one receiver that answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core_cases import Table, calls, chat, problem
from core_cases import arm as bare_arm
from parley import config
from parley.arm import Arm
from parley.building import build_arm
from parley.calls import Run
from parley.episode import run_episode
from parley.errors import ConfigError
from parley.ledger import check
from parley.progress import Progress
from parley.prompt import rebuild
from parley.protocols import Strategy
from parley.replays import Outputs, answering, outputs_of, replay_arm
from parley.store import find_arms, read_episodes, read_manifest
from parley.strategies.artifact import Artifact
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.strategies.pact import Pact
from parley.strategies.summary import Summary
from parley.study import Outcome, Settings, run_study
from parley.topologies.debate import Debate
from parley.topologies.pipeline import Pipeline
from parley.topologies.single import Single
from parley.topologies.split_evidence import SplitEvidence
from parley.tracking import NoTracker
from parley.types import Episode

BASE = ("model=scripted", "engine=scripted", "limit=4", "study=s")
PROJECTIONS = ("full", "conclusion", "artifact", "pact", "summary")


def arm(*overrides: str) -> Arm:
    return build_arm(config.resolve(config.compose_one([*BASE, *overrides])))


async def run(arms: Sequence[Arm], folder: Path) -> Outcome:
    progress = Progress(lambda _: None)
    return await run_study(arms, Settings(outputs=folder), progress=progress, tracker=NoTracker())


async def replayed(
    source: Arm, folder: Path, *strategies: str, turn: int | None = None
) -> tuple[Path, dict[str, list[Episode]]]:
    """The source's folder, and the replays' episodes by strategy, in one order."""
    await run([source], folder)
    (found,) = find_arms(folder / "s")
    outputs = outputs_of(found, source.topology, turn)
    arms = [replay_arm(source, arm(f"strategy={name}"), outputs, "r") for name in strategies]
    outcome = await run(arms, folder)
    assert outcome.failures == {}
    made = {str(read_manifest(path).choices["strategy"]): path for path in find_arms(folder / "r")}
    return found, {
        name: sorted(read_episodes(made[name]), key=lambda one: one.problem) for name in strategies
    }


def parts(episode: Episode, place: int) -> list[tuple[str, str]]:
    """(part, text) of the prompt of a turn's speech, without its history."""
    found = [episode.segments[index] for index in episode.turns[place].calls[0].prompt]
    return [(part, text) for part, _, text, _ in found if part != "history"]


@pytest.mark.parametrize(
    ("topology", "turn", "sender", "receiver"),
    [
        ("split_evidence", None, 0, "agent_b"),
        ("split_evidence", 2, 2, "agent_b"),
        ("pipeline", None, 0, "solver"),
        ("pipeline", 1, 1, "solver"),
        ("chain_of_agents_4", None, 0, "worker_4"),
        ("chain_of_agents_4", 2, 2, "worker_4"),
    ],
)
async def test_only_the_senders_message_differs_in_what_the_receiver_reads(
    tmp_path: Path, topology: str, turn: int | None, sender: int, receiver: str
) -> None:
    source = arm("strategy=full", f"topology={topology}")
    folder, made = await replayed(source, tmp_path, *PROJECTIONS, turn=turn)
    recorded = sorted(read_episodes(folder), key=lambda one: one.problem)
    for place, original in enumerate(recorded):
        episodes = [made[name][place] for name in PROJECTIONS]
        for episode in episodes:
            assert [one.seat for one in episode.turns[: sender + 1]] == [
                one.seat for one in original.turns[: sender + 1]
            ]
            # The same raw outputs, and all earlier turns as they were.
            for was, now in zip(original.turns, episode.turns[: sender + 1], strict=False):
                assert (was.calls[0].reasoning, was.calls[0].visible) == (
                    now.calls[0].reasoning,
                    now.calls[0].visible,
                )
                assert now.calls[0].reused
                assert now.calls[0].request_hash == was.calls[0].request_hash
                assert now.calls[0].usage == was.calls[0].usage
                assert was.index == sender or now.message == was.message
            # One call is made, with one seed, and its prompt differs in the history alone.
            last = episode.turns[-1]
            assert len(episode.turns) == sender + 2
            assert (last.seat, last.answers, last.calls[0].reused) == (receiver, True, False)
            assert sender in last.hears
            assert last.calls[0].seed == episodes[0].turns[-1].calls[0].seed
            assert parts(episode, -1) == parts(episodes[0], -1)
        heard = {name: made[name][place].turns[sender].message for name in PROJECTIONS}
        assert heard["full"] == original.turns[sender].message
        assert heard["conclusion"] is not None
        assert heard["conclusion"].text == original.turns[sender].visible
        assert len({message.text for message in heard.values() if message}) > 1


async def test_the_last_message_as_it_was_gives_the_recorded_answer(tmp_path: Path) -> None:
    """The same request to the last byte: a replay by the source's own strategy changes nothing."""
    source = arm("strategy=pact", "topology=split_evidence")
    folder, made = await replayed(source, tmp_path, "pact", "full", turn=2)
    for was, now in zip(
        sorted(read_episodes(folder), key=lambda one: one.problem), made["pact"], strict=True
    ):
        assert now.turns[-1].calls[0].request_hash == was.turns[-1].calls[0].request_hash
        assert (now.score, now.turns[-1].visible) == (was.score, was.turns[-1].visible)
        assert [one.calls[0].tokens for one in now.turns] == [
            one.calls[0].tokens for one in was.turns
        ]


async def test_a_replay_says_what_it_replays_and_resumes(tmp_path: Path) -> None:
    source = arm("strategy=full", "topology=split_evidence")
    folder, _ = await replayed(source, tmp_path, "full", "pact")
    outputs = outputs_of(folder, source.topology, None)
    for path in find_arms(tmp_path / "r"):
        manifest = read_manifest(path)
        what = manifest.identity["replay"]
        assert (what["study"], what["arm"]) == ("s", folder.name)
        assert (what["turn"], what["sender"], what["outputs"]) == (0, "agent_a", outputs.hash)
        assert what["strategy"]["_target_"].startswith("parley.strategies.")
        assert manifest.choices["replay"] == "full turn 0"
        assert manifest.status == "finished"
    again = [replay_arm(source, arm(f"strategy={s}"), outputs, "r") for s in ("full", "pact")]
    outcome = await run(again, tmp_path)
    assert (outcome.episodes, len(find_arms(tmp_path / "r"))) == (0, 2)
    other = replace(outputs, episodes=dict(list(outputs.episodes.items())[1:]))
    assert other.hash != outputs.hash
    made = [replay_arm(source, source, one, "r").name for one in (outputs, other)]
    assert made[0] != made[1]


async def test_what_the_source_lacks_is_an_outcome_and_stays_in_the_denominator(
    tmp_path: Path,
) -> None:
    source = arm("strategy=full", "topology=split_evidence")
    await run([source], tmp_path)
    (folder,) = find_arms(tmp_path / "s")
    more = replace(source, limit=6)
    outputs = outputs_of(folder, source.topology, None)
    outcome = await run([replay_arm(more, more, outputs, "r")], tmp_path)
    assert outcome.errors == {"DataError": 2}
    (made,) = find_arms(tmp_path / "r")
    failed = [one.failure for one in read_episodes(made) if one.failure]
    assert [(one.error, one.repeat) for one in failed] == [("DataError", False)] * 2
    assert "has no output of agent_a in turn 0" in failed[0].message
    assert read_manifest(made).status == "finished"


def test_the_answering_cue_is_the_topologys_own() -> None:
    plain = answering(SplitEvidence())
    assert (plain.seat.name, plain.hears, plain.answers) == ("agent_b", (0, 1, 2), True)
    assert answering(SplitEvidence(turns=8, early_exit=True)).round == 7
    assert answering(SplitEvidence(authority="sender")).seat.name == "agent_a"
    assert len(answering(SplitEvidence(receiver_evidence="all")).seat.shares) > 2
    assert answering(Pipeline()).seat.name == "solver"
    with pytest.raises(ConfigError, match="not one seat answers"):
        answering(Debate())
    with pytest.raises(ConfigError, match="not one seat answers"):
        answering(Table(plan=(((0, False),),)))


async def test_a_turn_that_is_no_others_message_is_refused(tmp_path: Path) -> None:
    source = arm("strategy=full", "topology=split_evidence")
    await run([source], tmp_path)
    (folder,) = find_arms(tmp_path / "s")
    for turn in (1, 3, 9):  # the receiver's own, its answer, none at all
        with pytest.raises(ConfigError, match=f"turn {turn} holds") as caught:
            outputs_of(folder, source.topology, turn)
        assert "turns 0, 2" in str(caught.value)
    sender = SplitEvidence(authority="sender")
    assert outputs_of(folder, sender, None).turn == 1
    await run([arm("topology=single", "study=alone")], tmp_path)
    (alone,) = find_arms(tmp_path / "alone")
    with pytest.raises(ConfigError, match="no turn holds"):
        outputs_of(alone, Single(), None)


def source_of(text: str, *, prefix: str = "<think>\nI wonder.\n</think>\n") -> Any:
    return lambda request: f"{prefix}{text}"


async def one(strategy: Strategy, text: str, source: Strategy | None = None) -> Episode:
    """The replay of one episode whose sender wrote `text`."""
    played = bare_arm(source or Full(), topology=SplitEvidence(turns=2))
    first = await run_episode(Run(arm=played, chat=chat(played, source_of(text))), problem(), 0)
    outputs = Outputs(
        folder=Path("source"),
        turn=0,
        sender="agent_a",
        episodes={("p1", 0): replace(first, turns=first.turns[:1])},
    )
    projecting = replace(played, strategy=strategy, identity={"strategy": {}, "code": {}})
    again = replay_arm(played, projecting, outputs, "r")
    talked = chat(again, source_of("Answer: Maple Ridge"))
    episode = await run_episode(Run(arm=again, chat=talked), problem(), 0)
    assert len(talked.requests) == 1
    made = episode.turns[-1]
    assert rebuild(episode, made, made.calls[0], ()) == talked.sent[0]
    assert all(check(call.tokens, call.usage) for call in calls(episode))
    return episode


RECORD = "Action: Find her.\nState: She painted it.\nResult: Clara Barlow"


@pytest.mark.parametrize(
    ("strategy", "text", "status", "heard"),
    [
        (Full(), RECORD, "ok", f"I wonder.\n{RECORD}"),
        (Conclusion(), RECORD, "ok", RECORD),
        (Pact(), RECORD, "ok", RECORD),
        (Pact(fields=("Result",)), RECORD, "ok", "Result: Clara Barlow"),
        (Pact(), "She painted it.", "unparsed", "She painted it."),
        (Pact(fallback="empty"), "She painted it.", "unparsed", ""),
        (Artifact(), "Sure.\nFact: She painted it.", "ok", "She painted it."),
        (Artifact(), "She painted it.", "unparsed", "She painted it."),
        (Summary(), "She painted it.", "unparsed", "She painted it."),
        (Summary(by="call"), "She painted it.", "rejected", ""),
    ],
)
async def test_the_status_shows_how_an_output_met_the_strategy(
    strategy: Strategy, text: str, status: str, heard: str
) -> None:
    episode = await one(strategy, text)
    message = episode.turns[0].message
    assert message is not None
    assert (message.status, message.text) == (status, heard)


async def test_an_ask_of_the_source_is_no_part_of_the_replayed_output() -> None:
    episode = await one(Conclusion(), "She painted it.", source=Summary(by="call"))
    assert [len(turn.calls) for turn in episode.turns] == [1, 1]


@settings(max_examples=40)
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\r<>|"), max_size=80))
async def test_any_output_can_be_projected_anew(text: str) -> None:
    wholes = set()
    for strategy in (Full(), Conclusion(), Artifact(), Pact(), Summary()):
        episode = await one(strategy, text)
        assert episode.failure is None
        call = episode.turns[0].calls[0]
        wholes.add((call.usage.prompt, call.usage.completion))
    assert len(wholes) == 1
