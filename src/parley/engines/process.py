"""Servers as child processes: started, waited for, ended; none outlives its parent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from parley.engines import guard
from parley.errors import EngineError
from parley.redaction import redact_text

HOST = "127.0.0.1"
_SHOWN_LINES = 20


def claim_port(port: int | None) -> int:
    """The given port if it is free, or any free one. Raises EngineError."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port or 0))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise EngineError(
                f"port {port} cannot be used: {reason}",
                allowed="a free port from 1024 to 65535, or null for any free one",
                remedy="set engine.port to another port or leave it out",
            ) from None
        return int(probe.getsockname()[1])


@asynccontextmanager
async def running(
    command: Sequence[str],
    *,
    name: str,
    health: str,
    startup_timeout_s: float,
    environment: Mapping[str, str] | None = None,
    log_folder: str | None = None,
    remedy: str = "read the log above",
) -> AsyncIterator[Path]:
    """Runs a server from when `health` (a url) answers 200; yields its log file.

    Raises EngineError with the end of the log if it does not come up. Without a `log_folder` the
    log is a temporary file, kept only when the start or what runs inside fails.
    """
    log = _log_file(name, log_folder)
    process = _start(command, log, environment or {})
    try:
        await _until_healthy(process, health, name, log, startup_timeout_s, remedy)
        yield log
        if log_folder is None:
            log.unlink(missing_ok=True)
    finally:
        await _stop(process)


def _log_file(name: str, folder: str | None) -> Path:
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        return Path(folder) / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    handle, path = tempfile.mkstemp(prefix=f"parley-{name}-", suffix=".log")
    os.close(handle)
    return Path(path)


def _start(
    command: Sequence[str], log: Path, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    with log.open("ab") as sink:
        # By path, not by module name: the guard needs no installed package, and its own session
        # keeps it alive when the parent's whole process group is killed.
        process = subprocess.Popen(
            [sys.executable, "-P", guard.__file__, *command],
            stdin=subprocess.PIPE,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    order = {"parent": os.getpid(), "environment": dict(environment)}
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it ended at once: its log says why
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
    return process


async def _until_healthy(
    process: subprocess.Popen[bytes],
    health: str,
    name: str,
    log: Path,
    limit_s: float,
    remedy: str,
) -> None:
    limit = time.monotonic() + limit_s
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5.0)) as session:
        while time.monotonic() < limit:
            if process.poll() is not None:
                raise EngineError(
                    f"{name} ended while it started (exit status {process.returncode}); "
                    f"the end of {log}:\n{_tail(log)}",
                    remedy=remedy,
                )
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with session.get(health) as response:
                    if response.status == 200:
                        return
            await asyncio.sleep(0.1)
    raise EngineError(
        f"{name} did not come up within {limit_s:.0f} s; the end of {log}:\n{_tail(log)}",
        remedy=f"raise engine.startup_timeout_s, or {remedy}",
    )


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN_LINES:]
    return "\n".join(f"    {redact_text(line)}" for line in lines) or "    (nothing was written)"


async def _stop(process: subprocess.Popen[bytes]) -> None:
    """Closes the guard's pipe, upon which it ends the server; waits until it has."""
    assert process.stdin is not None
    process.stdin.close()
    limit = time.monotonic() + 2 * guard.GRACE_S + 5.0
    while process.poll() is None and time.monotonic() < limit:
        await asyncio.sleep(0.05)
    if process.poll() is None:
        process.kill()
        process.wait()
