"""A study killed over and over ends with the same episodes as one left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from random import Random

import pytest

from command_line import FAST, answers, command, environment, parley, repeated, rows
from parley.store import find_arms, read_manifest

KILLS = 25
STUDY = (
    *("run", "-m", "strategy=full,pact", *FAST, "limit=60", "samples=2", "concurrency=8"),
    "engine.latency_s=0.05",
)


def processes(marker: str) -> list[str]:
    """Command lines of running processes that name the marker."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        if marker in line and str(os.getpid()) != path.parent.name:
            found.append(line)
    return found


def recorded(at: Path) -> int:
    """Bytes in all files of episodes so far."""
    return sum(path.stat().st_size for path in at.glob("outputs/*/*/episodes.jsonl"))


@pytest.mark.slow
def test_killed_25_times_a_study_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    rng = Random(25)
    killed, alone = tmp_path / "killed", tmp_path / "alone"
    killed.mkdir()
    alone.mkdir()
    marker = f"study={tmp_path.name}"
    before: dict[tuple[str, str, int], object] = {}
    in_work = 0
    for _ in range(KILLS):
        size = recorded(killed)
        with subprocess.Popen(
            command(*STUDY, marker),
            cwd=killed,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            # Half of the moments lie anywhere in the start, half in the midst of the work.
            patience = time.monotonic() + 20
            if rng.random() < 0.5:
                while recorded(killed) == size and time.monotonic() < patience:
                    time.sleep(0.01)
                in_work += 1
            time.sleep(rng.uniform(0.0, 0.4))
            process.send_signal(signal.SIGKILL)
        if find_arms_quietly(killed):
            now = answers(killed, tmp_path.name)
            assert before.items() <= now.items()  # what was recorded stays as it is
            before = dict(now)
    assert in_work > KILLS // 3
    assert 0 < len(before) < 240
    last = parley(*STUDY, marker, at=killed)
    assert last.code == 0, last.said
    assert f"{240 - len(before)} episodes to run ({len(before)} already recorded)" in last.out
    undisturbed = parley(*STUDY, marker, "engine.latency_s=0", at=alone)
    assert undisturbed.code == 0, undisturbed.said

    assert len(rows(killed, tmp_path.name)) == 240
    assert answers(killed, tmp_path.name) == answers(alone, tmp_path.name)
    assert repeated(killed, tmp_path.name) == {}
    assert {read_manifest(arm).status for arm in find_arms(killed / "outputs")} == {"finished"}
    assert processes(marker) == []


def find_arms_quietly(at: Path) -> list[Path]:
    """The arms so far; none before the first was opened."""
    return find_arms(at / "outputs") if list(at.glob("outputs/*/*/manifest.json")) else []
