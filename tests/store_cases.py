"""Episodes and manifests for tests of the store, and other processes that use it."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from parley.store import Manifest, latest_rows
from parley.types import VERSION, Episode, Failure, Score

TESTS = Path(__file__).resolve().parent


def manifest(**changes: Any) -> Manifest:
    facts: dict[str, Any] = {
        "study": "study",
        "arm": "arm",
        "label": "pact",
        "choices": {"strategy": "pact", "seed": 42},
        "identity": {"sampling": {"temperature": 0.6, "top_p": 1.0}, "seed": 42},
        "fingerprint": "0123abcd",
        "metric": "f1",
        "metrics": ("em", "f1"),
    }
    return Manifest(**{**facts, **changes})


def episode(problem: str = "q1", sample: int = 0, **changes: Any) -> Episode:
    facts: dict[str, Any] = {
        "version": VERSION,
        "arm": "arm",
        "problem": problem,
        "sample": sample,
        "kind": "bridge",
        "question": "Where?",
        "answers": ("Lyon",),
        "segments": (("question", "user", "Where?\n", None),),
        "turns": (),
        "answer": None,
        "score": Score(metrics={"f1": 1.0}, extracted="Lyon"),
    }
    return Episode(**{**facts, **changes})


def failed(problem: str, *, repeat: bool) -> Episode:
    failure = Failure(error="TransportError", message="reset", repeat=repeat)
    return episode(problem, score=None, failure=failure)


def problems(folder: Path) -> list[str]:
    """Ids of the problems recorded in an arm's folder, in its order."""
    return [str(row["problem"]) for row in latest_rows(folder)]


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Any value that a field of a record may hold and JSON can carry."""
    origin, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(hint, **{name: values(kind) for name, kind in hints.items()})
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(values, inner))
    if origin is tuple and inner[-1] is ...:
        return st.lists(values(inner[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values, inner))
    if origin is Mapping:
        return st.dictionaries(values(inner[0]), values(inner[1]), max_size=2)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: st.text(max_size=8),
        int: st.integers(-(2**63), 2**64 - 1),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        type(None): st.none(),
    }
    return plain[hint]


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Another Python process, with the store and these cases at hand."""
    head = (
        "import os, sys, time, pathlib\n"
        "from store_cases import episode, failed, manifest\n"
        "from parley.errors import StoreError\n"
        "from parley.store import ArmWriter, write_atomic\n"
        "folder = pathlib.Path(sys.argv[1])\n"
    )
    path = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def line_of(process: subprocess.Popen[str]) -> str:
    """The next line that a process prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()
