"""A study as notebooks open it."""

from __future__ import annotations

from pathlib import Path

import pytest

from parley.analysis.opening import locate, open_study
from parley.errors import StoreError
from records import episode, sample_episodes, write_arm


def test_everything_is_in_the_order_of_the_table(tmp_path: Path) -> None:
    for name, size in (("full", 2.0), ("pact", 1.0)):
        write_arm(tmp_path / "s", name, sample_episodes(name, 3, size=size, samples=2), samples=2)
    found = open_study(tmp_path / "s")
    assert found.names == ("pact", "full") == tuple(row["strategy"] for row in found.rows)
    assert [folder.name for folder in found.folders] == ["pact", "full"]
    assert [flow.episodes for flow in found.flows] == [6, 6]
    assert found.summary.startswith("s: 2 arms, 3 problems, 12 episodes\nfictional")
    assert [row["sample"] for row in found.episodes("full")["0001"]] == [0, 1]
    assert len(list(found.records("full"))) == 6


def test_problems_of_two_benchmarks_are_two(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", [episode("p")])
    write_arm(tmp_path / "s", "pact", [episode("p")], benchmark="hotpotqa")
    assert "2 problems" in open_study(tmp_path / "s").summary


def test_arms_that_cannot_be_read_have_no_record(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", [], problems=2)
    garbled = write_arm(tmp_path / "s", "pact", [episode("p")]) / "episodes.jsonl"
    garbled.write_text("junk\njunk\n")
    found = open_study(tmp_path / "s")
    assert [list(found.records(name)) for name in found.names] == [[], []]
    assert found.with_episodes() == []
    assert any("cannot be read" in note for note in found.notes)


def test_only_half_written_folders_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "s" / "full").mkdir(parents=True)
    (tmp_path / "s" / "full" / "config.yaml").write_text("a: 1\n")
    found = open_study(tmp_path / "s")
    assert found.summary == "no study: 0 arms, 0 problems, 0 episodes"
    assert "half-written" in found.notes[0]


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no records"):
        open_study(tmp_path)


def test_the_committed_study_is_found_from_anywhere() -> None:
    found = locate("study/demo")
    assert found.name == "demo"
    assert (found.parent.parent / "dissect_tokens.py").is_file()


def test_a_folder_that_is_nowhere_stays_as_it_was_named() -> None:
    assert locate("no/such/folder") == Path("no/such/folder")
