"""The records of an arm: append-only episodes, a manifest, one writer at a time.

Layout of a folder: `manifest.json`, `config.yaml`, `episodes.jsonl`, and `scores.jsonl` where it
was graded again; while it is written also `.lock`, held by the system, so that it frees itself
when its process dies, and `.lock.json`, which says who holds it. `episodes.broken-<n>.txt` are
unfinished lines that were set apart.
"""

from __future__ import annotations

import dataclasses
import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import orjson
from filelock import FileLock, Timeout

from parley.errors import StoreError
from parley.store.archive import (
    EPISODES,
    STRANGE,
    Key,
    find_arms,
    latest_rows,
    read_episodes,
    row_key,
    schema,
    unreadable,
)
from parley.store.lines import iter_lines, read_lines, reason, sync_folder, write_atomic
from parley.store.manifest import MANIFEST, Manifest, read_manifest, resumed, write_manifest
from parley.store.rescored import SCORES, later_scores, regraded, scored_rows
from parley.types import Episode

__all__ = [
    "SCORES",
    "STRANGE",
    "ArmWriter",
    "Manifest",
    "find_arms",
    "iter_lines",
    "later_scores",
    "latest_rows",
    "read_episodes",
    "read_manifest",
    "regraded",
    "schema",
    "scored_rows",
    "unreadable",
    "write_atomic",
]


@dataclass(slots=True, kw_only=True)
class ArmWriter:
    """The one writer of an arm's folder. Not for use from several threads at once."""

    folder: Path
    manifest: Manifest
    sync_seconds: float | None
    """Least seconds between two syncs to the disk; None leaves that to the system. A killed
    process loses nothing either way, a machine without power what was not synced."""
    _lock: FileLock
    _file: int = -1
    _size: int = 0
    _synced: float = 0.0
    _done: dict[Key, bool] = field(default_factory=dict)

    @classmethod
    def open(
        cls, folder: Path, manifest: Manifest, *, sync_seconds: float | None = None
    ) -> ArmWriter:
        """Starts or resumes an arm.

        Raises StoreError where another process writes the folder, where its episodes were made
        under another identity, or where a line that is not the last is broken. A broken last
        line is moved to a file of its own.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot create {folder}: {reason(error)}") from error
        writer = cls(
            folder=folder, manifest=manifest, sync_seconds=sync_seconds, _lock=_acquire(folder)
        )
        try:
            writer._resume()
        except OSError as error:
            writer.close()
            raise StoreError(f"cannot write {folder / EPISODES}: {reason(error)}") from error
        except BaseException:
            writer.close()
            raise
        return writer

    def __enter__(self) -> ArmWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """An arm that was left without `finish` is marked as stopped."""
        try:
            if self._file >= 0 and self.manifest.status == "running":
                with suppress(StoreError):
                    self.finish("stopped")
        finally:
            self.close()

    def done(self) -> dict[Key, bool]:
        """Every recorded (problem, sample), and whether it needs no repetition.

        It needs none if it was scored, or failed in a way that is an outcome.
        """
        return dict(self._done)

    def append(self, episode: Episode) -> None:
        """Adds one line, whole or not at all. Raises StoreError; the file stays readable."""
        line = _line(episode)
        path = self.folder / EPISODES
        try:
            if os.fstat(self._file).st_size > self._size:
                os.ftruncate(self._file, self._size)
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._file, rest) :]
            if self.sync_seconds is not None:
                self._sync(self.sync_seconds)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise StoreError(
                f"cannot write {path}: {reason(error)}",
                remedy="free some space and run the same command again: it resumes",
            ) from error
        self._size += len(line)
        settled = not episode.failure.repeat if episode.failure else episode.score is not None
        self._done[(episode.problem, episode.sample)] = settled

    def update(self, **changes: Any) -> None:
        """Replaces fields of the manifest, on disk at once. Raises StoreError."""
        manifest = dataclasses.replace(self.manifest, **changes)
        write_manifest(self.folder, manifest)
        self.manifest = manifest

    def finish(self, status: Literal["finished", "stopped"], **changes: Any) -> None:
        """Ends the arm: episodes are synced to the disk, then the manifest says so."""
        try:
            self._sync(0.0)
        except OSError as error:
            raise StoreError(f"cannot write {self.folder / EPISODES}: {reason(error)}") from error
        self.update(status=status, **changes)

    def close(self) -> None:
        """Frees the folder for other writers. May be called again."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._lock.is_locked:
            with suppress(OSError):
                (self.folder / _HOLDER).unlink(missing_ok=True)
            self._lock.release()

    def _resume(self) -> None:
        path = self.folder / EPISODES
        if (self.folder / MANIFEST).exists():
            self.manifest = resumed(read_manifest(self.folder), self.manifest, self.folder)
        elif path.exists() and path.stat().st_size:
            raise StoreError(
                f"{self.folder} holds episodes but no {MANIFEST}: their settings are unknown",
                remedy="move that folder away, or restore its manifest",
            )
        size, ended, tail = self._scan(path)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._file = os.open(path, flags, 0o666)
        if tail:
            self._set_apart(size, tail)
        if not ended:
            os.write(self._file, b"\n")
        self._size = os.fstat(self._file).st_size
        for left in self.folder.glob(f".{MANIFEST}.*.tmp"):
            left.unlink(missing_ok=True)
        broken = self.manifest.broken_lines + (1 if tail else 0)
        self.update(status="running", broken_lines=broken)

    def _scan(self, path: Path) -> tuple[int, bool, int]:
        """Bytes of whole lines, whether the last of them ends in a line break, bytes after."""
        size, ended, tail = 0, True, 0
        for line in read_lines(path):
            if line.record is None:
                tail = line.end - line.start
                size = line.start
            else:
                self._done[row_key(path, line)] = _settled(line.record)
                size, ended = line.end, line.ended
        return size, ended, tail

    def _set_apart(self, size: int, tail: int) -> None:
        number = 1
        while (apart := self.folder / f"episodes.broken-{number}.txt").exists():
            number += 1
        with (self.folder / EPISODES).open("rb") as file:
            file.seek(size)
            write_atomic(apart, file.read(tail))
        os.ftruncate(self._file, size)

    def _sync(self, least: float) -> None:
        now = time.monotonic()
        if now - self._synced >= least:
            os.fsync(self._file)
            sync_folder(self.folder)
            self._synced = now


_HOLDER = ".lock.json"


def _acquire(folder: Path) -> FileLock:
    """The folder's lock. Raises StoreError naming the process that holds it."""
    lock = FileLock(folder / ".lock", thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StoreError(
            f"{folder} is being written by {_holder(folder)}",
            allowed="one writer per folder",
            remedy="wait for that run or stop it; what it recorded is kept, and the same "
            "command then resumes",
        ) from error
    except OSError as error:
        raise StoreError(f"cannot lock {folder}: {reason(error)}") from error
    started = time.strftime("%Y-%m-%d %H:%M:%S %z")
    held = {"pid": os.getpid(), "host": socket.gethostname(), "started": started}
    try:
        write_atomic(folder / _HOLDER, orjson.dumps(held))
    except StoreError:
        lock.release()
        raise
    return lock


def _holder(folder: Path) -> str:
    try:
        held = orjson.loads((folder / _HOLDER).read_bytes())
        return f"process {held['pid']} on {held['host']} since {held['started']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _settled(record: Mapping[str, Any]) -> bool:
    failure = record.get("failure")
    if isinstance(failure, dict):
        return failure.get("repeat") is False
    return record.get("score") is not None


def _line(episode: Episode) -> bytes:
    """One line of JSON. NaN and infinity become null, a lone surrogate a question mark."""
    try:
        try:
            return orjson.dumps(episode, default=_plain, option=orjson.OPT_APPEND_NEWLINE)
        except orjson.JSONEncodeError:
            whole = _encodable(dataclasses.asdict(episode))
            return orjson.dumps(whole, default=_plain, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError as error:
        raise StoreError(
            f"the episode of problem {episode.problem!r} cannot be written: {error}"
        ) from error


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"no JSON for a {type(value).__name__}")


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value
