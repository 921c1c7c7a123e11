"""Frames from folders, whole and broken."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import orjson
import pandas as pd
import pytest

from parley.analysis.frames import load, tidy
from parley.analysis.notes import notes
from parley.analysis.page.document import page
from parley.analysis.tables import results
from records import episode, failed, sample_episodes, write_arm
from shared_data import case


def test_ids_stay_text_and_counts_whole() -> None:
    rows = [orjson.loads(text) for text in case("E12")["input"].split("\n")]
    frame = tidy(rows)
    assert frame["id"].tolist() == ["0073", "0074"]
    assert frame["pred"].tolist() == ["073", "74"]
    assert frame["tok"].dtype == "Int64"
    assert frame["tok"][0] == 120
    assert frame["tok"][1] is pd.NA


def test_tidy_keeps_every_column_of_every_row() -> None:
    frame = tidy([{"a": 1}, {"a": 2, "b": True}, {"a": 3, "c": 0.5}])
    assert frame["b"].isna().tolist() == [True, False, True]
    assert frame["b"].dtype == "boolean"
    assert frame["c"].isna().sum() == 2


def test_load_a_study(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 3), seed=7)
    write_arm(tmp_path / "s", "pact", sample_episodes("pact", 3))
    frames = load(tmp_path / "s")
    assert frames.arms["strategy"].tolist() == ["full", "pact"]
    assert frames.arms["seed"].tolist() == [7, 42]
    assert frames.episodes["problem"].tolist() == ["0000", "0001", "0002"] * 2
    assert frames.episodes["tokens_total"].dtype == "Int64"
    assert frames.faults == ()


def test_load_one_arm_and_a_folder_of_studies(tmp_path: Path) -> None:
    folder = write_arm(tmp_path / "s", "full", sample_episodes("full", 2))
    write_arm(tmp_path / "t", "full", sample_episodes("full", 2))
    assert len(load(folder).arms) == 1
    assert load(tmp_path).arms["study"].tolist() == ["s", "t"]


def test_turns_and_edges_join_the_episodes(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 2))
    frames = load(tmp_path)
    turns, edges = frames.turns(), frames.edges()
    assert len(turns) == 8
    assert len(edges) == 2 * (1 + 2 + 3)
    assert turns["tokens_total"].sum() == frames.episodes["tokens_total"].sum()
    assert edges["tokens"].sum() == frames.episodes["tokens_reread"].sum()
    assert set(edges["folder"]) == set(frames.arms["folder"])


def test_missing_episodes_are_counted_per_sample(tmp_path: Path) -> None:
    episodes = sample_episodes("full", 3, samples=4)[:-3]
    write_arm(tmp_path / "s", "full", episodes, problems=4, samples=4)
    assert load(tmp_path).arms["missing"].tolist() == [3 + 4]


def test_more_problems_than_planned_are_not_a_surplus(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 5), problems=3)
    assert load(tmp_path).arms["missing"].tolist() == [0]


def test_the_last_line_of_a_problem_wins(tmp_path: Path) -> None:
    folder = write_arm(tmp_path / "s", "full", [failed("0001")])
    again = orjson.dumps(dataclasses.asdict(episode("0001")))
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(again + b"\n")
    assert load(tmp_path).episodes["failed"].tolist() == [False]


def test_half_written_folders_are_named(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 2))
    (tmp_path / "s" / "pact").mkdir()
    (tmp_path / "s" / "pact" / "config.yaml").write_text("a: 1\n")
    frames = load(tmp_path)
    assert len(frames.arms) == 1
    assert len(frames.faults) == 1
    assert "pact: half-written" in frames.faults[0]


def test_a_broken_manifest_is_named(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 2))
    folder = write_arm(tmp_path / "s", "pact", sample_episodes("pact", 2))
    (folder / "manifest.json").write_text('{"version": 1, "stu')
    frames = load(tmp_path)
    assert frames.arms["arm"].tolist() == ["full"]
    assert any("pact" in fault and "manifest" in fault for fault in frames.faults)


def test_a_broken_line_costs_its_arm_only_and_is_named(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 2))
    folder = write_arm(tmp_path / "s", "pact", sample_episodes("pact", 2))
    lines = (folder / "episodes.jsonl").read_bytes().split(b"\n")
    (folder / "episodes.jsonl").write_bytes(b'{"problem": \n' + b"\n".join(lines))
    frames = load(tmp_path)
    assert frames.arms["arm"].tolist() == ["full", "pact"]
    assert frames.arms["missing"].tolist() == [0, 2]
    assert any("pact" in fault and "cannot be read" in fault for fault in frames.faults)


def test_lines_of_another_shape_are_counted(tmp_path: Path) -> None:
    folder = write_arm(tmp_path / "s", "full", sample_episodes("full", 2), problems=3)
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(b'{"version": 0, "problem": "0009", "sample": 0}\n')
    frames = load(tmp_path)
    assert len(frames.episodes) == 2
    assert frames.arms["unreadable"].tolist() == [1]
    assert frames.faults[0].endswith("does not know: 1.")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("score", "metrics", "f1"), 1e300),
        (("turns", 0, "title"), None),
        (("turns", 0, "index"), None),
        (("turns", 0, "calls", 0, "usage", "cached"), 1e300),
        (("turns", 0, "calls", 0, "tokens", "prompt", "evidence"), "many"),
    ],
)
def test_a_value_that_no_run_writes_makes_its_episode_unreadable(
    tmp_path: Path, path: tuple[str | int, ...], value: object
) -> None:
    folder = write_arm(tmp_path / "s", "full", sample_episodes("full", 3))
    good, bad, *rest = (folder / "episodes.jsonl").read_bytes().splitlines()
    record = at = orjson.loads(bad)
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    lines = (good, orjson.dumps(record), *rest)
    (folder / "episodes.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    frames = load(tmp_path)
    assert (len(frames.episodes), frames.arms["unreadable"].tolist()) == (2, [1])
    assert page("s", frames, results(frames), notes(frames, results(frames)))


def test_later_grades_are_read_and_marked(tmp_path: Path) -> None:
    records = [episode("p1"), episode("p2"), failed("p3"), episode("p4")]
    folder = write_arm(tmp_path / "s", "full", records)
    later = {"metrics": {"em": 0.0, "f1": 0.25}, "extracted": "x", "status": "no_label"}
    lines = [{"problem": p, "sample": 0, "score": later} for p in ("p1", "p2", "p3")]
    (folder / "scores.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    frames = load(tmp_path)
    assert frames.episodes["f1"].tolist() == [0.25, 0.25, 0.0, 1.0]
    assert frames.episodes["failed"].tolist() == [False, False, True, False]
    assert frames.arms["rescored"].tolist() == [2]
    table = results(frames)
    assert any("2 of 3 scores" in note for note in notes(frames, table))


@pytest.mark.parametrize("content", [b"", None])
def test_an_arm_without_episodes_stays_an_arm(tmp_path: Path, content: bytes | None) -> None:
    folder = write_arm(tmp_path / "s", "full", [], problems=6)
    if content is None:
        (folder / "episodes.jsonl").unlink()
    frames = load(tmp_path)
    assert frames.arms["missing"].tolist() == [6]
    assert len(frames.episodes) == 0
    assert len(frames.turns()) == 0
