"""Calls of untrusted graders with a time limit that holds: a pool of processes that are killed.

Safe to use from several threads at once; a call blocks its thread, never an event loop.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any

from parley.errors import ParleyError
from parley.grading import worker as program

START_S = 120.0
"""Seconds that a worker may take to start and to import its package, on a busy machine."""
_HASHING = ("/usr/bin/env", "PYTHONHASHSEED=0")
"""So that generators that go through a set make the same problems in every process."""


class TimedOut(ParleyError):
    """A call ran past its time limit; its process was killed."""


class CallFailed(ParleyError):
    """The code that was called raised an error, or its process died. `kind` is the error's."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind, self.message = kind, message


class Pool:
    """At most `size` workers for one package, started when needed and kept for the next call."""

    def __init__(self, package: str, *, size: int) -> None:
        self.package = package
        self._places = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[bytes]] = []

    def call(self, name: str, *, limit_s: float, **arguments: Any) -> Any:
        """The value of a call by its name in `worker`. Raises TimedOut, CallFailed."""
        with self._places:
            worker = self._take()
            kept = False
            try:
                reply = _ask(worker, name, arguments, limit_s)
                kept = True
            finally:
                self._give(worker) if kept else end(worker)
        if "error" in reply:
            raise CallFailed(str(reply["error"]), str(reply["message"]))
        return reply["value"]

    def close(self) -> None:
        """Ends the idle workers."""
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            end(one)

    def _take(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        worker = subprocess.Popen(
            [*_HASHING, sys.executable, "-P", program.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a group of its own, so that it ends with all it started
        )
        try:
            _ask(worker, "warm", {"package": self.package}, START_S, greeting=True)
        except BaseException:
            end(worker)
            raise
        return worker

    def _give(self, worker: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._idle.append(worker)


@cache
def pool(package: str) -> Pool:
    """The workers of this process for a package: two, since graders are short and CPUs shared."""
    made = Pool(package, size=2)
    atexit.register(made.close)
    return made


def end(worker: subprocess.Popen[bytes]) -> None:
    """Kills a worker, with all that the code it called may have started, and closes its pipes."""
    _kill(worker)
    for pipe in (worker.stdin, worker.stdout):
        with contextlib.suppress(OSError):
            assert pipe is not None
            pipe.close()
    worker.wait()


def _kill(worker: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)


def _ask(
    worker: subprocess.Popen[bytes],
    name: str,
    arguments: Mapping[str, Any],
    limit_s: float,
    *,
    greeting: bool = False,
) -> dict[str, Any]:
    """The reply to one request; kills the worker when the time is up."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    late = threading.Event()

    def stop() -> None:
        late.set()
        _kill(worker)

    line = json.dumps({"call": name, "arguments": arguments, "limit_s": limit_s})
    timer = threading.Timer(limit_s, stop)
    timer.daemon = True
    timer.start()
    try:
        if greeting:
            worker.stdout.readline()
        with contextlib.suppress(BrokenPipeError):
            worker.stdin.write(line.encode() + b"\n")
            worker.stdin.flush()
        reply = worker.stdout.readline()
    finally:
        timer.cancel()
    if late.is_set():
        raise TimedOut(f"the call '{name}' took longer than {limit_s:g} s and was ended")
    if not reply:
        raise CallFailed("ProcessDied", f"during the call '{name}'")
    found: dict[str, Any] = json.loads(reply)
    return found
