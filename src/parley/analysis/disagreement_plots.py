"""Two pictures of disagreement: how often every two arms differ, and two arms on every problem."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from parley.analysis.disagreement import Apart
from parley.analysis.style import (
    INK,
    SCREEN,
    Look,
    bare,
    darker,
    head,
    head_inches,
    panels,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DARK = 0.6
"""Share of problems from which a number stands white on its cell."""
NAMED = 36
"""Problems up to which each bar has its id."""


def matrix(
    found: Sequence[Apart], names: Sequence[str], title: str = "", *, look: Look = SCREEN
) -> Figure:
    """Row against column: problems on which the row's arm is better, of those that both hold. A
    problem on which they tie is in neither cell. `names` is the order of the arms."""
    met = {name for pair in found for name in (pair.first, pair.second)}
    names = [name for name in names if name in met]
    labels, common = brief(names)
    longest = max(map(len, labels), default=5)
    left = 0.4 + 0.085 * longest
    wide = min(12.0, max(5.2, left + 0.8 * len(names) + 0.06 * longest + 0.2))
    sizes = {pair.n for pair in found}
    of = f", of {min(sizes)}," if len(sizes) == 1 else ""
    told = wrapped([*common, f"Problems{of} on which the row is better than the column."], wide)
    top = (head_inches(len(told)) if look.head else 0.0) + 0.045 * longest
    small = replace(look, single=(wide, 0.55 + 0.42 * max(1, len(names))))
    figure, axes = panels(1, 1, look=small, top=top, foot=0.0, left=left)
    _squares(axes[0], found, names, labels, small)
    if look.head:
        head(figure, title or "Which arm is better on how many problems", told, [])
    return figure


def gaps(
    rows: Sequence[Mapping[str, object]],
    first: str,
    second: str,
    colours: tuple[str, str] = ("#0072B2", "#D55E00"),
    title: str = "",
    *,
    look: Look = SCREEN,
) -> Figure:
    """One bar per problem, sorted: up where the first arm scores more, down where the second does.
    Rows are those of `disagreement.between`."""
    ordered = sorted(rows, key=lambda row: (-_gap(row), str(row["problem"])))
    values = [100 * _gap(row) for row in ordered]
    won, lost = sum(v > 0 for v in values), sum(v < 0 for v in values)
    (first, second), common = brief([first, second])
    said = (
        f"{first} is better on {won} of {len(values)} problems, {second} on {lost}; alike on "
        f"{len(values) - won - lost}. Points of the headline score, every shared problem."
    )
    wide = 9.0 if look.head else 2 * look.panel[0]
    told = wrapped([*common, said], wide)
    top = head_inches(len(told)) if look.head else 0.0
    named = len(values) <= NAMED
    longest = max((len(str(row["problem"])) for row in ordered), default=1)
    foot = max(0.0, 0.062 * longest - 0.35) if named else -0.25
    small = replace(look, single=(wide, 2.6))
    figure, axes = panels(1, 1, look=small, top=top, foot=foot, left=0.75)
    axis = axes[0]
    shades = [colours[0] if value >= 0 else colours[1] for value in values]
    axis.bar(range(len(values)), values, 0.8, color=shades, zorder=2)
    axis.axhline(0, color=INK, lw=0.8, zorder=3)
    bare(axis, look, grid="y")
    axis.set_ylabel("difference, points", fontsize=look.label)
    reach = 1.15 * (max(map(abs, values), default=0) or 1)
    axis.set_ylim(-reach, reach)
    axis.set_xlim(-0.6, max(1, len(values)) - 0.4)
    axis.set_xticks([])
    if named:
        labels = [str(row["problem"]) for row in ordered]
        axis.set_xticks(range(len(values)), labels, fontsize=0.8 * look.tick, rotation=90)
    for text, place, down, colour in ((first, 0.99, 0.93, 0), (second, 0.01, 0.07, 1)):
        axis.text(
            place,
            down,
            f"{text} better",
            transform=axis.transAxes,
            ha="left" if place < 0.5 else "right",
            va="center",
            fontsize=look.small,
            color=darker(colours[colour]),
        )
    if look.head:
        head(figure, title or f"{first} less {second}, problem by problem", told, [])
    return figure


def brief(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names without what all of them have (a model, say), and what that is."""
    parts = [name.split(" · ") for name in names]
    common = [part for part in parts[0] if all(part in each for each in parts)] if parts else []
    left = [[part for part in each if part not in common] for each in parts]
    if not all(left):
        return list(names), []
    return [" · ".join(each) for each in left], [" · ".join(common)] if common else []


def _squares(
    axis: Axes, found: Sequence[Apart], names: Sequence[str], labels: Sequence[str], look: Look
) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    alike = len({pair.n for pair in found}) == 1
    shades = LinearSegmentedColormap.from_list("better", ["#F4F8FB", "#0072B2", "#00304D"])
    better = {(pair.first, pair.second): (pair.won, pair.n) for pair in found}
    better |= {(pair.second, pair.first): (pair.lost, pair.n) for pair in found}
    cells = [
        [
            _share(*better[down, across]) if (down, across) in better else math.nan
            for across in names
        ]
        for down in names
    ]
    if names:
        axis.imshow(cells, cmap=shades, vmin=0, vmax=1, aspect="auto")
    for down, line in enumerate(cells):
        for across, share in enumerate(line):
            if math.isnan(share):
                continue
            won, n = better[names[down], names[across]]
            colour = "white" if share > 0.5 * DARK else INK
            text = f"{won}" if alike else f"{won} of {n}"
            axis.text(across, down, text, ha="center", va="center", color=colour, size=look.small)
    axis.set_xticks(range(len(names)), [f"than {name}" for name in labels], fontsize=look.tick)
    axis.xaxis.tick_top()
    if len(names) > 3:
        axis.tick_params(axis="x", labelrotation=25)
        for label in axis.get_xticklabels():
            label.set_horizontalalignment("left")
            label.set_rotation_mode("anchor")
    axis.set_yticks(range(len(names)), labels, fontsize=look.tick)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    axis.set_xticks([i + 0.5 for i in range(len(names) - 1)], minor=True)
    axis.set_yticks([i + 0.5 for i in range(len(names) - 1)], minor=True)
    axis.grid(which="minor", color="white", lw=2)
    axis.tick_params(which="minor", length=0)
    if not names:
        axis.text(0.5, 0.5, "no two arms to compare", transform=axis.transAxes, ha="center")
        axis.set_axis_off()


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _gap(row: Mapping[str, object]) -> float:
    return float(str(row["difference"]))
