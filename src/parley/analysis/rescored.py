"""An arm's episodes with the grades that `parley rescore` gave them later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parley.store import iter_lines, latest_rows

SCORES = "scores.jsonl"


def scored_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """As `latest_rows`, with the later score where there is one, and then `rescored` true.

    An episode that failed, or has no answer to grade, stays as it was recorded.
    """
    later = {
        (line.get("problem"), line.get("sample")): line.get("score")
        for line in iter_lines(folder / SCORES)
    }
    for row in latest_rows(folder):
        score = later.get((row["problem"], row["sample"]))
        if score and row.get("answer") and not row.get("failure"):
            row = {**row, "score": score, "rescored": True}
        yield row
