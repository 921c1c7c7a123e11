"""Runs a command that must not outlive the process that started it, even on SIGKILL.

    python guard.py COMMAND ARGUMENT...

Its standard input is a pipe from the parent. The first line is a JSON object: `parent` (process
id) and `environment` (variables to add; so that they show in no list of processes). After that
nothing is sent: when the pipe closes, or the parent is no longer the parent, the command's whole
process group is ended, politely first. Works wherever there are pipes and process groups, and
imports nothing but the standard library: it is started by its file's path.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from types import FrameType

GRACE_S = 10.0
"""Seconds between asking the command to end and killing it."""
_POLL_S = 0.2


def main(command: list[str]) -> int:
    """Returns the command's exit status, as a shell would."""
    order = json.loads(_first_line() or b"{}")
    for name, value in order.get("environment", {}).items():
        os.putenv(name, value)
    signal.signal(signal.SIGTERM, _leave)
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        print(f"cannot run {command[0]}: {error.strerror}", flush=True)
        return 127
    try:
        _watch(child, order.get("parent", os.getppid()))
    finally:
        _end(child)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _first_line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            break
        line += byte
    return line


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _watch(child: subprocess.Popen[bytes], parent: int) -> None:
    """Returns when the command has ended or its parent is gone."""
    while child.poll() is None and os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], _POLL_S)
        if readable and not os.read(0, 4096):
            return


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends what is left of the command's process group."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for number, patience in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        limit = time.monotonic() + patience
        while child.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
