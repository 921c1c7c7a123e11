"""Quality against cost: headline score over tokens per problem, with the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from parley.analysis.naming import facets, settings, shortest
from parley.analysis.placing import Point, place_labels
from parley.analysis.style import (
    DPI,
    GREY,
    INK,
    LINE,
    SCORES,
    SMALL,
    WARNING,
    Row,
    colours,
    darker,
    head,
    head_inches,
    number,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES = (0, (4, 2))
INTERVALS = "bars: 95% bootstrap intervals over problems"


def draw(rows: Sequence[Row], title: str = "") -> Figure:
    """One facet per benchmark and model, those of one benchmark on the same axes. Arms without a
    point are named below, with the reason."""
    from matplotlib.figure import Figure

    groups = facets(rows) or {("", ""): []}
    across = min(len(groups), 2 if len(groups) in (2, 4) else 3)
    down = math.ceil(len(groups) / across)
    cell_wide, cell_high = (8.0, 4.7) if len(groups) == 1 else (5.4, 4.3)
    wide = cell_wide * across
    told, warned = wrapped([settings(rows)], wide), wrapped(_small(rows), wide)
    notes = wrapped(_notes(rows), wide)
    top = head_inches(len(told) + len(warned))
    foot = 0.45 + LINE * len(notes)
    high = cell_high * down + top + foot
    figure = Figure(figsize=(wide, high), dpi=DPI, facecolor="white")
    axes = figure.subplots(down, across, squeeze=False)
    figure.subplots_adjust(
        left=0.8 / wide,
        right=1 - 0.2 / wide,
        bottom=(foot + 0.55) / high,
        top=1 - (top + 0.35) / high,
        wspace=0.85 / (cell_wide - 0.9),
        hspace=1.0 / (cell_high - 0.95),
    )
    palette = colours(rows)
    for axis in axes.flat[len(groups) :]:
        axis.set_axis_off()
    for axis, ((benchmark, model), positions) in zip(axes.flat, groups.items(), strict=False):
        mates = [row for row in rows if str(row["benchmark"]) == benchmark]
        name = f"{benchmark} · {model}   " if len(groups) > 1 else ""
        _facet(axis, [rows[i] for i in positions], mates, palette, name)
    studies = ", ".join(dict.fromkeys(str(row["study"]) for row in rows))
    head(figure, title or f"{studies}: quality against cost", told, warned)
    _foot(figure, notes)
    return figure


def has_point(row: Row) -> bool:
    """Whether the arm has both a score and a cost."""
    return not any(math.isnan(number(row[name])) for name in ("score", "tokens_total"))


def front_line(rows: Sequence[Row], edge: float) -> list[Point]:
    """Corners of the best score to be had for at most so many tokens, out to the right edge."""
    line: list[Point] = []
    for x, y in sorted({_xy(row) for row in rows if row["front"]}):
        if line:
            line.append((x, line[-1][1]))
        line.append((x, y))
    return [*line, (edge, line[-1][1])] if line else []


def _facet(
    axis: Axes, rows: Sequence[Row], mates: Sequence[Row], palette: dict[str, str], name: str
) -> None:
    from matplotlib.ticker import MaxNLocator

    drawn = [(r, label) for r, label in zip(rows, shortest(rows), strict=True) if has_point(r)]
    kept = [row for row, _ in drawn]
    axis.set_title(f"{name}{_counted(kept)}", fontsize=11, loc="left")
    axis.grid(color="#E8E8E8", lw=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    metric = str(rows[0]["metric"]) if rows else "score"
    axis.set_xlabel("tokens per problem (prompt + completion, all calls)", fontsize=11)
    axis.set_ylabel(f"{SCORES.get(metric, metric)} (%)", fontsize=11)
    axis.tick_params(labelsize=10)
    axis.xaxis.set_major_formatter("{x:,.0f}")
    if not drawn:
        axis.text(0.5, 0.5, "no arm has a point yet", transform=axis.transAxes, ha="center")
        return
    limits = [row for row in mates if has_point(row)]
    axis.set_xlim(*_limits([edge for row in limits for edge in _bounds(row, "tokens")], 0.18))
    low, high = _limits([edge for row in limits for edge in _bounds(row, "score")], 0.12)
    high = max(high, 10)
    ticks = MaxNLocator(7, steps=[1, 2, 5, 10]).tick_values(low, high)
    axis.set_yticks([tick for tick in ticks if tick <= 100])
    axis.set_ylim(low, min(high, 104))
    front = front_line(kept, axis.get_xlim()[1])
    if front:
        xs, ys = zip(*front, strict=True)
        axis.plot(xs, ys, color=INK, lw=1.3, ls=DASHES, zorder=1)
    for row in kept:
        _mark(axis, row, palette[str(row["strategy"])])
    place_labels(
        axis,
        [_xy(row) for row in kept],
        [label for _, label in drawn],
        colours=[darker(palette[str(row["strategy"])]) for row in kept],
        lines=[*(line for row in kept for line in _whiskers(row)), *pairwise(front)],
    )


def _mark(axis: Axes, row: Row, colour: str) -> None:
    for start, end in _whiskers(row):
        axis.plot(*zip(start, end, strict=True), color=colour, lw=1.6, alpha=0.5, zorder=3)
    face = colour if row["front"] else "white"
    axis.plot(*_xy(row), "o", ms=9, mfc=face, mec=colour, mew=2, zorder=5, clip_on=False)


def _foot(figure: Figure, notes: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    wide, high = figure.get_size_inches()
    for index, note in enumerate(reversed(notes)):
        figure.text(0.2 / wide, (0.12 + LINE * index) / high, note, fontsize=10, color=WARNING)
    base = (0.2 + LINE * len(notes)) / high
    figure.text(0.2 / wide, base, f"{INTERVALS}{_zoomed(figure)}", fontsize=10, color=GREY)
    on_front = Line2D([], [], color=INK, ls=DASHES, lw=1.3, marker="o", ms=8, label="Pareto front")
    beaten = Line2D([], [], color=INK, ls="", marker="o", ms=8, mfc="white", mew=1.6)
    beaten.set_label("off the front")
    figure.legend(
        handles=[on_front, beaten],
        loc="lower right",
        bbox_to_anchor=(1 - 0.1 / wide, base - 0.13 / high),
        ncols=2,
        frameon=False,
        fontsize=10,
    )


def _zoomed(figure: Figure) -> str:
    tokens = any(axis.get_xlim()[0] > 0 for axis in figure.axes)
    scores = any(axis.get_ylim()[0] > 0 for axis in figure.axes)
    if tokens and scores:
        return "; axes not from 0"
    if tokens or scores:
        return f"; {'token' if tokens else 'score'} axis not from 0"
    return ""


def _small(rows: Sequence[Row]) -> list[str]:
    counts = [int(row["n"]) for row in rows if has_point(row)]
    if not counts or min(counts) >= SMALL:
        return []
    return [f"Small n ({min(counts)}): differences between arms may be chance."]


def _notes(rows: Sequence[Row]) -> list[str]:
    """What the axes cannot show: arms without a point, and errors that count as 0."""
    found = []
    for row, label in zip(rows, shortest(rows), strict=True):
        if not row["n"]:
            found.append(f"{label}: not drawn, no finished episode.")
        elif not has_point(row):
            count = f"{row['unscored']} of {row['episodes']} episodes have no {row['metric']}"
            found.append(f"{label}: not drawn, {count}.")
        if row["errors"]:
            found.append(f"{label}: {row['errors']} of {row['episodes']} failed, counted as 0.")
    return found


def _counted(rows: Sequence[Row]) -> str:
    counts = sorted({int(row["n"]) for row in rows}) or [0]
    span = "–".join(dict.fromkeys(str(n) for n in (counts[0], counts[-1])))
    return f"n = {span} problem{'' if span == '1' else 's'}"


def _xy(row: Row) -> Point:
    return float(row["tokens_total"]), 100 * float(row["score"])


def _bounds(row: Row, name: str) -> tuple[float, float]:
    """The interval, or the point itself where one problem leaves none."""
    x, y = _xy(row)
    middle, scale = (x, 1) if name == "tokens" else (y, 100)
    low, high = scale * number(row[f"{name}_low"]), scale * number(row[f"{name}_high"])
    return (middle, middle) if math.isnan(low) else (low, high)


def _whiskers(row: Row) -> list[tuple[Point, Point]]:
    x, y = _xy(row)
    (left, right), (low, high) = _bounds(row, "tokens"), _bounds(row, "score")
    return [((left, y), (right, y)), ((x, low), (x, high))]


def _limits(values: Sequence[float], room: float) -> tuple[float, float]:
    """From 0 where that wastes less than a third of the axis, or where there is but one value;
    else around the values."""
    low, high = min(values), max(values)
    if low <= 0.34 * high or low == high:
        return 0.0, 1.12 * high or 1.0
    space = room * (high - low)
    return max(0.0, low - space), high + space
