"""Episodes as stored lines read, whether they come from an arm's folder or from its run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from parley.store import scored_rows
from parley.types import Episode


def recorded(folder: Path, since: float) -> Iterator[Mapping[str, Any]]:
    """Episodes that ended before the arm was opened; later ones come through `log`."""
    for record in scored_rows(folder):
        if record["started"] + record["seconds"] <= since:
            yield record


def mapping(episode: Episode) -> Mapping[str, Any]:
    """As a stored line reads; the slow way round where a text is no valid Unicode."""
    try:
        plain: dict[str, Any] = orjson.loads(orjson.dumps(episode, default=dict))
    except orjson.JSONEncodeError:
        plain = asdict(episode)
    return plain
