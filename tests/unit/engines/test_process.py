"""Real child processes: readiness, failures, and death with their parent."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from parley.engines.process import claim_port, running
from parley.errors import EngineError

SOURCE = Path(__file__).resolve().parents[3] / "src"
SERVER = """
import os, sys
from http.server import HTTPServer, SimpleHTTPRequestHandler
print("starting on", sys.argv[1], os.environ.get("PARLEY_PROBE"), flush=True)
HTTPServer(("127.0.0.1", int(sys.argv[1])), SimpleHTTPRequestHandler).serve_forever()
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        state = "Z"
    if Path("/proc").is_dir():
        return state != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def open_to(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def test_a_server_runs_while_its_context_is_open(tmp_path: Path) -> None:
    port = claim_port(None)
    async with running(
        [sys.executable, "-c", SERVER, str(port)],
        name="probe",
        health=f"http://127.0.0.1:{port}/",
        startup_timeout_s=30,
        environment={"PARLEY_PROBE": "set only for the child"},
        log_folder=str(tmp_path / "logs"),
    ) as log:
        assert open_to(port)
    assert not open_to(port)
    assert f"starting on {port} set only for the child" in log.read_text()
    assert "PARLEY_PROBE" not in os.environ


async def test_a_log_that_nobody_asked_for_goes_with_a_server_that_came_up() -> None:
    port = claim_port(None)
    async with running(
        [sys.executable, "-c", SERVER, str(port)],
        name="probe",
        health=f"http://127.0.0.1:{port}/",
        startup_timeout_s=30,
    ) as log:
        assert log.exists()
    assert not log.exists()


async def test_a_server_that_dies_at_its_start_shows_the_end_of_its_log(tmp_path: Path) -> None:
    code = (
        "import sys\nfor i in range(50): print('line', i)\n"
        "print('http://me:hunter2@host'); sys.exit(3)"
    )
    with pytest.raises(EngineError) as caught:
        async with running(
            [sys.executable, "-c", code],
            name="probe",
            health="http://127.0.0.1:9/",
            startup_timeout_s=30,
            log_folder=str(tmp_path),
            remedy="mend it",
        ):
            raise AssertionError("never healthy")
    said = str(caught.value)
    assert "exit status 3" in said
    assert "line 49" in said
    assert "line 30\n" not in said
    assert "mend it" in said
    assert "hunter2" not in said


async def test_a_command_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no-such-program"):
        async with running(
            [str(tmp_path / "no-such-program")],
            name="probe",
            health="http://127.0.0.1:9/",
            startup_timeout_s=30,
            log_folder=str(tmp_path),
        ):
            raise AssertionError("never healthy")


async def test_a_server_that_never_answers_is_ended(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = f"import os,time; open({str(mark)!r},'w').write(str(os.getpid())); time.sleep(600)"
    with pytest.raises(EngineError, match="did not come up"):
        async with running(
            [sys.executable, "-c", code],
            name="probe",
            health="http://127.0.0.1:9/",
            startup_timeout_s=1.5,
            log_folder=str(tmp_path),
        ):
            raise AssertionError("never healthy")
    assert not alive(int(mark.read_text()))


async def test_grandchildren_go_too(tmp_path: Path) -> None:
    port, mark = claim_port(None), tmp_path / "pid"
    code = (
        "import subprocess,sys\n"
        f"p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(mark)!r}, 'w').write(str(p.pid))\n" + SERVER
    )
    async with running(
        [sys.executable, "-c", code, str(port)],
        name="probe",
        health=f"http://127.0.0.1:{port}/",
        startup_timeout_s=30,
        log_folder=str(tmp_path),
    ):
        grandchild = int(mark.read_text())
        assert alive(grandchild)
    assert within(5, lambda: not alive(grandchild))


PARENT = """
import asyncio, sys
from parley.engines.process import running

async def main():
    port, code = sys.argv[1], sys.argv[2]
    async with running([sys.executable, "-c", code, port], name="probe",
                       health=f"http://127.0.0.1:{port}/", startup_timeout_s=30,
                       log_folder=sys.argv[3]):
        print("up", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["process", "group"])
def test_a_server_does_not_outlive_a_parent_that_is_killed(how: str, tmp_path: Path) -> None:
    port = claim_port(None)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(port), SERVER, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        start_new_session=True,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        assert open_to(port)
        if how == "group":
            os.killpg(parent.pid, signal.SIGKILL)
        else:
            parent.kill()
    assert within(8, lambda: not open_to(port)), "the server outlived its parent"


async def test_a_cancelled_run_leaves_no_server(tmp_path: Path) -> None:
    port = claim_port(None)

    async def hold() -> None:
        async with running(
            [sys.executable, "-c", SERVER, str(port)],
            name="probe",
            health=f"http://127.0.0.1:{port}/",
            startup_timeout_s=30,
            log_folder=str(tmp_path),
        ):
            await asyncio.sleep(600)

    task = asyncio.ensure_future(hold())
    while not open_to(port):
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not open_to(port)


def test_a_port_that_is_taken_is_one_clear_error() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(EngineError) as caught:
            claim_port(port)
    assert f"port {port}" in str(caught.value)
    assert "engine.port" in str(caught.value)
    assert claim_port(port) == port


@pytest.mark.parametrize("port", [70_000, -1])
def test_a_port_that_cannot_be_is_one_clear_error(port: int) -> None:
    with pytest.raises(EngineError, match=str(port)):
        claim_port(port)
