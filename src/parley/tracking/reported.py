"""What a study's report says of its arms, from the file it wrote; running knows no analysis."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

FRONTIER = "frontier.csv"
Point = Mapping[str, str | float]

COLUMNS = (
    *("name", "strategy", "topology", "channel", "benchmark", "model", "metric"),
    *("score", "score_low", "score_high", "tokens_total", "tokens_low", "tokens_high"),
    *("tokens_prompt", "tokens_completion", "front", "front_chance"),
    *("truncated", "messages_ok", "n", "errors", "missing"),
)
"""Of the report's columns, those of the study's table in W&B."""
TEXTS = frozenset(COLUMNS[:7]) | {"study", "arm"}
_SUMMARY = {
    "score": "score",
    "score_low": "score_low",
    "score_high": "score_high",
    "tokens_total": "tokens/total",
    "tokens_low": "tokens/total_low",
    "tokens_high": "tokens/total_high",
    "tokens_prompt": "tokens/prompt",
    "tokens_completion": "tokens/completion",
    "front": "front",
    "front_chance": "front_chance",
}


def points(study: Path) -> list[Point]:
    """One point an arm, as the report of the study's folder placed it; none without a report.

    A number that is not known is left out, `front` is 1 or 0.
    """
    found: list[Point] = []
    with (
        suppress(OSError),
        (study / "report" / FRONTIER).open(encoding="utf-8", newline="") as file,
    ):
        for row in csv.DictReader(file):
            point: dict[str, str | float] = {}
            for name, text in row.items():
                if name in TEXTS:
                    point[name] = text or ""
                elif text:
                    with suppress(ValueError):
                        flag = {"True": 1.0, "False": 0.0}.get(text)
                        point[name] = float(text) if flag is None else flag
            found.append(point)
    return found


def reported(folder: Path, episodes: int) -> tuple[str, dict[str, float]]:
    """The name by which the report tells an arm from the others, and its summary with intervals.

    Empty where the report was written over another number of episodes: it is of another time.
    """
    for point in points(folder.parent):
        if point.get("arm") == folder.name and point.get("episodes") == episodes:
            values = {
                name: value
                for column, name in _SUMMARY.items()
                if isinstance(value := point.get(column), float)
            }
            return str(point.get("name", "")), values
    return "", {}


def line(point: Point) -> list[str | float | None]:
    """The point's cells of the study's table."""
    return [point.get(name) for name in COLUMNS]


def facets(found: Sequence[Point]) -> dict[str, list[Point]]:
    """Points that may be compared, by "benchmark, model"; those without score or cost left out."""
    groups: dict[str, list[Point]] = {}
    for point in found:
        if "score" in point and "tokens_total" in point:
            key = f"{point.get('benchmark', '')}, {point.get('model', '')}"
            groups.setdefault(key, []).append(point)
    return groups
