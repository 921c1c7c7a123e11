"""Arms that hear another arm's records: they run after it, pin what they read, and never guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parley import config
from parley.arm import Arm
from parley.building import build_arm
from parley.donors import waves, with_donor
from parley.errors import ConfigError
from parley.progress import Progress
from parley.store import find_arms, read_episodes, read_manifest
from parley.study import Outcome, Settings, run_study
from parley.tracking import NoTracker

BASE = ("model=scripted", "engine=scripted", "limit=4", "study=s", "topology=split_evidence")
SHUFFLED = ("strategy=conclusion", "channel=shuffled_message")


def arm(*overrides: str) -> Arm:
    return build_arm(config.resolve(config.compose_one([*BASE, *overrides])))


async def run(arms: Sequence[Arm], folder: Path) -> Outcome:
    progress = Progress(lambda _: None)
    return await run_study(arms, Settings(outputs=folder), progress=progress, tracker=NoTracker())


def read(folder: Path, **choices: str) -> list[Path]:
    """The study's arms with these choices."""
    return [
        path
        for path in find_arms(folder / "s")
        if all(read_manifest(path).choices[key] == value for key, value in choices.items())
    ]


def test_needs_are_the_channels_donor() -> None:
    assert arm("strategy=pact").needs == ()
    assert arm(*SHUFFLED).needs == ("conclusion",)
    assert arm("channel=length_matched").needs == ("pact",)
    assert arm("channel=length_matched", "channel.donor=summary").needs == ("summary",)
    first, second = arm(*SHUFFLED), arm("strategy=pact")
    assert waves([first, second]) == [[second], [first]]
    assert waves([second]) == [[second]]


async def test_an_arm_runs_after_the_one_it_needs_and_hears_it(tmp_path: Path) -> None:
    cut = ("channel=length_matched", "channel.donor=conclusion")
    arms = [arm(*SHUFFLED), arm(*cut), arm("strategy=conclusion")]
    outcome = await run([*arms, arm("strategy=pact")], tmp_path)
    assert outcome.failures == {}
    assert (outcome.episodes, len(outcome.folders), len(outcome.active)) == (16, 4, 4)
    (donor,) = read(tmp_path, strategy="conclusion", channel="identity")
    (shuffled,) = read(tmp_path, channel="shuffled_message")
    written: dict[tuple[int, str | None], str] = {
        (turn.index, turn.message.text): episode.problem
        for episode in read_episodes(donor)
        for turn in episode.turns
        if turn.message
    }
    for episode in read_episodes(shuffled):
        assert episode.failure is None
        heard = [pair for turn in episode.turns for pair in turn.heard]
        assert len(heard) == 4
        assert episode.problem not in {written[pair] for pair in heard}
    pinned = read_manifest(shuffled).identity["donor"]
    assert pinned["arm"] == donor.name
    (matched,) = read(tmp_path, channel="length_matched(donor=conclusion)")
    assert any(turn.heard for episode in read_episodes(matched) for turn in episode.turns)


async def test_the_same_command_resumes_and_other_messages_are_another_arm(tmp_path: Path) -> None:
    both = [arm("strategy=conclusion"), arm(*SHUFFLED)]
    await run(both, tmp_path)
    again = await run(both, tmp_path)
    assert (again.failures, again.episodes) == ({}, 0)
    assert len(read(tmp_path, channel="shuffled_message")) == 1
    await run([replace(one, limit=5) for one in both], tmp_path)
    assert len(read(tmp_path, channel="shuffled_message")) == 2


async def test_a_missing_donor_fails_its_arm_alone(tmp_path: Path) -> None:
    outcome = await run([arm(*SHUFFLED), arm("strategy=pact")], tmp_path)
    (message,) = outcome.failures.values()
    assert "the arm 'conclusion' of study s" in message
    assert "channel=identity" in message
    assert outcome.episodes == 4
    assert read(tmp_path, channel="shuffled_message") == []


@pytest.mark.parametrize("other", ["seed=7", "answer=none", "channel=no_message"])
async def test_an_arm_that_differs_in_more_is_no_donor(tmp_path: Path, other: str) -> None:
    outcome = await run([arm("strategy=conclusion", other), arm(*SHUFFLED)], tmp_path)
    assert len(outcome.failures) == 1


async def test_an_unfinished_donor_is_none(tmp_path: Path) -> None:
    failing = ("strategy=conclusion", "engine.fail_every=1")
    outcome = await run([arm(*failing), arm(*SHUFFLED, "engine.fail_every=1")], tmp_path)
    (message,) = outcome.failures.values()
    assert "is stopped, not finished" in message


async def test_a_donor_may_be_named_by_its_folder(tmp_path: Path) -> None:
    await run([arm("strategy=pact", "folder=mine"), arm("strategy=pact", "seed=7")], tmp_path)
    named = arm(*SHUFFLED, "channel.donor=mine")
    outcome = await run([named], tmp_path)
    assert outcome.failures == {}
    built, episodes = with_donor(named, tmp_path / "s")
    assert built.identity["donor"]["arm"] == "mine"
    assert [len(episode.turns) for episode in episodes] == [4] * 4
    calls = [call for episode in episodes for turn in episode.turns for call in turn.calls]
    assert {(call.prompt, call.reasoning, call.visible) for call in calls} == {((), "", "")}
    assert all(turn.published_tokens for episode in episodes for turn in episode.turns[:3])
    assert [episode.problem for episode in episodes] == sorted(e.problem for e in episodes)


async def test_of_several_donors_none_is_chosen(tmp_path: Path) -> None:
    donor: Any = arm("strategy=conclusion")
    await run([donor, replace(donor, identity={**donor.identity, "prompts": "older"})], tmp_path)
    with pytest.raises(ConfigError, match=r"but 2: .*conclusion"):
        with_donor(replace(arm(*SHUFFLED), identity=await identified(tmp_path)), tmp_path / "s")


async def identified(folder: Path) -> Any:
    """The identity of a recorded arm, data and all."""
    return read_manifest(read(folder, strategy="conclusion")[0]).identity
