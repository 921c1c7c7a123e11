"""An arm's manifest: what was run, with which settings, and how it ended."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from parley.errors import StoreError
from parley.store.lines import reason, write_atomic
from parley.types import VERSION

MANIFEST = "manifest.json"
_MOST_SHOWN = 8
_ABSENT = "(absent)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One arm of a study. `identity` holds all that affects outputs, nested as it likes.

    `provenance` may hold `earlier`: those of runs under other circumstances (versions, machine)
    whose episodes are in the same file. `broken_lines` counts the unfinished last lines that
    were set apart before appending.
    """

    study: str
    arm: str
    label: str
    choices: Mapping[str, str | int | float]
    identity: Mapping[str, Any]
    fingerprint: str
    metric: str
    metrics: tuple[str, ...]
    version: int = VERSION
    status: Literal["running", "finished", "stopped"] = "running"
    planned: Mapping[str, int] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    tracking: Mapping[str, Any] = field(default_factory=dict)
    broken_lines: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As it is written: a nested dictionary of plain values."""
        plain: dict[str, Any] = orjson.loads(_dump(self))
        return plain


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an arm's folder. Raises StoreError where it is missing or unusable."""
    path = folder / MANIFEST
    try:
        found = orjson.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise StoreError(
            f"{folder} holds no {MANIFEST}", remedy="name the folder of an arm or of a study"
        ) from error
    except OSError as error:
        raise StoreError(f"cannot read {path}: {reason(error)}") from error
    except orjson.JSONDecodeError as error:
        raise StoreError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise StoreError(f"{path} is not a JSON object")
    check_version(path, found)
    fields = {item.name: item for item in dataclasses.fields(Manifest)}
    known = {key: value for key, value in found.items() if key in fields}
    _check_shapes(path, known)
    try:
        return Manifest(**{**known, "metrics": tuple(known["metrics"])})
    except (KeyError, TypeError) as error:
        missing = [
            name
            for name, item in fields.items()
            if name not in known
            and item.default is dataclasses.MISSING
            and item.default_factory is dataclasses.MISSING
        ]
        raise StoreError(f"{path} lacks {', '.join(missing) or 'usable metrics'}") from error


def _check_shapes(path: Path, known: Mapping[str, Any]) -> None:
    """Refuses values that no run writes, before anything counts or compares them."""
    for name in ("choices", "identity", "planned", "data", "provenance", "tracking"):
        if not isinstance(known.get(name, {}), dict):
            raise StoreError(f"{path}: '{name}' is not a JSON object")
    numbers = {"version": 0, "broken_lines": 0, **known.get("planned", {})}
    numbers |= {name: known[name] for name in ("version", "broken_lines") if name in known}
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise StoreError(f"{path}: '{name}' is {_short(value)}, not a whole number")
    if known.get("planned", {}).get("samples") == 0:
        raise StoreError(f"{path}: 'samples' is 0: an arm has one or more")
    for name in ("study", "arm", "label", "fingerprint", "metric", "status"):
        if not isinstance(known.get(name, ""), str):
            raise StoreError(f"{path}: '{name}' is {_short(known[name])}, not a text")
    for name, value in known.get("choices", {}).items():
        if isinstance(value, dict | list):
            raise StoreError(f"{path}: the choice '{name}' is {_short(value)}, not a short value")
    metrics = known.get("metrics", [])
    if not isinstance(metrics, list) or not all(isinstance(name, str) for name in metrics):
        raise StoreError(f"{path}: 'metrics' are not all texts")


def check_version(path: Path, record: Mapping[str, Any], number: int = 0) -> None:
    """Refuses what a newer Parley wrote, rather than misread it."""
    version = record.get("version", 0)
    if isinstance(version, int) and version > VERSION:
        place = f"{path}, line {number}" if number else f"{path}"
        raise StoreError(
            f"{place} was written by a newer Parley (record version {version})",
            allowed=f"record versions up to {VERSION}",
            remedy="update parley-harness",
        )


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replaces the manifest, whole or not at all. Raises StoreError."""
    write_atomic(folder / MANIFEST, _dump(manifest, orjson.OPT_INDENT_2) + b"\n")


def _dump(manifest: Manifest, option: int = 0) -> bytes:
    return orjson.dumps(manifest, default=_plain, option=option | orjson.OPT_NON_STR_KEYS)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def resumed(before: Manifest, now: Manifest, folder: Path) -> Manifest:
    """The manifest of a run that goes on in a folder. Raises StoreError where settings differ."""
    old, new = before.to_dict(), now.to_dict()
    differences = list(_differences(old["identity"], new["identity"]))
    if differences:
        shown = [
            f"{key}: {was} there, {given} now" for key, was, given in differences[:_MOST_SHOWN]
        ]
        more = len(differences) - len(shown)
        raise StoreError(
            f"{folder} holds episodes of other settings: {'; '.join(shown)}"
            + (f"; and {more} more" if more > 0 else ""),
            allowed="resuming with the same settings",
            remedy="undo the change, or name another study: a changed setting is a new arm",
        )
    provenance = new["provenance"]
    earlier = old["provenance"].pop("earlier", [])
    circumstances = [item for item in [*earlier, old["provenance"]] if item and item != provenance]
    if circumstances:
        provenance = {**provenance, "earlier": circumstances}
    return dataclasses.replace(
        now,
        provenance=provenance,
        tracking={**old["tracking"], **new["tracking"]},
        broken_lines=before.broken_lines + now.broken_lines,
    )


def _differences(old: object, new: object, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Dotted key, old and new value of each leaf that differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            inner = f"{path}.{key}" if path else str(key)
            yield from _differences(old.get(key, _ABSENT), new.get(key, _ABSENT), inner)
    elif old != new or isinstance(old, bool) is not isinstance(new, bool):
        yield path, _short(old), _short(new)


def _short(value: object) -> str:
    text = value if value == _ABSENT else orjson.dumps(value).decode()
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"
