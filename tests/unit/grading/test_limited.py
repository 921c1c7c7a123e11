from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from parley.grading import worker as program
from parley.grading.limited import CallFailed, Pool, TimedOut, end
from parley.grading.worker import answer


def test_a_call_that_fails_says_how_and_keeps_the_worker() -> None:
    pool = Pool("json", size=1)
    try:
        with pytest.raises(CallFailed, match="KeyError"):
            pool.call("no_such_call", limit_s=5)
        with pytest.raises(CallFailed, match=r"ModuleNotFoundError: .*no_such_package"):
            pool.call("warm", limit_s=5, package="no_such_package")
        assert pool.call("warm", limit_s=5, package="json") is True
    finally:
        pool.close()


def test_threads_share_the_workers() -> None:
    pool = Pool("json", size=2)
    try:
        with ThreadPoolExecutor(6) as threads:
            calls = [threads.submit(pool.call, "warm", limit_s=20, package="re") for _ in range(12)]
            assert all(call.result() for call in calls)
    finally:
        pool.close()


def test_a_call_past_its_time_is_killed_and_its_place_is_free_again() -> None:
    pytest.importorskip("math_verify")
    pool = Pool("math_verify", size=1)
    try:
        with pytest.raises(TimedOut, match=r"took longer than 0\.5 s"):
            pool.call("equal", limit_s=0.5, gold="7", said="9^{9^{9^{9^{9}}}}")
        assert pool.call("equal", limit_s=10, gold="7", said="7") is True
    finally:
        pool.close()


def test_a_worker_ends_with_all_it_has_started() -> None:
    worker = subprocess.Popen(
        ["sh", "-c", "sleep 60 & echo $!; wait"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert worker.stdout is not None
    started = Path(f"/proc/{int(worker.stdout.readline())}/status")
    end(worker)
    for _ in range(100):
        if not started.exists() or "zombie" in started.read_text():
            return
        time.sleep(0.05)
    pytest.fail("it lives on")


@pytest.fixture(scope="module")
def scorers() -> Iterator[Pool]:
    pytest.importorskip("reasoning_gym")
    pool = Pool("reasoning_gym", size=1)
    yield pool
    pool.close()


@pytest.mark.parametrize(
    "said",
    [
        "__import__('os').system('touch {path}')",
        "__import__('subprocess').run(['touch', '{path}'])",
        "open('{path}', 'w')",
        "__import__('os').open('{path}', 65)",
        "__import__('socket').create_connection(('127.0.0.1', 9))",
    ],
)
def test_what_a_scorer_evaluates_reaches_nothing(said: str, tmp_path: Path, scorers: Pool) -> None:
    """The scorer of `countdown` evaluates an answer as Python."""
    path = tmp_path / "made"
    problem = {"task": "countdown", "seed": 1, "size": 2, "settings": {}, "index": 0}
    for answer_text in (said.format(path=path), "1"):
        score = scorers.call("score", limit_s=20, said=answer_text, **problem)
        assert score < 1
    assert not path.exists()


def test_a_worker_ends_when_its_parent_is_gone() -> None:
    worker = subprocess.Popen(
        [sys.executable, "-P", program.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    assert worker.stdout.readline() == b'{"ready": true}\n'
    worker.stdin.close()
    assert worker.wait(10) == 0
    worker.stdout.close()


def test_a_worker_nobody_kills_ends_itself() -> None:
    pytest.importorskip("math_verify")
    worker = subprocess.Popen(
        [sys.executable, "-P", program.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdout.readline()
    said = b'{"gold": "7", "said": "9^{9^{9^{9^{9}}}}"}'
    worker.stdin.write(b'{"call": "equal", "limit_s": 0.1, "arguments": %s}\n' % said)
    worker.stdin.flush()
    started = time.monotonic()
    assert worker.wait(30) != 0
    assert time.monotonic() - started < 20
    worker.stdin.close()
    worker.stdout.close()


def test_errors_of_any_kind_are_replies() -> None:
    assert answer({"call": "warm", "arguments": {"package": "json"}}) == {"value": True}
    assert answer({"call": "warm", "arguments": {}})["error"] == "TypeError"
