"""The list of an arm's conversations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from parley.analysis.transcript import inert
from parley.metrics import episode_row
from parley.store import read_manifest, scored_rows

if TYPE_CHECKING:
    from rich.table import Table

GAP = 2
"""Spaces between columns."""
SHORTEST, LONGEST = 8, 32
"""Signs of an answer that are shown; below the first its column is left out."""
DROPPED = ("kind", "gold", "answered", "status")


def listing(folder: Path, *, width: int = 100) -> Table:
    """An arm's episodes: id, kind, score, tokens, status, what was answered, the gold answer.

    Ids, scores and tokens are whole at any width, even if the table is wider then. The two answers
    share what is left; where that is too little, the columns of DROPPED are left out in turn.
    """
    from rich.table import Table
    from rich.text import Text

    metric = read_manifest(folder).metric
    rows = sorted(scored_rows(folder), key=lambda row: (str(row["problem"]), row["sample"]))
    cells = [_cells(row, metric) for row in rows]
    names = ("episode", "kind", metric, "tokens", "status", "answered", "gold")
    sizes = {
        name: max([Text(name).cell_len, *(Text(row[name]).cell_len for row in cells)])
        for name in names
    }
    shown = _shown(sizes, width)
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=True)
    table.title, table.title_justify = Text(folder.name), "left"
    for name, size in shown.items():
        right: Literal["left", "right"] = "right" if name in (metric, "tokens") else "left"
        table.add_column(name, justify=right, no_wrap=True, min_width=size, max_width=size)
    for row in cells:
        table.add_row(*(Text(row[name]) for name in shown))
    table.width = sum(shown.values()) + GAP * len(shown)
    return table


def _cells(episode: Mapping[str, Any], metric: str) -> dict[str, str]:
    row = episode_row(episode, metrics=(metric,))
    number = f" #{row['sample']}" if row["sample"] else ""
    score = row[metric]
    cells = {
        "episode": f"{row['problem']}{number}",
        "kind": episode["kind"],
        metric: "" if score is None else f"{score:.2f}",
        "tokens": f"{row['tokens_total']:,}",
        "status": str(row["error"] or row["status"] or "no score"),
        "answered": (episode["score"] or {}).get("extracted") or "-",
        "gold": episode["answers"][0],
    }
    return {name: inert(" ".join(text.split())) for name, text in cells.items()}


def _shown(sizes: Mapping[str, int], width: int) -> dict[str, int]:
    """The columns that fit, in their order, and their widths."""
    for dropped in range(len(DROPPED) + 1):
        kept = {name: size for name, size in sizes.items() if name not in DROPPED[:dropped]}
        answers = [name for name in ("answered", "gold") if name in kept]
        others = sum(size for name, size in kept.items() if name not in answers)
        left = width - others - GAP * len(kept)
        if left >= sum(min(kept[name], SHORTEST) for name in answers):
            break
    while answers:
        name = min(answers, key=kept.__getitem__)
        kept[name] = min(kept[name], LONGEST, left // len(answers))
        left -= kept[name]
        answers.remove(name)
    return kept
