"""A comparison with published figures, as CSV, Markdown and for a terminal."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from parley.analysis.against import SAME, Comparison

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

COLUMNS = (
    *("study", "arm", "folder", "match", "table", "method", "benchmark", "model", "metric"),
    *("measured_as", "unit", "published", "measured", "measured_low", "measured_high", "n"),
    *("difference", "difference_percent", "truncated", "confidence", "source", "note"),
)
HEADS = ("arm", "published as", "metric", "published", "measured", "difference", "trunc.", "conf.")
TABLE = 120
"""Columns of a terminal that the table needs."""
Row = dict[str, Any]


def against_csv(comparison: Comparison) -> str:
    """One line per arm, published row and metric; an empty cell is a value that does not exist."""
    made = io.StringIO()
    writer = csv.DictWriter(made, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in comparison.rows:
        writer.writerow({name: _plain(row[name]) for name in COLUMNS})
    return made.getvalue()


def against_markdown(study: str, comparison: Comparison) -> str:
    """The table, then what a reader must know."""
    lines = [f"# {study}: beside published figures", "", *_told(comparison), ""]
    if comparison.rows:
        lines += [
            _line(HEADS),
            _line("---" if place < 3 else "---:" for place in range(len(HEADS))),
        ]
        lines += [_line(_cells(row)) for row in comparison.rows]
        lines += ["", *_key(comparison), ""]
    for heading, texts in _lists(comparison).items():
        lines += [f"## {heading}", "", *(f"- {text}" for text in texts), ""]
    return "\n".join(lines)


def against_rich(comparison: Comparison, *, width: int) -> Group:
    """The same for a terminal of so many columns: a table, or lines where that would not fit."""
    from rich.console import Group, RenderableType
    from rich.text import Text

    parts: list[RenderableType] = [Text(line, style="bold") for line in _told(comparison)]
    if comparison.rows:
        cells = [_cells(row) for row in comparison.rows]
        parts += [_table(cells)] if width >= TABLE else map(Text, _sentences(cells))
        parts.append(Text(" ".join(_key(comparison))))
    for heading, texts in _lists(comparison).items():
        parts += [Text(f"{heading}:", style="bold"), *(Text(f"- {text}") for text in texts)]
    return Group(*parts)


def _table(rows: Sequence[Sequence[str]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), pad_edge=False, collapse_padding=True)
    for place, head in enumerate(HEADS):
        if place < 2:
            table.add_column(head, overflow="fold", min_width=12)
        else:
            widest = max(len(head), *(len(row[place]) for row in rows))
            right: Literal["left", "right"] = "left" if place == 2 else "right"
            table.add_column(head, justify=right, no_wrap=True, min_width=widest)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _sentences(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Each arm and published row once, then a line per metric."""
    before: tuple[str, str] = ("", "")
    for arm, method, metric, there, here, gap, truncated, letter in rows:
        if before != (arm, method):
            before = arm, method
            yield f"{arm}, published as {method}; trunc. {truncated or 'unknown'}"
        said = f", difference {gap}" if gap else ""
        yield f"  {metric}: published {there} (conf. {letter}), measured {here}{said}"


def _told(comparison: Comparison) -> Iterator[str]:
    if comparison.matched:
        yield "Published figures beside measured ones."
        return
    yield (
        "No arm of this study has a published counterpart: none has the same benchmark, model, "
        "topology, strategy, channel and settings."
    )
    if comparison.rows:
        yield (
            "The nearest published rows are shown with what differs. They measure something else: "
            "read no reproduction into them."
        )


def _key(comparison: Comparison) -> Iterator[str]:
    yield (
        "Scores in percent, tokens per problem; measured with a 95% bootstrap interval over "
        "problems; trunc.: measured episodes cut short."
    )
    letters = sorted({row["confidence"] for row in comparison.rows})
    said = "; ".join(f"{letter}: {comparison.confidence.get(letter, '?')}" for letter in letters)
    yield f"conf., of the published figure: {said}."


def _lists(comparison: Comparison) -> dict[str, list[str]]:
    """Headings and what stands under them; empty ones are left out."""
    sources = {row["table"]: row["source"] for row in comparison.rows}
    notes = [
        f"{row['table']}, {row['method']}: {row['note']}." for row in comparison.rows if row["note"]
    ]
    count = sum(comparison.unused.values())
    unused = "; ".join(f"{number} of {name}" for name, number in comparison.unused.items())
    lists = {
        "Why they may not be comparable": list(comparison.caveats),
        "Arms without a published counterpart": [", ".join(comparison.alone)]
        if comparison.alone
        else [],
        "Published rows without a measured one": [f"{count}: {unused}"] if count else [],
        "Sources": [f"{table}: {source}." for table, source in sources.items()],
        "About the published rows": list(dict.fromkeys(notes)),
    }
    return {heading: texts for heading, texts in lists.items() if texts}


def _cells(row: Row) -> list[str]:
    """The cells of one row as text."""
    which = {"other benchmark": row["benchmark"], "other model": row["model"]}
    differs = [] if row["match"] == SAME else row["match"].split(", ")
    said = ", ".join(f"{one} {which.get(one, '')}".strip() for one in differs)
    mark = f" [{said}]" if said else ""
    name = row["metric"] if row["metric"] == row["measured_as"] else row["measured_as"]
    tokens = row["metric"].startswith("tokens_")
    measured = _number(row["measured"], tokens)
    if not math.isnan(row["measured_low"]):
        low, high = (_number(row[f"measured_{end}"], tokens, 0) for end in ("low", "high"))
        measured += f" {low}–{high}"
    gap = _number(row["difference"], tokens, sign=True)
    if not math.isnan(row["difference_percent"]):
        gap += f" ({row['difference_percent']:+.0f}%)"
    return [
        row["arm"],
        f"{row['method']}{mark}",
        name.removesuffix("_total") if tokens else name,
        _number(row["published"], tokens),
        measured or "none",
        gap,
        "" if math.isnan(row["truncated"]) else f"{row['truncated']:.0%}",
        row["confidence"],
    ]


def _number(value: float, tokens: bool, places: int = 1, *, sign: bool = False) -> str:
    if math.isnan(value):
        return ""
    return f"{value:{'+' if sign else ''},.{0 if tokens else places}f}"


def _plain(value: object) -> object:
    if isinstance(value, float):
        return "" if math.isnan(value) else round(value, 6)
    return value


def _line(cells: Any) -> str:
    return f"| {' | '.join(' '.join(cell.replace('|', chr(92) + '|').split()) for cell in cells)} |"
