"""Budgets and replays from the command line: a sweep with its donor, a study projected anew."""

from __future__ import annotations

import csv
import signal
import time
from pathlib import Path

import pytest

from command_line import FAST, Done, parley, repeated, rows, start
from parley.store import find_arms, read_manifest

pytestmark = pytest.mark.slow

SWEEP = ("arm=pact,single,self_consistency", "budget=pact", *FAST, "limit=3")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A folder in which a donor and two arms with its budget were run in one sweep."""
    at = tmp_path_factory.mktemp("study")
    done = parley("run", "-m", *SWEEP, at=at)
    assert done.code == 0, done.said
    return at, done


def test_a_sweep_runs_the_donor_first_and_shows_granted_beside_used(
    study: tuple[Path, Done],
) -> None:
    at, done = study
    assert "1 arm, 3 episodes to run" in done.out
    assert "2 arms, 6 episodes to run" in done.out
    assert "granted" in done.out
    with (at / "outputs/default/report/results.csv").open() as file:
        table = {row["topology"]: row for row in csv.DictReader(file)}
    granted = round(float(table["split_evidence"]["tokens_completion"]))
    assert table["split_evidence"]["tokens_granted"] == ""
    for name in ("single", "self_consistency"):
        assert float(table[name]["tokens_granted"]) == granted
        assert float(table[name]["tokens_completion"]) <= granted
        assert f"of {granted}" in done.out
    (arm,) = (one for one in find_arms(at / "outputs") if "self_consistency" in one.name)
    shown = parley("show", str(arm), "--episode", rows(at)[0]["problem"], at=at)
    assert f"of {granted} granted" in shown.out


def test_plan_says_what_waits_for_whom(study: tuple[Path, Done], tmp_path: Path) -> None:
    before = parley("plan", "-m", *SWEEP, at=tmp_path)
    assert before.code == 0, before.said
    assert before.out.count("in this run") == 2
    assert before.out.count("-...: after fictional-split_evidence-pact-") == 2
    after = parley("plan", "-m", *SWEEP, at=study[0])
    assert after.out.count(", recorded") == 2
    alone = parley("plan", "arm=single", "budget=summary", *FAST, at=tmp_path)
    assert alone.code == 0, alone.said
    assert "would not run: the arm 'summary' of study default" in alone.out
    none = parley("plan", "strategy=full", "budget=summary", *FAST, at=tmp_path)
    assert none.code == 1
    assert "no arm of this run spends a budget" in none.err


def test_a_run_without_its_donor_says_so(tmp_path: Path) -> None:
    done = parley("run", "arm=single", "budget=pact", *FAST, "limit=2", at=tmp_path)
    assert done.code == 1
    assert "not run: " in done.err
    assert "the arm 'pact' of study default, whose tokens budget= grants" in done.err
    assert "Traceback" not in done.said


def test_a_replay_is_a_study_like_any_other(study: tuple[Path, Done]) -> None:
    at, _ = study
    words = ("replay", "outputs/default", "--strategy", "full,conclusion,pact")
    source = ("--from", "split_evidence-pact", "--turn", "2")
    done = parley(*words, *source, "limit=2", "--to", "again", at=at)
    assert done.code == 0, done.said
    assert "3 arms, 6 episodes to run" in done.out
    assert "replay pact turn 2" in " ".join(done.out.split())
    arms = find_arms(at / "outputs" / "again")
    assert {read_manifest(arm).choices["strategy"] for arm in arms} == {
        "full",
        "conclusion",
        "pact",
    }
    for row in rows(at, "again"):
        made = [call["reused"] for turn in row["turns"] for call in turn["calls"]]
        assert made == [True, True, True, False]
    same = parley(*words, *source, "limit=2", "--to", "again", at=at)
    assert "3 arms, 0 episodes to run (6 already recorded)" in same.out
    for command in ("report", "rescore", "show"):
        read = parley(command, "outputs/again", at=at)
        assert read.code == 0, read.said
    shown = parley("show", "outputs/again", "--episode", rows(at, "again")[0]["problem"], at=at)
    assert shown.out.count("taken from earlier records") == 9


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--strategy", "full"), "the arm 'full' of outputs/default"),
        (("--strategy", "nope", "--from", "split_evidence-pact"), "nope"),
        (("--strategy", ",", "--from", "split_evidence-pact"), "names none"),
        (("--strategy", "full", "--from", "split_evidence-pact", "--turn", "1"), "turns 0, 2"),
        (("--strategy", "full", "--from", "self_consistency-conclusion"), "another arm itself"),
        (("--strategy", "full", "--from", "split_evidence-pact", "model=scripted"), "stays as it"),
        (("--strategy", "full", "--from", "split_evidence-pact", "--to", "default"), "is replayed"),
        (("--strategy", "full", "--from", "split_evidence-pact", "typo=3"), "typo"),
    ],
)
def test_what_cannot_be_replayed_is_said(
    study: tuple[Path, Done], words: tuple[str, ...], said: str
) -> None:
    done = parley("replay", "outputs/default", *words, at=study[0])
    assert done.code == 1, done.said
    assert said in done.err
    assert "next:" in done.err
    assert "Traceback" not in done.said


def test_a_killed_replay_resumes(study: tuple[Path, Done], tmp_path: Path) -> None:
    many = parley("run", "strategy=full", *FAST, "limit=40", at=tmp_path)
    assert many.code == 0, many.said
    words = ("replay", "outputs/default", "--strategy", "full,pact")
    slow = ("concurrency=1", "engine.latency_s=0.2")
    process = start(*words, *slow, at=tmp_path)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        sizes = [path.stat().st_size for path in tmp_path.glob("outputs/default-replay/*/*.jsonl")]
        if sum(sizes):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    done = parley(*words, at=tmp_path)
    assert done.code == 0, done.said
    assert "already recorded)" in done.out
    assert len(rows(tmp_path, "default-replay")) == 80
    assert repeated(tmp_path, "default-replay") == {}
