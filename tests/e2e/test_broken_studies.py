"""Studies that are broken, unfinished or lonely, through the commands that read them: said plainly,
never a traceback, and the arms that can be read are read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from command_line import Done, parley
from parley.types import VERSION
from records import episode, failed, line, sample_episodes, write_arm

pytestmark = pytest.mark.slow


def reported(study: Path, *words: str) -> dict[str, dict[str, str]]:
    """The rows of results.csv by arm; the printed and the written report both hold the words."""
    done = parley("report", str(study), at=study)
    assert (done.code, done.err) == (0, ""), done.said
    assert "Traceback" not in done.said
    text = (study / "report" / "results.md").read_text(encoding="utf-8")
    for one in words:
        assert one in " ".join(done.out.split()), done.out
        assert one in text
    with (study / "report" / "results.csv").open(encoding="utf-8") as file:
        return {row["arm"]: row for row in csv.DictReader(file)}


def refused(done: Done, *words: str) -> None:
    assert done.code == 1, done.said
    assert "Traceback" not in done.said
    assert ": unexpected " not in done.said.replace("JSON: unexpected", "")
    assert all(one in done.err for one in words), done.err


def broken(study: Path) -> None:
    """One arm that can be read, and every way of being left half-written."""
    write_arm(study, "pact", sample_episodes("pact", 3))
    for name, file, text in (
        ("lines_only", "episodes.jsonl", "{}\n"),
        ("config_only", "config.yaml", "a: 1\n"),
        ("torn_manifest", "manifest.json", '{"study": "s", "ar'),
        ("list_manifest", "manifest.json", "[]"),
    ):
        (study / name).mkdir()
        (study / name / file).write_text(text)
    torn = write_arm(study, "torn", sample_episodes("pact", 3)) / "episodes.jsonl"
    torn.write_bytes(torn.read_bytes()[:-50])
    (write_arm(study, "gone", sample_episodes("pact", 3)) / "episodes.jsonl").unlink()
    for name, garbage in (("garbled", b"\xff\xfe junk"), ("strange", b'{"what": 1}')):
        path = write_arm(study, name, sample_episodes("pact", 3)) / "episodes.jsonl"
        lines = path.read_bytes().split(b"\n")
        path.write_bytes(b"\n".join([lines[0], garbage, *lines[2:]]))


def test_half_written_folders(tmp_path: Path) -> None:
    study = tmp_path / "s"
    study.mkdir()
    broken(study)
    found = reported(
        study,
        "lines_only: half-written (holds only episodes.jsonl); left out.",
        "config_only: half-written",
        "torn_manifest: its manifest cannot be read",
        "list_manifest: its manifest cannot be read",
        "gone: it holds no episodes.jsonl.",
        "garbled: its records cannot be read",
        "strange: its records cannot be read",
        "1 of 3 planned episodes are missing",
        "no episode that can be read (3 planned).",
    )
    held = {"pact": "3", "torn": "2", "gone": "0", "garbled": "0", "strange": "0"}
    assert {name: row["n"] for name, row in found.items()} == held
    shown = parley("show", str(study), at=tmp_path)
    refused(shown, "garbled: cannot be read", "torn_manifest: cannot be read")
    assert shown.out.count("0001") == 2
    refused(parley("show", str(study / "strange"), at=tmp_path), "is no episode")
    for name, target in (
        ("pact", "no.such.Benchmark"),
        ("torn", "parley.benchmarks.fictional.Fictional"),
    ):
        text = f"benchmark: {{_target_: {target}}}\nanswer: short\n"
        (study / name / "config.yaml").write_text(text)
    again = parley("rescore", str(study), at=tmp_path)
    refused(again, "pact: not graded: ", "no.such", "garbled: not graded", "config.yaml")
    assert "torn: 2 answers graded again" in again.out


def test_nan_scores_and_failures(tmp_path: Path) -> None:
    study, nan = tmp_path / "s", {"em": 1.0, "f1": float("nan")}
    write_arm(study, "nan", [episode(f"p{i}", metrics=nan) for i in range(3)])
    write_arm(study, "failed", [failed(f"p{i}", "ContextOverflow") for i in range(3)])
    found = reported(
        study,
        "nan: f1 is not a number in 3 of 3 episodes, so the mean is empty",
        "failed: 3 of 3 episodes failed (3 ContextOverflow): scored 0",
    )
    assert (found["nan"]["f1"], found["nan"]["em"], found["failed"]["f1"]) == ("", "1.0", "0.0")


def test_one_arm_and_no_finished_episode(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", [], problems=6, manifest={"status": "running"})
    found = reported(
        tmp_path / "s",
        "One arm: there is nothing to compare it with.",
        "full: the run is marked 'running'.",
        "full: no finished episode yet (6 planned).",
    )
    assert (found["full"]["n"], found["full"]["missing"]) == ("0", "6")
    (tmp_path / "empty").mkdir()
    refused(parley("report", "empty", at=tmp_path), "empty holds no records", "next:")


def test_arms_of_other_versions_and_odd_manifests(tmp_path: Path) -> None:
    study, made = tmp_path / "s", sample_episodes("pact", 2)
    newer: dict[str, Any] = {"version": VERSION + 1}
    write_arm(study, "now", made)
    write_arm(study, "old", made, manifest={"version": 0})
    write_arm(study, "new", made, manifest=newer)
    write_arm(study, "new_lines", [episode("p1", **newer), episode("p2")])
    write_arm(study, "version", made, manifest={"version": "two"})
    write_arm(study, "planned", made, manifest={"planned": {"problems": "many"}})
    write_arm(study, "choices", made, manifest={"choices": {"strategy": ["a"]}})
    write_arm(study, "metric", made, manifest={"metric": "bleu", "metrics": ["bleu"]})
    write_arm(study, "clash", made, manifest={"metric": "turns", "metrics": ["turns"]})
    found = reported(
        study,
        "Arms hold records of another version than this one's",
        "1 of version 0",
        "was written by a newer Parley",
        "new_lines: its records cannot be read",
        "'version' is \"two\", not a whole number",
        "'problems' is \"many\", not a whole number",
        "the choice 'strategy' is [\"a\"], not a short value",
        "metric: bleu is not a number in 2 of 2 episodes",
        "a metric is named 'turns'",
    )
    assert set(found) == {"now", "old", "new_lines", "metric", "clash"}
    assert {name for name, row in found.items() if row["n"] == "2"} == {"now", "old", "metric"}


def test_a_manifest_that_does_not_say_what_was_chosen(tmp_path: Path) -> None:
    study = tmp_path / "s"
    write_arm(study, "full", sample_episodes("full", 4))
    write_arm(study, "bare", sample_episodes("pact", 4), manifest={"choices": {}})
    found = reported(
        study, "bare: its manifest does not say its benchmark, topology, strategy, model"
    )
    assert found["bare"]["n"] == "4"
    done = parley("compare", str(study), at=tmp_path)
    assert done.code == 0, done.said
    assert "does not say its benchmark" in done.out


def test_arms_of_different_scores_are_not_set_against_each_other(tmp_path: Path) -> None:
    study = tmp_path / "s"
    write_arm(study, "full", sample_episodes("full", 4))
    right = [episode(f"{i:04d}", metrics={"accuracy": 1.0}) for i in range(4)]
    write_arm(study, "right", right, metric="accuracy", metrics=("accuracy",))
    reported(study, "Arms have different scores (fictional, smollm2-135m: accuracy, f1)")
    done = parley("compare", str(study), at=tmp_path)
    assert done.code == 0, done.said
    assert "right is scored by accuracy, full by f1: not compared" in done.out
    assert "Accuracy +" not in done.out
    refused(parley("compare", str(study), "full", "right", at=tmp_path), "full is scored by f1")


def test_two_arms_of_which_one_has_nothing(tmp_path: Path) -> None:
    study = tmp_path / "s"
    write_arm(study, "full", sample_episodes("full", 3))
    write_arm(study, "begun", [], problems=3)
    (write_arm(study, "gone", sample_episodes("pact", 3)) / "episodes.jsonl").unlink()
    refused(parley("compare", str(study), "full", "begun", at=tmp_path), "begun has no episode")
    refused(
        parley("compare", str(study), "full", "gone", at=tmp_path),
        "gone has no episode with f1 (it holds no episodes.jsonl)",
    )


def test_scores_of_another_kind_are_counted(tmp_path: Path) -> None:
    path = write_arm(tmp_path / "s", "full", [episode("p1"), episode("p2")]) / "episodes.jsonl"
    first, second = path.read_bytes().splitlines()
    path.write_bytes(first.replace(b'"f1":1.0', b'"f1":"high"') + b"\n" + second + b"\n")
    found = reported(tmp_path / "s", "full: f1 is not a number in 1 of 2 episodes")
    assert (found["full"]["unscored"], found["full"]["f1"]) == ("1", "")


def test_an_episode_without_what_a_report_needs(tmp_path: Path) -> None:
    import orjson

    folder = write_arm(tmp_path / "s", "full", sample_episodes("full", 2))
    record = line(episode("0009"))
    del record["turns"]
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(orjson.dumps(record) + b"\n")
    found = reported(tmp_path / "s", "full: episodes of a shape this version does not know: 1.")
    assert found["full"]["n"] == "2"
    refused(parley("show", str(folder), at=tmp_path), "of a shape this version does not know")


def test_arms_of_two_studies_are_told_apart(tmp_path: Path) -> None:
    for study, score in (("x", 0.3), ("y", 0.6)):
        for name in ("full", "pact"):
            write_arm(tmp_path / "all" / study, name, sample_episodes(name, 8, score=score))
    done = parley("compare", "all", at=tmp_path)
    assert done.code == 0, done.said
    assert "full \u00b7 study x" in done.out
    assert (tmp_path / "all" / "report" / "compare.csv").exists()
    two = parley("compare", "all/x/full", "all/y/full", at=tmp_path)
    assert two.code == 0, two.said
    assert "study x - study y" in two.out
    sent = parley("upload", "all", "tracker.mode=offline", at=tmp_path)
    assert "offline: 4 arms, 32 episodes" in sent.out, sent.said
    manifest = tmp_path / "all" / "x" / "full" / "manifest.json"
    manifest.write_text("{")
    again = parley("upload", "all/x", "tracker.mode=offline", at=tmp_path)
    assert again.code == 1
    assert "offline: 1 arms, 8 episodes" in again.out, again.said
    assert "left out: full: cannot be read" in again.out
