"""A process that grades with other people's code, which may never return. Started by `limited`.

    python worker.py

One JSON request a line on its standard input, one JSON reply a line on its standard output; it
first writes a line that says it is ready. When its input closes it ends; when a request takes
longer than it may, it ends itself, also inside a computation that never lets Python run and also
where nobody is left to kill it. It imports nothing of Parley: it is started by its file's path.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

MEMORY = 4 << 30
"""Bytes of address space: a number of ten billion digits ends in a MemoryError."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
REFUSED = frozenset(
    "subprocess.Popen os.system os.posix_spawn os.fork os.forkpty pty.spawn os.kill os.killpg "
    "os.remove os.rename os.rmdir os.mkdir os.link os.symlink os.truncate os.chmod os.chown "
    "shutil.rmtree shutil.move".split()
)
"""Audit events (PEP 578) of what reaches out of the process."""
GRACE_S = 2.0
"""Seconds past the limit after which the process ends itself; its parent kills it before."""


def main() -> int:
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # What libraries print must not come between the replies.
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies.write(b'{"ready": true}\n')
    with open(os.devnull, "w") as nowhere:
        sys.addaudithook(refuse)
        for line in sys.stdin.buffer:
            request = json.loads(line)
            limit = float(request["limit_s"]) + GRACE_S
            faulthandler.dump_traceback_later(limit, exit=True, file=nowhere)
            reply = answer(request)
            faulthandler.cancel_dump_traceback_later()
            replies.write(json.dumps(reply).encode() + b"\n")
    return 0


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: some scorers evaluate what a model wrote as code. No processes, no network,
    no changed files. Against accidents, not against an attacker: that takes a container."""
    changes = event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING
    if changes or event in REFUSED or event.startswith(("os.exec", "os.spawn", "socket.")):
        raise PermissionError(f"a grader may not use {event}")


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The reply to a request: `value`, or `error` with its text."""
    calls: dict[str, Callable[..., Any]] = {
        "warm": warm,
        "equal": equal,
        "generate": generate,
        "score": score,
    }
    try:
        return {"value": calls[request["call"]](**request["arguments"])}
    except BaseException as error:  # also RecursionError, MemoryError, and what libraries raise
        return {"error": type(error).__name__, "message": str(error)[:500]}


def warm(package: str) -> bool:
    """Imports a package, which takes seconds, before the clock of a request runs."""
    if package == "math_verify":
        return equal("1", "1") is not None
    __import__(package)
    return True


def equal(gold: str, said: str) -> bool | None:
    """Whether both are the same mathematical object; None where one cannot be read.

    The order matters to math-verify: gold first. Its own time limits are signals, which only work
    in a main thread and not inside long computations; they are off, and this process is killed.
    """
    from math_verify import parse, verify

    right, given = (parse(f"${text}$", parsing_timeout=None) for text in (gold, said))
    if not right or not given:
        return None
    return bool(verify(right, given, timeout_seconds=None))


def generate(task: str, seed: int, size: int, settings: Mapping[str, Any]) -> list[list[Any]]:
    """(question, answer) of every problem of a task; an answer is None where any may be right."""
    return [[entry["question"], entry["answer"]] for entry in _dataset(task, seed, size, settings)]


def score(
    task: str, seed: int, size: int, settings: Mapping[str, Any], index: int, said: str
) -> float:
    """The task's own score of an answer to its problem number `index`, in [0, 1]."""
    data = _dataset(task, seed, size, settings)
    return float(data.score_answer(answer=said, entry=data[index]))


def _dataset(task: str, seed: int, size: int, settings: Mapping[str, Any]) -> Any:
    return _created(task, seed, size, json.dumps(settings, sort_keys=True))


@cache
def _created(task: str, seed: int, size: int, settings: str) -> Any:
    import reasoning_gym

    return reasoning_gym.create_dataset(task, seed=seed, size=size, **json.loads(settings))


if __name__ == "__main__":
    raise SystemExit(main())
