"""The store against other processes, sudden ends and full disks."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from parley.errors import StoreError
from parley.store import ArmWriter, iter_lines, read_manifest
from store_cases import episode, line_of, manifest, problems, start

WRITE_THIRTY = """
try:
    with ArmWriter.open(folder, manifest()) as writer:
        for number in range(30):
            writer.append(episode(f"{sys.argv[2]}{number}", question="x" * 300_000))
        print("written", flush=True)
        sys.stdin.read()
        writer.finish("finished")
except StoreError as error:
    sys.exit(str(error))
"""


def test_two_processes_e02(tmp_path: Path) -> None:
    first = start(WRITE_THIRTY, tmp_path, "a")
    try:
        assert line_of(first) == "written"
        second = start(WRITE_THIRTY, tmp_path, "b")
        _, errors = second.communicate(timeout=60)
        assert second.returncode == 1
        assert f"is being written by process {first.pid} on " in errors
        assert "Traceback" not in errors
    finally:
        first.communicate(timeout=60)
    assert first.returncode == 0
    assert problems(tmp_path) == [f"a{number}" for number in range(30)]


def test_processes_that_start_together_lose_nothing_e02(tmp_path: Path) -> None:
    runs = [start(WRITE_THIRTY, tmp_path, name) for name in "abc"]
    for run in runs:
        run.communicate(timeout=60)
    winners = [name for run, name in zip(runs, "abc", strict=True) if run.returncode == 0]
    assert winners
    expected = sorted(f"{name}{number}" for name in winners for number in range(30))
    assert sorted(problems(tmp_path)) == expected


APPEND_FOREVER = """
import subprocess
quiet = subprocess.DEVNULL
child = subprocess.Popen(["sleep", "60"], stdin=quiet, stdout=quiet, stderr=quiet)
with ArmWriter.open(folder, manifest()) as writer:
    number = len(writer.done())
    print(child.pid, flush=True)
    for _ in range(300):  # an end, should the test that kills it fail
        writer.append(episode(f"q{number}", question="é" * 500_000))
        number += 1
        print(number, flush=True)
"""


def test_sigkill_loses_only_the_line_in_flight(tmp_path: Path) -> None:
    """Killed while appending; a child that outlives it must not hold the folder."""
    draw = random.Random(7)
    acknowledged = 0
    for _ in range(3):
        process = start(APPEND_FOREVER, tmp_path)
        child = int(line_of(process))
        try:
            assert process.stdout is not None
            time.sleep(draw.random() * 0.15)
            process.send_signal(signal.SIGKILL)
            printed = process.stdout.read().split("\n")
            process.communicate(timeout=60)
            acknowledged = max([acknowledged, *(int(line) for line in printed[:-1] if line)])
            with ArmWriter.open(tmp_path, manifest()) as writer:
                done = writer.done()
            count = len(done)
            assert count in (acknowledged, acknowledged + 1)
            assert list(done) == [(f"q{number}", 0) for number in range(count)]
            assert problems(tmp_path) == [f"q{number}" for number in range(count)]
            acknowledged = count
        finally:
            os.kill(child, signal.SIGKILL)
    assert acknowledged > 0


FULL_DISK = """
import resource
with ArmWriter.open(folder, manifest()) as writer:
    writer.append(episode("q1"))
    size = os.path.getsize(folder / "episodes.jsonl")
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000, resource.RLIM_INFINITY))
    try:
        writer.append(episode("q2", question="x" * 20_000))
    except StoreError as error:
        print(str(error).replace(chr(10), " "), flush=True)
    assert os.path.getsize(folder / "episodes.jsonl") == size
    assert ("q2", 0) not in writer.done()
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    writer.append(episode("q3"))
    writer.finish("finished")
"""


def test_full_disk_leaves_the_file_whole(tmp_path: Path) -> None:
    process = start(FULL_DISK, tmp_path)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert f"cannot write {tmp_path / 'episodes.jsonl'}: File too large (EFBIG)" in out
    assert problems(tmp_path) == ["q1", "q3"]
    assert read_manifest(tmp_path).status == "finished"


def test_full_disk_while_the_manifest_is_written(tmp_path: Path) -> None:
    with ArmWriter.open(tmp_path, manifest()) as writer:
        writer.append(episode("q1"))
        held = (tmp_path / "manifest.json").read_bytes()
    process = start(
        """
import resource
writer = ArmWriter.open(folder, manifest())
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    writer.finish("finished", data={"notes": "x" * 5000})
except StoreError as error:
    sys.exit(str(error))
""",
        tmp_path,
    )
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"cannot write {tmp_path / 'manifest.json'}" in errors
    assert (tmp_path / "manifest.json").read_bytes() == held.replace(b"stopped", b"running")
    assert not list(tmp_path.glob("*.tmp"))
    assert not list(tmp_path.glob(".*.tmp"))


def test_a_full_device_is_an_error(tmp_path: Path) -> None:
    """A real ENOSPC, from the device that is always full."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    writer = ArmWriter.open(tmp_path, manifest())
    try:
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, writer._file)
        os.close(full)
        with pytest.raises(StoreError, match=r"No space left on device \(ENOSPC\)"):
            writer.append(episode("q1"))
    finally:
        writer.close()
    assert list(iter_lines(tmp_path / "episodes.jsonl")) == []


def test_reading_while_another_process_writes_comes_to_an_end(tmp_path: Path) -> None:
    process = start(APPEND_FOREVER, tmp_path)
    child = int(line_of(process))
    try:
        for _ in range(5):
            found = problems(tmp_path)
            assert found == [f"q{number}" for number in range(len(found))]
    finally:
        process.kill()
        process.communicate(timeout=60)
        os.kill(child, signal.SIGKILL)


def test_lines_appended_while_reading_are_left_for_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id":0}\n')
    seen = []
    for row in iter_lines(path):
        seen.append(row["id"])
        with path.open("ab") as file:
            file.write(b'{"id":%d}\n' % len(seen))
    assert seen == [0]
    assert list(iter_lines(path)) == [{"id": 0}, {"id": 1}]
