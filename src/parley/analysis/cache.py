"""Digests of large arms, kept beside their records (`.cache/digest`) so that the next report
does not read the records again.

A cache is used only for what it was made of: the same settings and code, and records and later
scores of the same size, date, first and last bytes. Records that only grew are read from where
they had ended. A cache that cannot be read or written is as good as none. Of two processes that
write one, each writes a whole file, and the last one's stays.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from parley.analysis.digest import Digest, Index, digested
from parley.analysis.page.flows import Flow
from parley.errors import StoreError
from parley.store import SCORES
from parley.store.archive import EPISODES
from parley.store.lines import write_atomic
from parley.types import VERSION

FOLDER, NAME = ".cache", "digest"
LEAST = 1_000_000
"""Bytes of records from which a cache is worth its file: fewer are read in a few milliseconds."""
ENDS = 65_536
"""Bytes at either end of a file that are compared, beside its size and date."""
Stamp = dict[str, Any]


def digest(folder: Path, metrics: Sequence[str], *, votes: bool, least: int = LEAST) -> Digest:
    """The arm's digest, from the cache where there is a good one; else read, and then kept where
    the records have at least so many bytes."""
    records = _stamp(folder / EPISODES)
    if records is None or records["size"] < least:
        return _read(folder, metrics, votes)
    settings = {
        **{"version": VERSION, "code": _code(), "metrics": list(metrics), "votes": votes},
        "scores": _stamp(folder / SCORES),
    }
    path = folder / FOLDER / NAME
    held = _held(path, settings)
    if held and held[0] == records:
        return held[1]
    fresh = None
    if held and held[1].end and _grown(folder / EPISODES, held[0], records):
        fresh = digested(folder, metrics, votes=votes, after=held[1])
    fresh = fresh or _read(folder, metrics, votes)
    if not fresh.fault:
        _keep(path, {"settings": settings, "records": records, **_plain(fresh)})
    return fresh


def _read(folder: Path, metrics: Sequence[str], votes: bool) -> Digest:
    found = digested(folder, metrics, votes=votes)
    assert found is not None  # only a reading that goes on can be refused
    return found


def _stamp(path: Path, size: int | None = None) -> Stamp | None:
    """What tells this file from another, as far as `size` bytes; None where it cannot be read."""
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            size = state.st_size if size is None else size
            sample = file.read(min(ENDS, size))
            file.seek(max(0, size - ENDS))
            sample += file.read(min(ENDS, size))
    except OSError:
        return None
    ends = hashlib.sha256(sample).hexdigest()
    return {"size": size, "date": state.st_mtime_ns, "file": state.st_ino, "ends": ends}


def _grown(path: Path, before: Stamp, now: Stamp) -> bool:
    """Whether the same file has only become longer, as far as its ends tell."""
    if now["size"] <= before["size"] or now["file"] != before["file"]:
        return False
    again = _stamp(path, before["size"])
    return again is not None and again["ends"] == before["ends"]


@cache
def _code() -> str:
    """All of Parley's own code: a digest depends on much of it, and is soon made again."""
    made = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        made.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return made.hexdigest()


def _plain(made: Digest) -> dict[str, Any]:
    index = {item.name: getattr(made.index, item.name) for item in fields(Index)}
    return {
        "columns": made.columns,
        "index": {**index, "flow": made.index.flow.plain()},
        "strange": made.strange,
        "end": made.end,
    }


def _keep(path: Path, content: dict[str, Any]) -> None:
    """Whole numbers past 64 bits have no place in it: then nothing is kept."""
    with suppress(StoreError, OSError, orjson.JSONEncodeError):
        body = orjson.dumps(content)
        path.parent.mkdir(exist_ok=True)
        write_atomic(path, _sum(body) + b"\n" + body)


def _held(path: Path, settings: Stamp) -> tuple[Stamp, Digest] | None:
    """The records' stamp and their digest; None where there is none of these settings. A file
    that begins with its own sum is whole and was written here; code and settings vouch for the
    rest."""
    try:
        told, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    if told != _sum(body) or (read := orjson.loads(body))["settings"] != settings:
        return None
    return read["records"], Digest(
        columns=read["columns"],
        index=Index(**{**read["index"], "flow": Flow.of(read["index"]["flow"])}),
        strange=tuple((problem, sample) for problem, sample in read["strange"]),
        strangers=len(read["strange"]),
        end=read["end"],
    )


def _sum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
