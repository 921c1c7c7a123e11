"""Reads stored arms: streaming, since a study may not fit in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.errors import ParleyError, StoreError
from parley.store.lines import Line, read_lines
from parley.store.manifest import MANIFEST, check_version
from parley.types import VERSION, Episode

if TYPE_CHECKING:
    from pydantic import TypeAdapter

EPISODES = "episodes.jsonl"
Key = tuple[str, int]
"""(problem, sample)"""
STRANGE = (KeyError, TypeError, AttributeError, IndexError, ValueError)
"""What a record of an unknown shape raises when it is read as one of ours."""


def find_arms(path: Path) -> list[Path]:
    """Folders of arms, sorted: `path` itself, or those in a study, or those in all studies."""
    for pattern in ("", "*/", "*/*/"):
        found = sorted(item.parent for item in path.glob(f"{pattern}{MANIFEST}"))
        if found:
            return found
    raise StoreError(
        f"{path} holds no records" if path.exists() else f"{path} does not exist",
        allowed="the folder of an arm, of a study, or of all studies (outputs)",
        remedy="run a study first (parley run), or name its folder",
    )


def unreadable(arm: Path, error: Exception) -> ParleyError:
    """The error to show for an arm of which a record could not be used."""
    if isinstance(error, ParleyError):
        return error
    return StoreError(f"{arm}: episodes of a shape this version does not know")


def row_key(path: Path, line: Line) -> Key:
    """The (problem, sample) of a row. Raises StoreError for a row that Parley cannot read."""
    record = line.record or {}
    check_version(path, record, line.number)
    problem, sample = record.get("problem"), record.get("sample")
    if not isinstance(problem, str) or not isinstance(sample, int):
        raise StoreError(
            f"{path}, line {line.number} is no episode: it has no problem id and sample number"
        )
    return problem, sample


def latest_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """The last row of each (problem, sample) of an arm, untyped, in the file's order.

    Ids stay strings. A metric that was not a number (NaN, infinity) is null.
    """
    path = folder / EPISODES
    last = {row_key(path, line): line.start for line in read_lines(path) if line.record}
    winners = set(last.values())
    del last
    for line in read_lines(path):
        if line.record is not None and line.start in winners:
            yield line.record


def read_episodes(folder: Path) -> Iterator[Episode]:
    """As `latest_rows`, typed. Raises StoreError for a row of another shape.

    Null metrics become NaN again, so that no mean passes over them.
    """
    from pydantic import ValidationError

    adapter = _adapter()
    for row in latest_rows(folder):
        try:
            yield adapter.validate_python(_with_nan(row))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise StoreError(
                f"{folder / EPISODES}: the episode of problem {row['problem']!r}, sample "
                f"{row['sample']} has another shape at '{where}': {first['msg']}",
                remedy="`parley schema` prints the shape of a record",
            ) from error


def schema() -> dict[str, Any]:
    """JSON Schema of one line of `episodes.jsonl`, made from the types."""
    made = _adapter().json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "version": VERSION, **made}


@cache
def _adapter() -> TypeAdapter[Episode]:
    from pydantic import TypeAdapter

    return TypeAdapter(Episode)


def _with_nan(row: dict[str, Any]) -> dict[str, Any]:
    holders: list[dict[str, Any] | None] = [(row.get("score") or {}).get("metrics")]
    holders += [turn.get("measures") for turn in row.get("turns") or ()]
    for numbers in holders:
        if numbers:
            numbers.update({name: math.nan for name, value in numbers.items() if value is None})
    return row
