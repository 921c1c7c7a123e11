"""The results of a study for a terminal: scores in percent, tokens per problem.

One table where it fits. In a narrow terminal it becomes two or three, each with the arm's name and
its truncation: nothing is dropped, and no name is broken over lines.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from parley.analysis.arm_rows import GRADES, METRICS, SAMPLED, TOKENS, Row, grade_column
from parley.analysis.frames import plain_rows
from parley.analysis.naming import counted, facets, settings, shortest
from parley.analysis.stats import BINARY
from parley.metrics import STATUSES

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group
    from rich.table import Table

FIXED = ("template", "system", "examples", "question", "instruction", "cue")
PARTS = ("fixed", "evid.", "reread", "reason", "publ.", "other")
LAYOUTS = (
    ("scores+tokens+conduct",),
    ("scores+conduct", "tokens"),
    ("scores", "tokens", "conduct"),
)
"""Ways to split the columns into tables, the first that fits is taken."""
WIDEST = 36
"""Columns of a terminal that an arm's name may take; a longer one is folded."""
_TITLES = {"em": "EM %", "f1": "F1 %", "accuracy": "accuracy %"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A heading, the cells in the order of the rows, and the group that it stays with."""

    group: str
    title: str
    cells: tuple[str, ...]
    text: bool = False


def to_rich(table: pd.DataFrame, *, width: int = 120) -> Group:
    """All arms, for a terminal of so many columns."""
    from rich.console import Group
    from rich.text import Text

    rows = plain_rows(table)
    tables = _tables(rows, _columns(table, rows), width)
    title = f"{', '.join(dict.fromkeys(row['study'] for row in rows))}: {counted(len(rows), 'arm')}"
    return Group(Text(title, style="bold"), *tables, Text(_caption(rows)))


def _columns(table: pd.DataFrame, rows: Sequence[Row]) -> list[Column]:
    def numbers(group: str, title: str, cells: Sequence[str]) -> Column:
        return Column(group=group, title=title, cells=tuple(cells))

    metrics = [m for m in METRICS if m != "f1_squad" and not table[m].isna().all()]
    spent = [_spent(row) for row in rows]
    found = [numbers("scores", "n", [str(row["n"]) for row in rows])]
    if any(row["missing"] for row in rows):
        found.append(numbers("scores", "miss", [str(row["missing"]) for row in rows]))
    found.append(numbers("scores", "err", [str(row["errors"]) for row in rows]))
    found += [numbers("scores", _TITLES[m], [_percent(row, m) for row in rows]) for m in metrics]
    found += [numbers("scores", title, cells) for title, cells in _sampled(rows)]
    found.append(numbers("scores", "tokens", [one[0] for one in spent]))
    for place, name in enumerate(PARTS, start=1):
        title = f"{'prompt' if place < 4 else 'compl.'}\n{name}"
        found.append(numbers("tokens", title, [one[place] for one in spent]))
    if any(row["tokens_granted"] is not None for row in rows):
        found.append(numbers("tokens", "used of\ngranted", [_granted(row) for row in rows]))
    return [
        *found,
        Column(group="conduct", title="messages", cells=tuple(map(_messages, rows)), text=True),
        Column(group="conduct", title="answers", cells=tuple(map(_answers, rows)), text=True),
    ]


def _tables(rows: Sequence[Row], columns: Sequence[Column], width: int) -> list[Table]:
    """The first of LAYOUTS that fits; else as many columns to a table as do."""
    from rich.console import Console
    from rich.measure import measure_renderables

    console = Console(width=10_000, file=io.StringIO())

    def fits(tables: Sequence[Table]) -> bool:
        return measure_renderables(console, console.options, tables).minimum <= width

    for layout in LAYOUTS:
        parts = [[c for c in columns if c.group in part.split("+")] for part in layout]
        tables = [_table(rows, part) for part in parts]
        if fits(tables):
            return tables
    parts = [[]]
    for column in columns:
        if parts[-1] and not fits([_table(rows, [*parts[-1], column])]):
            parts.append([])
        parts[-1].append(column)
    return [_table(rows, part) for part in parts]


def _table(rows: Sequence[Row], columns: Sequence[Column]) -> Table:
    """The arms with these columns; the share of truncated episodes is in every table."""
    from rich.table import Table
    from rich.text import Text

    share = Column(group="scores", title="trunc.", cells=tuple(map(_truncated, rows)))
    numbers = [column for column in columns if not column.text]
    chosen = [*numbers, share, *(column for column in columns if column.text)]
    made = Table(box=None, padding=(0, 1), pad_edge=False, collapse_padding=True)
    found = facets(rows)
    named = [(shortest([rows[i] for i in positions]), positions) for positions in found.values()]
    longest = max((len(label) for labels, _ in named for label in labels), default=0) + 2
    made.add_column("arm", overflow="fold", min_width=min(longest, WIDEST), max_width=WIDEST)
    for column in chosen:
        if column.text:
            made.add_column(column.title, overflow="fold", min_width=12, max_width=30)
        else:
            widest = max(map(len, (*column.title.split("\n"), *column.cells)))
            made.add_column(column.title, justify="right", no_wrap=True, min_width=widest)
    for (benchmark, model), (labels, positions) in zip(found, named, strict=True):
        if len(found) > 1:
            made.add_row()
            made.add_row(Text(f"{benchmark}\n{model}", style="bold"))
        for label, place in zip(labels, positions, strict=True):
            mark = "●" if rows[place]["front"] else " "
            made.add_row(Text(f"{mark} {label}"), *(Text(c.cells[place]) for c in chosen))
    return made


def _caption(rows: Sequence[Row]) -> str:
    guessed = any(row["estimated"] for row in rows)
    wilson = " (accuracies: Wilson)" if BINARY & {row["metric"] for row in rows} else ""
    said = (
        f"tokens per problem, means; intervals: 95% bootstrap over problems{wilson}; ● Pareto front"
    )
    lines = [settings(rows), said + ("; ~ partly estimated" if guessed else "")]
    if _sampled(rows):
        lines.append("lost: samples that failed or are not recorded; 0 in avg, pass and majority")
    return "\n".join(lines)


def _percent(row: Row, metric: str) -> str:
    if row[metric] is None:
        return ""
    if metric != row["metric"] or row["score_low"] is None:
        return f"{100 * row[metric]:.1f}"
    return f"{100 * row[metric]:.1f} {100 * row['score_low']:.0f}–{100 * row['score_high']:.0f}"


def _sampled(rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    """Titles and cells of what several samples of a problem give; none where all arms have one."""
    several = {row["samples"] for row in rows if row["samples"] > 1}
    if not several:
        return []
    k = str(several.pop()) if len(several) == 1 else "k"
    columns = [
        (
            name.replace("@k", f"@{k}").replace("majority", "maj."),
            [_score(row[name]) for row in rows],
        )
        for name in SAMPLED
    ]
    return [*columns, ("lost", [str(row["samples_missing"]) for row in rows])]


def _score(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _spent(row: Row) -> list[str]:
    """Tokens per problem, whole and by part: three of the prompt, three of the completion."""
    if row["tokens_total"] is None:
        return [""] * 7
    known = {name: row[f"tokens_{name}"] for name in TOKENS}
    fixed = math.fsum(known[part] for part in FIXED)
    other = math.fsum(known[fate] for fate in ("discarded", "answer", "control"))
    parts = (fixed, known["evidence"], known["reread"], known["private"], known["published"], other)
    mark = "~" if row["estimated"] else ""
    return [f"{mark}{row['tokens_total']:,.0f}", *(f"{part:,.0f}" for part in parts)]


def _granted(row: Row) -> str:
    """Completion tokens used beside those granted: a cap is not a match."""
    if row["tokens_granted"] is None:
        return ""
    return f"{row['tokens_completion']:,.0f} of {row['tokens_granted']:,.0f}"


def _truncated(row: Row) -> str:
    return "" if row["truncated"] is None else f"{row['truncated']:.0%}"


def _messages(row: Row) -> str:
    """Shares of messages by status, those that do not occur left out."""
    return _shares(row, {f"messages_{status}": status for status in STATUSES})


def _answers(row: Row) -> str:
    """Shares of episodes by how their answer was read, those that do not occur left out."""
    others = [name.removeprefix("answers_") for name in row if name.startswith("answers_")]
    grades = dict.fromkeys((*GRADES, "no_answer", *others))
    return _shares(row, {grade_column(grade): grade for grade in grades})


def _shares(row: Row, names: dict[str, str]) -> str:
    if not row["episodes"]:
        return ""
    shares = {said: row[name] for name, said in names.items()}
    found = [f"{share:.0%} {said.replace('_', ' ')}" for said, share in shares.items() if share]
    return ", ".join(found) if found else "none"
