"""The one writer of an arm: resume, torn lines, changed settings, other writers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parley.errors import StoreError
from parley.store import ArmWriter, read_episodes, read_manifest
from store_cases import episode, failed, manifest, problems


def test_write_resume_and_finish(tmp_path: Path) -> None:
    folder = tmp_path / "study" / "arm"
    with ArmWriter.open(folder, manifest()) as writer:
        assert writer.done() == {}
        writer.append(episode("q1"))
        assert problems(folder) == ["q1"]
        assert read_manifest(folder).status == "running"
    assert read_manifest(folder).status == "stopped"
    with ArmWriter.open(folder, manifest(planned={"problems": 2, "samples": 1})) as writer:
        assert writer.done() == {("q1", 0): True}
        writer.append(episode("q2"))
        writer.finish("finished", tracking={"id": "r1"})
    found = read_manifest(folder)
    assert (found.status, found.tracking) == ("finished", {"id": "r1"})
    assert found.planned == {"problems": 2, "samples": 1}
    assert [one.problem for one in read_episodes(folder)] == ["q1", "q2"]
    assert sorted(item.name for item in folder.iterdir()) == [
        ".lock",
        "episodes.jsonl",
        "manifest.json",
    ]


def test_transport_failures_are_repeated_outcomes_are_not(tmp_path: Path) -> None:
    with ArmWriter.open(tmp_path, manifest()) as writer:
        for one in (failed("q1", repeat=True), failed("q2", repeat=False), episode("q3")):
            writer.append(one)
        expected = {("q1", 0): False, ("q2", 0): True, ("q3", 0): True}
        assert writer.done() == expected
    with ArmWriter.open(tmp_path, manifest()) as writer:
        assert writer.done() == expected
        writer.append(episode("q1"))
        assert writer.done()[("q1", 0)]


@pytest.mark.parametrize(
    "tail",
    [b'{"id":"q2","t":"ca', '{"problem":"é'.encode()[:-1], b"\0\0\0", b"broken\n", b"{}x\n\n"],
)
def test_broken_tail_is_set_apart_before_appending_e01(tmp_path: Path, tail: bytes) -> None:
    with ArmWriter.open(tmp_path, manifest()) as writer:
        writer.append(episode("q1"))
    path = tmp_path / "episodes.jsonl"
    for number in (1, 2):
        path.write_bytes(path.read_bytes() + tail)
        with ArmWriter.open(tmp_path, manifest()) as writer:
            assert ("q2", 0) not in writer.done()
            assert writer.manifest.broken_lines == number
            writer.append(episode(f"q{number + 2}"))
        assert (tmp_path / f"episodes.broken-{number}.txt").read_bytes() == tail
    assert problems(tmp_path) == ["q1", "q3", "q4"]
    assert read_manifest(tmp_path).broken_lines == 2


def test_a_whole_tail_without_line_break_is_kept(tmp_path: Path) -> None:
    with ArmWriter.open(tmp_path, manifest()) as writer:
        writer.append(episode("q1"))
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    with ArmWriter.open(tmp_path, manifest()) as writer:
        assert writer.done() == {("q1", 0): True}
        writer.append(episode("q2"))
    assert problems(tmp_path) == ["q1", "q2"]
    assert read_manifest(tmp_path).broken_lines == 0


def test_a_broken_line_inside_stops_and_changes_nothing_e01(tmp_path: Path) -> None:
    with ArmWriter.open(tmp_path, manifest()) as writer:
        writer.append(episode("q1"))
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(b'{"id":"q0"' + path.read_bytes() + path.read_bytes() + b"torn")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"episodes\.jsonl, line 1 is broken"):
        ArmWriter.open(tmp_path, manifest())
    assert path.read_bytes() == before


def test_other_settings_are_refused_and_change_nothing_e04(tmp_path: Path) -> None:
    with ArmWriter.open(tmp_path, manifest()) as writer:
        writer.append(episode("q1"))
        writer.finish("finished")
    held = (tmp_path / "manifest.json").read_bytes()
    changed = manifest(identity={"sampling": {"temperature": 0.8, "top_p": 1.0}, "seed": 42})
    with pytest.raises(StoreError, match=r"sampling\.temperature: 0\.6 there, 0\.8 now"):
        ArmWriter.open(tmp_path, changed)
    assert (tmp_path / "manifest.json").read_bytes() == held
    # The refusal holds no lock.
    ArmWriter.open(tmp_path, manifest(tracking={"mode": "offline"})).close()


def test_episodes_without_settings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "episodes.jsonl").write_bytes(b'{"problem":"q1","sample":0}\n')
    with pytest.raises(StoreError, match=r"episodes but no manifest\.json"):
        ArmWriter.open(tmp_path, manifest())


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot create"):
        ArmWriter.open(tmp_path / "file" / "arm", manifest())


def test_second_writer_in_one_process_is_refused(tmp_path: Path) -> None:
    with (
        ArmWriter.open(tmp_path, manifest()),
        pytest.raises(StoreError, match=f"is being written by process {os.getpid()} on "),
    ):
        ArmWriter.open(tmp_path, manifest())
    ArmWriter.open(tmp_path, manifest()).close()


def test_leftovers_of_a_killed_manifest_write_are_removed(tmp_path: Path) -> None:
    left = tmp_path / ".manifest.json.1-ab.tmp"
    left.write_text("{")
    ArmWriter.open(tmp_path, manifest()).close()
    assert not left.exists()


def test_synced_writes(tmp_path: Path) -> None:
    with ArmWriter.open(tmp_path, manifest(), sync_seconds=0.0) as writer:
        writer.append(episode("q1"))
    assert problems(tmp_path) == ["q1"]
