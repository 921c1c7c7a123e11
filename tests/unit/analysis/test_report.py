"""The report of a study, also of one that is broken, unfinished or lonely."""

from __future__ import annotations

import csv
import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parley.analysis.report import write_report
from parley.errors import StoreError
from parley.types import VERSION
from records import call, episode, failed, sample_episodes, turn, write_arm

PICTURES = ("frontier", "budget", "ledger", "rereading", "growth", "conduct")
FILES = {
    "results.csv",
    "frontier.csv",
    "results.md",
    *(f"{name}.{kind}" for name in PICTURES for kind in ("png", "pdf")),
    "index.html",
}


def _told(path: Path) -> str:
    return "\n".join(write_report(path).notes)


def test_report_of_a_study(tmp_path: Path) -> None:
    for name in ("full", "pact"):
        write_arm(tmp_path / "s", name, sample_episodes(name, 4))
    report = write_report(tmp_path / "s")
    folder = tmp_path / "s" / "report"
    assert {path.name for path in folder.iterdir()} == FILES
    assert set(report.files) == {folder / name for name in FILES}
    assert report.notes == ()
    assert len(report.table) == 2
    rows = list(csv.DictReader((folder / "results.csv").read_text().splitlines()))
    assert {row["strategy"] for row in rows} == {"full", "pact"}
    text = (folder / "results.md").read_text(encoding="utf-8")
    assert all(f" {column} " in text for column in rows[0])
    assert "frontier.png" in text


def test_report_is_the_same_each_time(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 4))
    first = [path.read_bytes() for path in write_report(tmp_path).files]
    assert first == [path.read_bytes() for path in write_report(tmp_path).files]


def test_one_report_per_study_and_a_whole_one_from_an_arm(tmp_path: Path) -> None:
    for study in ("s", "t"):
        for name in ("full", "pact"):
            write_arm(tmp_path / study, name, sample_episodes(name, 2))
    report = write_report(tmp_path)
    assert (tmp_path / "s" / "report" / "results.csv").exists()
    assert (tmp_path / "t" / "report" / "results.csv").exists()
    assert report.table["study"].tolist() == ["s", "s", "t", "t"]
    assert len(write_report(tmp_path / "s" / "full").table) == 2


def test_one_arm_says_that_it_is_alone(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 4))
    assert "nothing to compare" in _told(tmp_path)


def test_no_finished_episode(tmp_path: Path) -> None:
    running = {"status": "running"}
    write_arm(tmp_path / "s", "full", [], problems=6, manifest=running)
    report = write_report(tmp_path)
    told = "\n".join(report.notes)
    assert "no finished episode yet (6 planned)" in told
    assert "'running'" in told
    assert "no finished episode" in (tmp_path / "s" / "report" / "results.md").read_text()
    assert {path.name for path in report.files} == FILES


def test_only_half_written_folders(tmp_path: Path) -> None:
    (tmp_path / "s" / "full").mkdir(parents=True)
    (tmp_path / "s" / "full" / "episodes.jsonl").write_text("{}\n")
    report = write_report(tmp_path)
    assert len(report.table) == 0
    assert any("half-written" in note for note in report.notes)
    assert "half-written" in (tmp_path / "s" / "report" / "results.md").read_text()


@pytest.mark.parametrize("name", ["", "absent"])
def test_nothing_at_all_is_a_clear_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="next:"):
        write_report(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_limits_a_comparison_is_said(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 4), shots=0)
    write_arm(tmp_path / "s", "pact", sample_episodes("pact", 6), problems=8)
    told = _told(tmp_path)
    assert "Arms differ in shots (fictional, smollm2-135m): 0, 2." in told
    assert "different problems (4 to 6 each, 4 common to all)" in told
    assert "pact: 2 of 8 planned episodes are missing" in told


def test_troubles_of_an_arm_are_said(tmp_path: Path) -> None:
    plain = call(flags=("thinking_not_disabled",), reused=True)
    guessed = dataclasses.replace(plain, tokens=dataclasses.replace(plain.tokens, estimated=True))
    episodes = [
        episode("p1", turns=(turn(0, guessed),)),
        episode("p2", metrics={"em": 1.0, "f1": float("nan")}),
        failed("p3", "ContextOverflow"),
        failed("p4"),
    ]
    write_arm(tmp_path / "s", "full", episodes, manifest={"status": "stopped", "broken_lines": 2})
    told = _told(tmp_path)
    for words in (
        "marked 'stopped'",
        "2 of 4 episodes failed (1 ContextOverflow, 1 TransportError): scored 0",
        "f1 is not a number in 1 of 4 episodes",
        "25% of the episodes are partly estimated",
        "reused calls",
        "1 of 4 episodes have a call flagged thinking_not_disabled",
        "2 unfinished lines were set apart",
    ):
        assert words in told


def test_scores_that_are_alike_are_no_certainty(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", [episode(f"p{i}") for i in range(5)])
    write_arm(tmp_path / "s", "pact", [episode("p0")])
    told = _told(tmp_path)
    assert "full: f1 is alike on all 5 problems" in told
    assert "pact: one problem has no interval" in told


def test_what_arms_have_in_common_is_said_once(tmp_path: Path) -> None:
    for name in ("full", "pact"):
        write_arm(tmp_path / "s", name, [episode(f"p{i}") for i in range(5)])
    notes = write_report(tmp_path).notes
    assert len(notes) == 1
    assert notes[0].startswith("full, pact: f1 is alike")


def test_many_arms_are_named_by_what_they_share(tmp_path: Path) -> None:
    for model in ("8b", "14b"):
        for i in range(4):
            made = [failed("p1")] if model == "8b" else [episode("p1")]
            write_arm(tmp_path / "s", f"a{i}-{model}", made, strategy=f"a{i}", model=model)
    told = write_report(tmp_path).notes
    assert "all 8 arms: one problem has no interval." in told
    assert any(one.startswith("all arms of fictional, 8b: 1 of 1 episodes failed") for one in told)


def test_names_are_no_formulas_and_need_no_font(tmp_path: Path) -> None:
    """A warning would be an error here."""
    for name in (r"$\nonsense{$", "a $x$", "日本語"):
        made = sample_episodes("full", 2)
        write_arm(tmp_path / "s", f"a{len(name)}", made, strategy=name, model=r"$\m{$")
    assert len(write_report(tmp_path).table) == 3


def test_another_version_is_said(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "old", sample_episodes("old", 2), manifest={"version": 0})
    newer = {"version": VERSION + 1}
    write_arm(tmp_path / "s", "new", sample_episodes("new", 2), manifest=newer)
    told = _told(tmp_path)
    assert "1 of version 0" in told
    assert "newer Parley" in told


def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 2))
    kept = {path: path.read_bytes() for path in write_report(tmp_path).files}
    csv_file = tmp_path / "s" / "report" / "results.csv"
    csv_file.unlink()
    csv_file.mkdir()
    with pytest.raises(StoreError, match=r"results\.csv"):
        write_report(tmp_path)
    del kept[csv_file]
    assert all(path.read_bytes() == data for path, data in kept.items())
    assert not [path for path in csv_file.parent.iterdir() if path.name.endswith(".tmp")]


def test_tables_import_no_engine_and_no_pandas() -> None:
    code = (
        "import sys, parley.analysis.tables, parley.analysis.report, parley.analysis.transcript;"
        "print([m for m in ('hydra', 'wandb', 'torch', 'vllm', 'xllamacpp', 'aiohttp', 'datasets',"
        " 'pandas', 'matplotlib', 'scipy', 'parley.engines.client') if m in sys.modules])"
    )
    source = str(Path(__file__).resolve().parents[3] / "src")
    environment = {**os.environ, "PYTHONPATH": source}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert ran.stdout.strip() == "[]"
