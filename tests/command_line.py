"""The command line as users have it: a process of its own in a folder of its own."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyte

from parley.store import find_arms, iter_lines, latest_rows

FAST = ("engine=scripted", "model=scripted")
"""Overrides of a run that needs no model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "parley.cli", *arguments]


def environment(**more: str) -> dict[str, str]:
    """As little as a process needs: no key, no account, no proxy of whoever runs the tests."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": "/nonexistent", "MPLBACKEND": "agg", "COLUMNS": "140", **more}


def parley(
    *arguments: str, at: Path, env: Mapping[str, str] | None = None, limit_s: float = 120
) -> Done:
    """Runs `parley` in the folder `at` to its end."""
    done = subprocess.run(
        command(*arguments),
        cwd=at,
        env=environment(**(env or {})),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    return Done(code=done.returncode, out=done.stdout, err=done.stderr)


def start(*arguments: str, at: Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Starts `parley` in the folder `at`; its streams are pipes."""
    return subprocess.Popen(
        command(*arguments),
        cwd=at,
        env=environment(**(env or {})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def in_terminal(*arguments: str, at: Path, columns: int) -> tuple[int, str]:
    """Runs `parley` in a terminal of so many columns; its exit code and what stands there in the
    end: what a spinner drew and took away again is not among it. The screen read is far wider than
    the terminal that the command was told of, so that a line too long shows as one."""
    ours, its = pty.openpty()
    more = {"COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1"}
    process = subprocess.Popen(
        command(*arguments), cwd=at, env=environment(**more), stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    read = bytearray()
    with suppress(OSError):  # how Linux says that nobody is at the other end any more
        while chunk := os.read(ours, 4096):
            read += chunk
    os.close(ours)
    code = process.wait(timeout=60)
    screen = pyte.Screen(1000, 1000)
    pyte.ByteStream(screen).feed(bytes(read))
    return code, "\n".join(line.rstrip() for line in screen.display)


def rows(at: Path, study: str = "default") -> list[dict[str, Any]]:
    """The last row of every (arm, problem, sample) of a study."""
    return [row for arm in find_arms(at / "outputs" / study) for row in latest_rows(arm)]


def repeated(at: Path, study: str = "default") -> dict[tuple[str, str, int], int]:
    """The episodes that stand more than once in the files, and how often."""
    counts = Counter(
        (arm.name, row["problem"], row["sample"])
        for arm in find_arms(at / "outputs" / study)
        for row in iter_lines(arm / "episodes.jsonl")
    )
    return {key: number for key, number in counts.items() if number > 1}


def answers(at: Path, study: str = "default") -> dict[tuple[str, str, int], Sequence[str]]:
    """Everything that the seats said, by (arm, problem, sample)."""
    return {
        (row["arm"], row["problem"], row["sample"]): [
            call["reasoning"] + call["visible"] for turn in row["turns"] for call in turn["calls"]
        ]
        for row in rows(at, study)
    }
