"""Where the tokens went: one bar per arm, its parts summing to the total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from parley.analysis.naming import facets, settings, shortest
from parley.analysis.style import (
    DPI,
    SCREEN,
    WARNING,
    Look,
    Row,
    head,
    head_inches,
    number,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("instructions", "#C9CFD6", ("template", "system", "instruction", "cue")),
    ("examples", "#A3ADB8", ("examples",)),
    ("question", "#7B8894", ("question",)),
    ("evidence", "#A6CEE3", ("evidence",)),
    ("re-read messages", "#0072B2", ("history",)),
    ("private reasoning", "#F5C77E", ("private",)),
    ("published", "#D55E00", ("published",)),
    ("discarded", "#E3A6C6", ("discarded",)),
    ("answer", "#009E73", ("answer",)),
    ("control", "#000000", ("control",)),
)
"""What a bar is made of, left to right: name, colour, columns of the results table. The first
five are read (prompt), the others written (completion)."""
READ = 5
REST = "not attributed"
BAR = 0.36
"""Inches from one bar to the next."""


def draw(rows: Sequence[Row], title: str = "", *, look: Look = SCREEN) -> Figure:
    """Bars in the order of the table, under a heading per benchmark and model where several."""
    from matplotlib.figure import Figure

    drawn = [row for row in rows if row["n"]]
    lines = _lines(drawn)
    wide = 9.0 if look.head else 2 * look.panel[0]
    unit = look.small / 10
    told = wrapped([settings(rows)], wide)
    notes = wrapped(_notes(rows), wide, look.small)
    top = head_inches(len(told)) + 0.1 if look.head else 0.05
    foot = 1.4 * unit + look.line * len(notes)
    high = top + BAR * unit * max(1, len(lines)) + foot
    dots = DPI if look.head else 2 * DPI
    figure = Figure(figsize=(wide, high), dpi=dots, facecolor="white")
    axis = figure.subplots()
    longest = max((len(label) for label, _ in lines), default=0)
    figure.subplots_adjust(
        left=(0.35 + 0.085 * min(longest, 34)) * unit / wide,
        right=1 - 0.75 * unit / wide,
        bottom=foot / high,
        top=1 - top / high,
    )
    _bars(axis, lines, look)
    if look.head:
        studies = ", ".join(dict.fromkeys(str(row["study"]) for row in rows))
        head(figure, title or f"{studies}: where the tokens went", told, [])
    _key(figure, look.line * len(notes), look)
    for index, note in enumerate(reversed(notes)):
        base = (0.12 * unit + look.line * index) / high
        figure.text(0.2 / wide, base, note, fontsize=look.small, color=WARNING)
    return figure


def split(row: Row) -> list[float]:
    """Tokens per problem of each of PARTS, then what no part accounts for (never below 0)."""
    sizes = [sum(number(row[f"tokens_{column}"]) for column in columns) for _, _, columns in PARTS]
    return [*sizes, max(0.0, number(row["tokens_total"]) - sum(sizes))]


def _lines(rows: Sequence[Row]) -> list[tuple[str, Row | None]]:
    """A label and an arm per line; a heading has no arm."""
    groups = facets(rows)
    lines: list[tuple[str, Row | None]] = []
    for (benchmark, model), positions in groups.items():
        members = [rows[i] for i in positions]
        if len(groups) > 1:
            lines.append((f"{benchmark} · {model}", None))
        lines.extend(zip(shortest(members), members, strict=True))
    return lines


def _bars(axis: Axes, lines: Sequence[tuple[str, Row | None]], look: Look) -> None:
    fills = [*((colour, "") for _, colour, _ in PARTS), ("white", "////")]
    for place, (_, row) in enumerate(lines):
        left = 0.0
        for size, (colour, hatch) in zip(split(row) if row else (), fills, strict=False):
            if size >= 0.05:
                edge = "white" if not hatch else "#888888"
                axis.barh(
                    place, size, 0.72, left, color=colour, hatch=hatch, ec=edge, lw=0.6, zorder=2
                )
            left += size
        if row:
            mark = "~" if row["estimated"] else ""
            told = f" {mark}{row['tokens_total']:,.0f}"
            axis.text(left, place, told, va="center", fontsize=look.small)
    axis.set_yticks(range(len(lines)), [label for label, _ in lines], fontsize=look.small)
    for text, (_, row) in zip(axis.get_yticklabels(), lines, strict=True):
        text.set_fontweight("normal" if row else "bold")
    axis.set_ylim(max(1, len(lines)) - 0.5, -0.5)
    axis.set_xlim(0, max((number(r["tokens_total"]) for _, r in lines if r), default=1) or 1)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
    axis.tick_params(axis="x", labelsize=look.tick)
    axis.xaxis.set_major_formatter("{x:,.0f}")
    axis.grid(axis="x", color="#E8E8E8", lw=0.8)
    axis.set_axisbelow(True)
    axis.set_xlabel("tokens per problem", fontsize=look.label)
    if not lines:
        axis.text(0.5, 0.5, "no finished episode yet", transform=axis.transAxes, ha="center")


def _key(figure: Figure, up: float, look: Look) -> None:
    from matplotlib.patches import Patch

    wide, high = figure.get_size_inches()
    groups = (("read:", PARTS[:READ], 0.57), ("written:", PARTS[READ:], 0.3))
    for name, parts, place in groups:
        base = (up + place * look.small / 10) / high
        figure.text(0.2 / wide, base, name, fontsize=look.small, va="center")
        figure.legend(
            handles=[Patch(fc=colour, label=label) for label, colour, _ in parts],
            loc="center left",
            bbox_to_anchor=(0.2 / wide + 0.65 * look.small / 10 / wide, base),
            ncols=len(parts),
            frameon=False,
            fontsize=look.small,
            handlelength=1.2,
            columnspacing=1.4,
        )


def _notes(rows: Sequence[Row]) -> list[str]:
    found = []
    for row, label in zip(rows, shortest(rows), strict=True):
        if not row["n"]:
            found.append(f"{label}: not drawn, no finished episode.")
        elif split(row)[-1] >= 0.05:
            found.append(f"{label}: {split(row)[-1]:,.0f} tokens {REST} (hatched), estimated.")
    return found
