"""Files of JSON lines, and whole-or-nothing writes: what the store stands on."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from parley.errors import StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One record of a file: its number from 1, where its bytes lie, and what they hold.

    `record` is None in a broken last line. `ended` says whether a line break follows.
    """

    number: int
    start: int
    end: int
    record: dict[str, Any] | None
    ended: bool = True


def reason(error: OSError) -> str:
    """The system's words for an error, with its name ("No space left on device (ENOSPC)")."""
    name = errno.errorcode.get(error.errno or 0, "")
    return f"{error.strerror or error}" + (f" ({name})" if name else "")


def write_atomic(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all: on failure the old one stays as it was.

    Raises StoreError with the path and the system's reason; the temporary file, which lies in
    the same folder, is removed.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with fresh.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise StoreError(
            f"cannot write {path}: {reason(error)}",
            remedy="free some space or choose another folder; the old file is as it was",
        ) from error


def sync_folder(folder: Path) -> None:
    """Makes a folder's new names durable, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def iter_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file, one at a time. A missing file has none.

    A broken last line is left out: its writer was stopped in it, or is still writing. Any other
    broken line raises StoreError with file and line number.
    """
    for line in read_lines(path):
        if line.record is not None:
            yield line.record


def lines_at(path: Path, starts: Iterable[int]) -> Iterator[dict[str, Any]]:
    """The records of the lines that begin at these bytes. One that is no record any more, since
    the file was replaced meanwhile, is left out. Raises OSError."""
    with path.open("rb") as file:
        for start in starts:
            file.seek(start)
            if (record := _record(file.readline())) is not None:
                yield record


def read_lines(path: Path, start: int = 0) -> Iterator[Line]:
    """As `iter_lines`, with the place of each line, and a broken last one as well.

    Reads what the file holds when it is opened, not what is appended meanwhile. From another
    `start`, where a line must begin, lines are numbered from there.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot read {path}: {reason(error)}") from error
    with file:
        broken: Line | None = None
        file.seek(start)
        # A file that another process appends to as fast as it is read would have no end.
        size = os.fstat(file.fileno()).st_size
        for number, raw in enumerate(file, 1):
            if start >= size:
                break
            end = start + len(raw)
            if broken is not None and raw.strip():
                raise StoreError(
                    f"{path}, line {broken.number} is broken, and is not the last line",
                    allowed="one JSON object per line; only a last line may be unfinished",
                    remedy="restore the file, or delete that line: its episode is then run again",
                )
            if broken is not None:
                broken = Line(number=broken.number, start=broken.start, end=end, record=None)
            elif (record := _record(raw)) is not None:
                ended = raw.endswith(b"\n")
                yield Line(number=number, start=start, end=end, record=record, ended=ended)
            elif raw.strip():
                broken = Line(number=number, start=start, end=end, record=None)
            start = end
    if broken is not None:
        yield broken


def _record(raw: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None
