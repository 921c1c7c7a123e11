"""Quality against cost, with the Pareto front: by default headline score over tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from parley.analysis.costs import Cost
from parley.analysis.naming import facets, settings, shortest
from parley.analysis.placing import Point, place_labels
from parley.analysis.stats import BINARY
from parley.analysis.style import (
    GREY,
    INK,
    SCORES,
    SCREEN,
    SMALL,
    WARNING,
    Look,
    Row,
    colours,
    darker,
    head,
    head_inches,
    number,
    panels,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

DASHES = (0, (4, 2))
INTERVALS = "bars: 95% bootstrap intervals over problems"
ACCURACY = "bars: 95% intervals (Wilson for single samples)"
REGIONS = "shaded: 95% of joint draws of problems; %: chance of being on the front"
SPREAD = 5.991
"""Squared radius, in standard deviations, of an ellipse that holds 95% of a plane's draws."""


def draw(
    rows: Sequence[Row], title: str = "", *, cost: Cost | None = None, look: Look = SCREEN
) -> Figure:
    """One facet per benchmark and model, those of one benchmark on the same axes. Arms without a
    point are named below, with the reason.

    Rows are those of the results table, or of `placed.place` for other axes, chances and regions;
    `cost` is then the one they were placed by.
    """
    cost = cost or Cost()
    rows = [_costed(row) for row in rows]
    groups = facets(rows) or {("", ""): []}
    across = min(len(groups), 2 if len(groups) in (2, 4) else look.most)
    wide = (look.single if len(groups) == 1 else look.panel)[0] * across
    told = wrapped([settings(rows)], wide) if look.head else []
    warned = wrapped(_small(rows), wide) if look.head else []
    notes = wrapped([*_key(rows, look), *_notes(rows)], wide, look.small)
    top = head_inches(len(told) + len(warned)) if look.head else 0.0
    foot = (0.45 if look.head else 0.3) + look.line * len(notes)
    figure, axes = panels(len(groups), across, look=look, top=top, foot=foot)
    palette = colours(rows)
    for axis, ((benchmark, model), positions) in zip(axes, groups.items(), strict=False):
        alike = [places for key, places in groups.items() if key[0] == benchmark]
        mates = [rows[i] for places in alike for i in places]
        name = f"{benchmark} · {model}   " if len(groups) > 1 else ""
        _facet(axis, [rows[i] for i in positions], mates, palette, name, cost, look)
    if look.head:
        studies = ", ".join(dict.fromkeys(str(row["study"]) for row in rows))
        head(figure, title or f"{studies}: quality against cost", told, warned)
    binary = all(row["metric"] in BINARY for row in rows) and rows
    _foot(figure, ACCURACY if binary else INTERVALS, notes, look)
    return figure


def has_point(row: Row) -> bool:
    """Whether the arm has both a score and a cost."""
    return not any(math.isnan(number(row[name])) for name in ("score", "cost"))


def _costed(row: Row) -> Row:
    """A row of the results table has its tokens as its cost."""
    if "cost" in row:
        return row
    ends = {f"cost_{end}": row[f"tokens_{end}"] for end in ("low", "high")}
    return {**row, "cost": row["tokens_total"], **ends}


def front_line(rows: Sequence[Row], edge: float) -> list[Point]:
    """Corners of the best score to be had for at most so many tokens, out to the right edge."""
    line: list[Point] = []
    for x, y in sorted({_xy(_costed(row)) for row in rows if row["front"]}):
        if line:
            line.append((x, line[-1][1]))
        line.append((x, y))
    return [*line, (edge, line[-1][1])] if line else []


def _facet(
    axis: Axes,
    rows: Sequence[Row],
    mates: Sequence[Row],
    palette: dict[str, str],
    name: str,
    cost: Cost,
    look: Look,
) -> None:
    from matplotlib.ticker import MaxNLocator

    drawn = [(r, label) for r, label in zip(rows, shortest(rows), strict=True) if has_point(r)]
    kept = [row for row, _ in drawn]
    axis.set_title(f"{name}{_counted(kept)}", fontsize=look.heading, loc="left")
    axis.grid(color="#E8E8E8", lw=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    metric = str(rows[0]["metric"]) if rows else "score"
    axis.set_xlabel(cost.label if look.head else _short(cost), fontsize=look.label)
    axis.set_ylabel(f"{SCORES.get(metric, metric)} (%)", fontsize=look.label)
    axis.tick_params(labelsize=look.tick)
    axis.xaxis.set_major_formatter(cost.ticks)
    if not drawn:
        axis.text(0.5, 0.5, "no arm has a point yet", transform=axis.transAxes, ha="center")
        return
    limits = [row for row in mates if has_point(row)]
    axis.set_xlim(*_limits([edge for row in limits for edge in _bounds(row, "cost")], 0.18))
    axis.xaxis.set_major_locator(MaxNLocator(5 if look.single[0] < 4 else 8))
    low, high = _limits([edge for row in limits for edge in _bounds(row, "score")], 0.12)
    high = max(high, 10)
    ticks = MaxNLocator(7, steps=[1, 2, 5, 10]).tick_values(low, high)
    axis.set_yticks([tick for tick in ticks if tick <= 100])
    axis.set_ylim(low, min(high, 104))
    front = front_line(kept, axis.get_xlim()[1])
    if front:
        xs, ys = zip(*front, strict=True)
        axis.plot(xs, ys, color=INK, lw=0.8 * look.width, ls=DASHES, zorder=1)
    for row in kept:
        _mark(axis, row, palette[str(row["strategy"])], look)
    place_labels(
        axis,
        [_xy(row) for row in kept],
        [_named(label, row) for row, label in drawn],
        colours=[darker(palette[str(row["strategy"])]) for row in kept],
        lines=[*(line for row in kept for line in _whiskers(row)), *pairwise(front)],
        size=look.small,
    )


def _mark(axis: Axes, row: Row, colour: str, look: Look) -> None:
    if row.get("spread"):
        axis.add_patch(_region(row, colour))
    for start, end in _whiskers(row):
        xs, ys = zip(start, end, strict=True)
        axis.plot(xs, ys, color=colour, lw=look.width, alpha=0.5, zorder=3)
    face = colour if row["front"] else "white"
    size, edge = look.marker, 2 * look.marker / 9
    axis.plot(*_xy(row), "o", ms=size, mfc=face, mec=colour, mew=edge, zorder=5, clip_on=False)


def _region(row: Row, colour: str) -> Patch:
    """The ellipse of the draws' covariance, its main axis turned as theirs is. Drawn in units of
    the axes, whose two scales differ by far, so as a polygon."""
    import numpy as np
    from matplotlib.patches import Polygon

    (a, b), (_, d) = row["spread"]
    along = np.linspace(0, 2 * math.pi, 97)
    wide, high = math.sqrt(a), math.sqrt(d)
    tilt = b / (wide * high) if wide * high else 0.0
    rest = math.sqrt(max(0.0, 1 - tilt * tilt))
    x, y = _xy(row)
    xs = x + math.sqrt(SPREAD) * wide * np.cos(along)
    ys = y + 100 * math.sqrt(SPREAD) * high * (tilt * np.cos(along) + rest * np.sin(along))
    corners = np.column_stack([xs, np.clip(ys, 0, 100)])
    return Polygon(corners, closed=True, fc=colour, ec="none", alpha=0.13, zorder=0.5)


def _named(label: str, row: Row) -> str:
    chance = row.get("front_chance", math.nan)
    return label if chance is None or math.isnan(chance) else f"{label} {chance:.0%}"


def _short(cost: Cost) -> str:
    """The axis label without what a caption can say."""
    return cost.label.partition(" (")[0]


def _key(rows: Sequence[Row], look: Look) -> list[str]:
    return [REGIONS] if look.head and any(row.get("spread") for row in rows) else []


def _foot(figure: Figure, told: str, notes: Sequence[str], look: Look) -> None:
    from matplotlib.lines import Line2D

    wide, high = figure.get_size_inches()
    for index, note in enumerate(reversed(notes)):
        place = (
            (0.12 + look.line * index) / high if look.head else (0.05 + look.line * index) / high
        )
        colour = GREY if note in REGIONS else WARNING
        figure.text(0.2 / wide, place, note, fontsize=look.small, color=colour)
    base = (0.14 if look.head else 0.08) + look.line * len(notes)
    if look.head:
        told = f"{told}{_zoomed(figure)}"
        figure.text(0.2 / wide, base / high, told, fontsize=look.small, color=GREY)
    size = 8 * look.marker / 9
    on_front = Line2D([], [], color=INK, ls=DASHES, lw=0.8 * look.width, marker="o", ms=size)
    on_front.set_label("Pareto front")
    beaten = Line2D([], [], color=INK, ls="", marker="o", ms=size, mfc="white", mew=size / 5)
    beaten.set_label("off the front")
    figure.legend(
        handles=[on_front, beaten],
        loc="lower right",
        bbox_to_anchor=(1 - 0.1 / wide, (base - 0.11 * look.label / 11) / high),
        ncols=2,
        frameon=False,
        fontsize=look.small,
    )


def _zoomed(figure: Figure) -> str:
    tokens = any(axis.get_xlim()[0] > 0 for axis in figure.axes)
    scores = any(axis.get_ylim()[0] > 0 for axis in figure.axes)
    if tokens and scores:
        return "; axes not from 0"
    if tokens or scores:
        return f"; {'cost' if tokens else 'score'} axis not from 0"
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
            if row.get("unpriced"):
                count = f"{row['unpriced']} of {row['episodes']} episodes have no such cost"
            found.append(f"{label}: not drawn, {count}.")
        if row["errors"]:
            found.append(f"{label}: {row['errors']} of {row['episodes']} failed, counted as 0.")
    return found


def _counted(rows: Sequence[Row]) -> str:
    counts = sorted({int(row["n"]) for row in rows}) or [0]
    span = "–".join(dict.fromkeys(str(n) for n in (counts[0], counts[-1])))
    return f"n = {span} problem{'' if span == '1' else 's'}"


def _xy(row: Row) -> Point:
    return float(row["cost"]), 100 * float(row["score"])


def _bounds(row: Row, name: str) -> tuple[float, float]:
    """The interval, or the point itself where one problem leaves none."""
    x, y = _xy(row)
    middle, scale = (x, 1) if name == "cost" else (y, 100)
    low, high = scale * number(row[f"{name}_low"]), scale * number(row[f"{name}_high"])
    return (middle, middle) if math.isnan(low) else (low, high)


def _whiskers(row: Row) -> list[tuple[Point, Point]]:
    x, y = _xy(row)
    (left, right), (low, high) = _bounds(row, "cost"), _bounds(row, "score")
    return [((left, y), (right, y)), ((x, low), (x, high))]


def _limits(values: Sequence[float], room: float) -> tuple[float, float]:
    """From 0 where that wastes less than a third of the axis, or where there is but one value;
    else around the values."""
    low, high = min(values), max(values)
    if low <= 0.34 * high or low == high:
        return 0.0, 1.12 * high or 1.0
    space = room * (high - low)
    return max(0.0, low - space), high + space
