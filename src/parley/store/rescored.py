"""An arm's episodes with the grades that `parley rescore` gave them later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from parley.store.archive import EPISODES, Key, latest_rows
from parley.store.lines import iter_lines, lines_at

SCORES = "scores.jsonl"
Record = dict[str, Any]


def scored_rows(folder: Path, starts: Iterable[int] | None = None) -> Iterator[Record]:
    """As `latest_rows`, with the later score where there is one, and then `rescored` true; with
    `starts`, the rows of the lines that begin at these bytes, and no others are read."""
    later = later_scores(folder)
    rows = latest_rows(folder) if starts is None else lines_at(folder / EPISODES, starts)
    for row in rows:
        yield regraded(row, later)


def later_scores(folder: Path) -> dict[Key, Any]:
    """What `parley rescore` wrote, by (problem, sample). Raises StoreError."""
    return {
        (line["problem"], line["sample"]): line.get("score")
        for line in iter_lines(folder / SCORES)
        if isinstance(line.get("problem"), str) and isinstance(line.get("sample"), int)
    }


def regraded(row: Record, later: Mapping[Key, Any]) -> Record:
    """The row with its later score. An episode that failed, or has no answer to grade, stays as it
    was recorded."""
    score = later.get((row["problem"], row["sample"])) if later else None
    if score and row.get("answer") and not row.get("failure"):
        return {**row, "score": score, "rescored": True}
    return row
