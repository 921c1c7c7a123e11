"""What went wrong, by arm, beside its score: one cell per arm and trouble, the darker the more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from parley.analysis.conduct import TROUBLES, troubles
from parley.analysis.flow import MOST, Flow
from parley.analysis.naming import facets, settings, shortest
from parley.analysis.style import (
    DPI,
    GREY,
    INK,
    SCORES,
    SCREEN,
    Look,
    Row,
    head,
    head_inches,
    number,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

HIGH = 0.3
"""Inches from one arm to the next."""
DARK = 0.55
"""Share from which a number stands white on its cell."""
SHADES = ("#FFF6F0", "#F5B994", "#D55E00", "#8A3A00")
Line = tuple[str, Row | None, list[float]]


def draw(
    rows: Sequence[Row], flows: Sequence[Flow], title: str = "", *, look: Look = SCREEN
) -> Figure:
    """Rows of the results table with their arms' flows, in the table's order, under a heading per
    benchmark and model where several."""
    from matplotlib.figure import Figure

    lines = _lines(rows, flows)
    wide = 9.0 if look.head else 2 * look.panel[0]
    unit = look.small / 10
    told = wrapped([settings(rows), *_told(flows)], wide) if look.head else []
    top = (head_inches(len(told)) if look.head else 0.0) + (1.15 if look.head else 1.3) * unit
    high = top + HIGH * unit * max(1, len(lines)) + 0.15
    dots = DPI if look.head else 2 * DPI
    figure = Figure(figsize=(wide, high), dpi=dots, facecolor="white")
    axis = figure.subplots()
    longest = max((len(label) for label, _, _ in lines), default=0)
    figure.subplots_adjust(
        left=(0.3 + 0.08 * min(longest, 34)) * unit / wide,
        right=1 - 0.75 * unit / wide,
        bottom=0.12 / high,
        top=1 - top / high,
    )
    _cells(axis, lines, look)
    _heads(axis, rows, look)
    if not rows:
        axis.text(0.5, 0.5, "no finished episode yet", transform=axis.transAxes, ha="center")
    if look.head:
        studies = ", ".join(dict.fromkeys(str(row["study"]) for row in rows))
        head(figure, title or f"{studies}: what went wrong", told, [])
    return figure


def _told(flows: Sequence[Flow]) -> list[str]:
    told = [
        "Percent of all episodes, of all messages, and of the episodes in which two agents or more "
        "name an answer."
    ]
    if any(found.episodes >= MOST for found in flows):
        told.append(f"Disagreement is of the first {MOST:,} episodes of each arm.")
    return told


def _lines(rows: Sequence[Row], flows: Sequence[Flow]) -> list[Line]:
    """A label, an arm and its shares; a heading has no arm."""
    groups = facets(rows)
    lines: list[Line] = []
    for (benchmark, model), places in groups.items():
        if len(groups) > 1:
            lines.append((f"{benchmark} · {model}", None, []))
        names = shortest([rows[i] for i in places])
        lines += [
            (name, rows[i], troubles(rows[i], flows[i]))
            for name, i in zip(names, places, strict=True)
        ]
    return lines


def _cells(axis: Axes, lines: Sequence[Line], look: Look) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("troubles", SHADES)
    for down, (_, row, shares) in enumerate(lines):
        if row is not None:
            score = number(row.get("score"))
            said = "–" if math.isnan(score) else f"{100 * score:.1f}"
            axis.text(
                0, down, said, ha="center", va="center", fontsize=look.small, fontweight="bold"
            )
        for across, share in enumerate(shares, 1):
            axis.add_patch(_cell(across + _gap(across - 1), down, share, shades))
            colour = GREY if not share > 0 else "white" if share > DARK else INK
            axis.text(
                across + _gap(across - 1),
                down,
                _percent(share),
                ha="center",
                va="center",
                fontsize=look.small,
                color=colour,
            )
    axis.set_yticks(range(len(lines)), [label for label, _, _ in lines], fontsize=look.small)
    for text, (_, row, _) in zip(axis.get_yticklabels(), lines, strict=True):
        text.set_fontweight("normal" if row else "bold")
    axis.set_ylim(max(1, len(lines)) - 0.5, -0.5)
    axis.set_xlim(-0.6, len(TROUBLES) + 0.5 + _gap(len(TROUBLES) - 1))
    axis.spines[:].set_visible(False)
    axis.tick_params(length=0)
    axis.set_xticks([])


def _cell(across: float, down: int, share: float, shades: Colormap) -> Rectangle:
    from matplotlib.patches import Rectangle

    known = not math.isnan(share)
    colour = shades(share) if known and share > 0 else "white"
    return Rectangle(
        (across - 0.5, down - 0.5), 1, 1, fc=colour, ec="#E3E3E3", lw=0.8, clip_on=False
    )


def _heads(axis: Axes, rows: Sequence[Row], look: Look) -> None:
    """Names of the columns, slanted; their groups stand apart."""
    transform = axis.get_xaxis_transform()
    metrics = dict.fromkeys(str(row["metric"]) for row in rows)
    score = ", ".join(SCORES.get(name, name) for name in metrics)
    names = [f"{score} (%)", *(each.name for each in TROUBLES)]
    for across, name in enumerate(names):
        place = across + _gap(across - 1)
        axis.text(
            place - 0.15,
            1.02,
            name,
            rotation=40,
            ha="left",
            va="bottom",
            fontsize=look.small,
            fontweight="bold" if across == 0 else "normal",
            transform=transform,
            rotation_mode="anchor",
        )


def _gap(place: int) -> float:
    """Room before columns that are shares of something else than those before them."""
    if place < 0:
        return 0.0
    abouts = [each.about for each in TROUBLES[: place + 1]]
    return 0.25 * len(dict.fromkeys(abouts))


def _percent(share: float) -> str:
    if math.isnan(share):
        return "–"
    if 0 < share < 0.005:
        return "<1"
    return f"{100 * share:.0f}"
