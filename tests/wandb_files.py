"""Reads what an offline run of W&B left behind, as its server would."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson


@dataclass
class Logged:
    """What one offline run's file holds."""

    run: Any = None
    config: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    metrics: list[Any] = field(default_factory=list)
    artifacts: dict[str, Any] = field(default_factory=dict)
    exit_code: int | None = None

    @property
    def episodes(self) -> list[dict[str, Any]]:
        """The rows of the history that chart an episode."""
        return [row for row in self.history if "episode" in row]


def runs_below(folder: Path) -> list[Path]:
    """Folders of offline runs, the oldest first."""
    found = folder.rglob("offline-run-*/*.wandb")
    return [path.parent for path in sorted(found, key=lambda path: path.stat().st_mtime)]


def read_run(folder: Path) -> Logged:
    """The records of a run's transaction log, put together as W&B's server would."""
    (path,) = folder.glob("*.wandb")
    logged = Logged()
    for record in stored_records(path.read_bytes()):
        kind = record.WhichOneof("record_type")
        item = getattr(record, kind)
        if kind == "run":
            logged.run = item
            logged.config |= {one.key: orjson.loads(one.value_json) for one in item.config.update}
        elif kind == "config":
            logged.config |= named(item.update)
        elif kind == "history":
            logged.history.append(named(item.item))
        elif kind == "summary":
            logged.summary |= named(item.update)
        elif kind == "metric":
            logged.metrics.append(item)
        elif kind == "artifact":
            logged.artifacts[item.type] = item
        elif kind == "exit":
            logged.exit_code = item.exit_code
    return logged


def named(items: Any) -> dict[str, Any]:
    return {
        one.key or "/".join(one.nested_key): orjson.loads(one.value_json.replace("NaN", "null"))
        for one in items
    }


def stored_records(data: bytes) -> Iterator[Any]:
    """wandb no longer ships its reader: LevelDB's log format, blocks of 32 KiB, after 7 bytes."""
    from wandb.proto import wandb_internal_pb2 as protocol

    assert data[:4] == b":W&B"
    place, whole = 7, b""
    while place + 7 <= len(data):
        left = 32768 - place % 32768
        length, kind = struct.unpack_from("<4xHB", data, place)
        if left < 7 or kind == 0:
            place += left
            continue
        whole += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):
            record = protocol.Record()  # type: ignore[attr-defined, unused-ignore]
            record.ParseFromString(whole)
            whole = b""
            yield record
