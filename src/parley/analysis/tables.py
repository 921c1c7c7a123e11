"""The results of a study: one row per arm, as CSV and Markdown.

Scores and tokens are means over problems, the samples of a problem averaged first. An episode
that failed counts with 0 in every score (`errors` says how many); one that is planned but not
recorded is in no mean and is counted in `missing`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from parley.analysis.arm_rows import TEXTS, Row, arm_row, columns, uncertain
from parley.analysis.frames import Frames, plain_rows
from parley.analysis.naming import facets
from parley.analysis.stats import lones, pareto

if TYPE_CHECKING:
    import pandas as pd


def results(frames: Frames) -> pd.DataFrame:
    """One row per arm, cheapest first within each benchmark and model. `n` counts problems;
    `front` marks the arms that no other of the same benchmark and model beats on both axes."""
    import pandas as pd

    groups = dict(iter(frames.episodes.groupby("folder"))) if len(frames.episodes) else {}
    arms = [(arm, groups.get(arm["folder"])) for arm in frames.arm_rows()]
    asked = [uncertain(arm, episodes) if episodes is not None else [] for arm, episodes in arms]
    found = iter(lones([each for several in asked for each in several]))
    rows = [
        arm_row(arm, episodes, [next(found) for _ in each])
        for (arm, episodes), each in zip(arms, asked, strict=True)
    ]
    rows.sort(key=_order)
    for positions in facets(rows).values():
        cost = [rows[i].get("tokens_total", math.nan) for i in positions]
        # no front is drawn through scores of two kinds, or through an arm that completed nothing
        head = rows[positions[0]]["metric"]
        score = [
            rows[i].get("score", math.nan)
            if rows[i]["metric"] == head and rows[i]["errors"] < rows[i]["episodes"]
            else math.nan
            for i in positions
        ]
        for position, on_front in zip(positions, pareto(cost, score), strict=True):
            rows[position]["front"] = on_front
    return pd.DataFrame(rows, columns=columns(rows))


def to_csv(table: pd.DataFrame) -> str:
    """The whole table; an empty cell is a value that does not exist."""
    text: str = table.round(6).to_csv(index=False, lineterminator="\n")
    return text


def to_markdown(table: pd.DataFrame, columns: Sequence[str] | None = None) -> str:
    """A Markdown table of the given columns, all by default."""
    names = list(columns if columns is not None else table.columns)
    rows = [[cell(name, row[name]) for name in names] for row in plain_rows(table)]
    sides = ["---" if name in (*TEXTS, "folder") else "---:" for name in names]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (names, sides, *rows))


def cell(column: str, value: object) -> str:
    """A value as a reader wants it: shares and scores to three places, tokens to one."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.1f}" if column.startswith("tokens_") else f"{value:.3f}"
    return " ".join(str(value).replace("|", "\\|").split())


def _order(row: Row) -> tuple[str, str, bool, float, str]:
    tokens = row.get("tokens_total", math.nan)
    last = math.isnan(tokens)
    return str(row["benchmark"]), str(row["model"]), last, 0.0 if last else tokens, row["arm"]
