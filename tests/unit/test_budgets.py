"""Budgets: what is granted is what the donor measurably used, and no more than that is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_cases import arm as bare_arm
from core_cases import calls, play
from parley import config
from parley.analysis.frames import load, plain_rows
from parley.analysis.notes import notes
from parley.analysis.tables import results
from parley.arm import Arm
from parley.budgets import at_least_one, names, preset, spent
from parley.building import build_arm
from parley.donors import waves
from parley.errors import ConfigError
from parley.progress import Progress
from parley.protocols import Topology
from parley.store import find_arms, read_episodes, read_manifest
from parley.strategies.full import Full
from parley.study import Outcome, Settings, run_study
from parley.topologies.self_consistency import SelfConsistency
from parley.topologies.single import Single
from parley.tracking import NoTracker
from parley.types import Episode, Request

BASE = ("model=scripted", "engine=scripted", "limit=4", "study=s")
DONOR = ("topology=split_evidence", "strategy=pact")
SINGLE = ("topology=single", "strategy=conclusion", "budget=pact")


def arm(*overrides: str) -> Arm:
    return build_arm(config.resolve(config.compose_one([*BASE, *overrides])))


async def run(arms: Sequence[Arm], folder: Path) -> Outcome:
    progress = Progress(lambda _: None)
    return await run_study(arms, Settings(outputs=folder), progress=progress, tracker=NoTracker())


def of(folder: Path, topology: str) -> Path:
    """The one recorded arm of the study with this topology."""
    (found,) = (
        path
        for path in find_arms(folder / "s")
        if read_manifest(path).choices["topology"] == topology
    )
    return found


def used(episode: Episode) -> int:
    return sum(call.usage.completion for call in calls(episode))


async def test_the_grant_is_the_donors_mean_as_the_report_measures_it(tmp_path: Path) -> None:
    arms = [arm(*SINGLE), arm(*SINGLE, "topology=self_consistency"), arm(*DONOR, "samples=2")]
    assert waves(arms) == [arms[2:], arms[:2]]
    outcome = await run(arms, tmp_path)
    assert (outcome.failures, outcome.episodes) == ({}, 16)
    frames = results(load(tmp_path / "s"))
    table = {str(row["topology"]): row for row in plain_rows(frames)}
    granted = round(table["split_evidence"]["tokens_completion"])
    assert granted == round(fmean(spent(of(tmp_path, "split_evidence")).values()))
    for topology in ("single", "self_consistency"):
        assert table[topology]["tokens_granted"] == granted
        assert table[topology]["budget"] == "pact"
        assert 0 < table[topology]["tokens_completion"] <= granted
        folder = of(tmp_path, topology)
        manifest = read_manifest(folder)
        assert manifest.label == "conclusion budget=pact"
        assert "-budget=pact-" in folder.name
        pinned = manifest.identity["donor"]
        assert (pinned["arm"], pinned["tokens"]) == (of(tmp_path, "split_evidence").name, granted)
        for episode in read_episodes(folder):
            assert episode.granted == granted
            assert calls(episode)[0].max_tokens == granted
    assert table["split_evidence"]["tokens_granted"] is None
    again = await run(arms, tmp_path)
    assert (again.failures, again.episodes) == ({}, 0)


async def test_an_oracle_grants_each_problem_its_own_and_says_so(tmp_path: Path) -> None:
    oracle = arm(*SINGLE, "budget_per_problem=true")
    outcome = await run([arm(*DONOR), oracle], tmp_path)
    assert outcome.failures == {}
    own = spent(of(tmp_path, "split_evidence"))
    assert len(set(own.values())) > 1
    folder = of(tmp_path, "single")
    assert {one.problem: one.granted for one in read_episodes(folder)} == own
    assert {one.problem: calls(one)[0].max_tokens for one in read_episodes(folder)} == own
    manifest = read_manifest(folder)
    assert manifest.label == "conclusion budget=pact(oracle)"
    assert manifest.choices["budget"] == "pact(oracle)"
    assert manifest.identity["donor"]["per_problem"] is True
    frames = load(tmp_path / "s")
    table = results(frames)
    assert any("oracle" in note for note in notes(frames, table))
    assert table["tokens_granted"].dropna().tolist() == [fmean(own.values())]


async def test_an_oracle_needs_every_problem(tmp_path: Path) -> None:
    oracle = arm(*SINGLE, "budget_per_problem=true", "limit=6")
    outcome = await run([arm(*DONOR), oracle], tmp_path)
    (message,) = outcome.failures.values()
    assert "has no record of 2 of 6 problems" in message
    assert "limit=4" in message


async def test_a_missing_donor_is_an_error_and_leaves_the_others_alone(tmp_path: Path) -> None:
    outcome = await run([arm(*DONOR), arm(*SINGLE, "budget=summary")], tmp_path)
    (message,) = outcome.failures.values()
    assert "the arm 'summary' of study s, whose tokens budget= grants" in message
    assert "but 0: none" in message
    assert outcome.episodes == 4


@pytest.mark.parametrize(
    "other", ["seed=7", "answer=none", "sampling.temperature=0.1", "channel=no_message"]
)
async def test_an_arm_that_differs_in_more_is_no_donor(tmp_path: Path, other: str) -> None:
    outcome = await run([arm(*DONOR, other), arm(*SINGLE)], tmp_path)
    (message,) = outcome.failures.values()
    assert "but 0: none" in message


async def test_topology_strategy_shots_and_max_tokens_may_differ(tmp_path: Path) -> None:
    donor = arm(*DONOR, "shots=1", "sampling.max_tokens=20")
    outcome = await run([donor, arm(*SINGLE)], tmp_path)
    assert outcome.failures == {}


async def test_of_several_donors_none_is_chosen_but_a_folder_may_be(tmp_path: Path) -> None:
    both = [arm(*DONOR), arm(*DONOR, "topology=pipeline")]
    outcome = await run([*both, arm(*SINGLE)], tmp_path)
    (message,) = outcome.failures.values()
    assert "but 2: " in message
    named = arm(*SINGLE, "budget=pipeline-pact")
    assert (await run([named], tmp_path)).failures == {}
    folder = arm(*SINGLE, f"budget={of(tmp_path, 'split_evidence').name}")
    assert (await run([folder], tmp_path)).failures == {}


async def test_an_arm_with_a_budget_is_no_donor(tmp_path: Path) -> None:
    first = [arm(*DONOR), arm(*SINGLE)]
    await run(first, tmp_path)
    outcome = await run([arm(*SINGLE, "topology=self_consistency", "budget=conclusion")], tmp_path)
    (message,) = outcome.failures.values()
    assert "but 0: none" in message


async def test_an_unfinished_donor_is_none(tmp_path: Path) -> None:
    failing = "engine.fail_every=1"
    outcome = await run([arm(*DONOR, failing), arm(*SINGLE, failing)], tmp_path)
    (message,) = outcome.failures.values()
    assert "is stopped, not finished" in message


def test_an_arm_is_called_by_its_strategy_its_topology_and_its_preset() -> None:
    made = arm("arm=pact_pipeline")
    strategy = made.choices["strategy"]
    assert names(made.choices, preset(made.config)) == {
        strategy,
        f"pipeline-{strategy}",
        "pact_pipeline",
    }
    assert names(arm(*DONOR).choices) == {"pact", "split_evidence-pact"}


def test_a_donor_that_used_nothing_still_grants_a_call() -> None:
    assert [at_least_one(tokens) for tokens in (0.0, 0.4, 1.6)] == [1, 1, 2]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ((*SINGLE, "budget=300"), "budget=300 names no arm"),
        ((*SINGLE, "topology.budget_tokens=9"), "one of the two"),
        (("topology=single", "budget_per_problem=true"), "true with budget=ARM only"),
        ((*SINGLE, "channel=shuffled_message"), "hears another arm"),
        (("topology=single", "topology.budget_tokens=0"), "topology.budget_tokens=0"),
        (("topology=self_consistency", "topology.least_tokens=0"), "topology.least_tokens=0"),
    ],
)
def test_what_contradicts_itself_is_refused(overrides: Sequence[str], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        arm(*overrides)
    assert words in str(caught.value)


def test_other_topologies_are_not_bounded_but_some_arm_must_be() -> None:
    donor = arm(*DONOR, "budget=pact")
    assert (donor.budget, donor.waits, "budget" in donor.choices) == ("", False, False)
    assert donor.fingerprint == arm(*DONOR).fingerprint
    job = ["x"], config.compose_one([*BASE, *DONOR, "budget=pact"])
    with pytest.raises(ConfigError, match="no arm of this run spends a budget"):
        config.arms([job])
    both = config.arms([job, (["y"], config.compose_one([*BASE, *SINGLE]))])
    assert [made.budget for made in both[0]] == ["", "pact"]


def wordy(request: Request) -> str:
    """Of a length that the seed decides, always with an answer."""
    return "Answer: " + " ".join(["word"] * (request.seed % 40 + 1))


async def played(topology: Topology, **settings: Any) -> Episode:
    episode, _ = await play(bare_arm(Full(), topology=topology, **settings), wordy)
    assert episode.failure is None
    return episode


@given(
    budget=st.integers(1, 400),
    votes=st.integers(1, 12),
    least=st.integers(1, 60),
    seed=st.integers(0, 9),
)
async def test_votes_never_exceed_the_budget(
    budget: int, votes: int, least: int, seed: int
) -> None:
    episode = await played(
        SelfConsistency(most_votes=votes, budget_tokens=budget, least_tokens=least), seed=seed
    )
    made = calls(episode)
    left = budget
    for call in made:
        assert call.max_tokens == left
        left -= call.usage.completion
    assert left >= 0
    assert 1 <= len(made) <= votes
    # What ended it: the budget, or the number of votes.
    assert left < least or len(made) == votes
    assert episode.granted == budget
    assert [turn.round for turn in episode.turns] == list(range(len(made)))


async def test_under_a_budget_the_first_vote_is_the_call_of_single() -> None:
    budget = {"budget_tokens": 900}
    one, several = await played(Single(**budget)), await played(SelfConsistency(**budget))
    assert calls(several)[0].request_hash == calls(one)[0].request_hash
    assert calls(one)[0].max_tokens == 900  # past sampling.max_tokens
    assert used(several) <= 900


async def test_a_budget_that_is_never_spent_changes_only_the_limit_of_a_vote() -> None:
    granted = SelfConsistency(budget_tokens=9999, most_votes=8)
    free, bound = await played(SelfConsistency(votes=8)), await played(granted)
    said = [[call.visible for call in calls(episode)] for episode in (free, bound)]
    assert said[0] == said[1]
    assert (free.granted, free.answer) == (None, bound.answer)


async def test_a_budget_past_the_context_shrinks_to_it() -> None:
    episode = await played(Single(budget_tokens=5000), context=300)
    assert calls(episode)[0].max_tokens < 300
    assert episode.granted == 5000


def test_an_arms_own_number_of_tokens_needs_no_donor() -> None:
    made = arm("topology=single", "topology.budget_tokens=120")
    assert made.choices["topology"] == "single(budget_tokens=120)"
    assert not made.waits
    assert replace(made, budget="pact").waits
