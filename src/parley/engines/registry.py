"""Servers that another process holds (`parley serve`), found by what they serve."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson

from parley.engines.probe import probe
from parley.errors import EngineError
from parley.protocols import Model


def key(engine: Any, model: Model) -> str:
    """Twelve hex digits of all settings that decide what is served.

    Settings that an engine calls operational (ports, slots, time limits) are left out, and so is
    what only the client knows of the model.
    """
    kept = {field.name for field in dataclasses.fields(engine)} - type(engine).operational
    settings = {
        "engine": f"{type(engine).__module__}.{type(engine).__qualname__}",
        "settings": {name: getattr(engine, name) for name in sorted(kept)},
        "model": [model.name, model.revision, model.context, model.reasoning],
    }
    canonical = orjson.dumps(settings, option=orjson.OPT_SORT_KEYS, default=repr)
    return hashlib.sha256(canonical).hexdigest()[:12]


def publish(folder: str, key: str, url: str, pid: int) -> Path:
    """Writes where the server is; `pid` is the process that holds it. Returns the file."""
    path = Path(folder) / f"{key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    partial.write_bytes(orjson.dumps({"url": url, "pid": pid}))
    partial.replace(path)
    return path


def withdraw(folder: str, key: str) -> None:
    """Removes what `publish` wrote."""
    (Path(folder) / f"{key}.json").unlink(missing_ok=True)


async def lists(url: str, served: str) -> bool:
    """Whether a server is up and has that name among its models. Raises EngineError if not up."""
    return served in (await probe(url, timeout_s=5.0)).names


async def find(
    folder: str | None,
    key: str,
    served: str,
    serves: Callable[[str, str], Awaitable[bool]] = lists,
) -> str | None:
    """The url of a published server that is up and serves that name; else None. `serves` tells
    so of an url and a name; it may raise EngineError."""
    if folder is None:
        return None
    try:
        entry = orjson.loads((Path(folder) / f"{key}.json").read_bytes())
        url = str(entry["url"])
        return url if await serves(url, served) else None
    except (OSError, ValueError, KeyError, TypeError, EngineError):
        return None
