"""How score and cost move with the model, where a study holds several: one line per strategy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from parley.analysis.costs import Cost
from parley.analysis.naming import by_size, settings, shortest
from parley.analysis.style import (
    COLOURS,
    SCORES,
    SCREEN,
    Look,
    Row,
    bare,
    colours,
    head,
    head_inches,
    number,
    panels,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INTERVALS = "bars: 95% intervals (bootstrap over problems; Wilson for accuracies of one sample)"
ENDS = ("low", "high")
MARKERS = "osD^vPX*"
DODGE = 0.05
"""Share of the way to the next model by which the lines stand apart."""


def several(rows: Sequence[Row]) -> bool:
    """Whether some benchmark was run with more than one model."""
    found = {(str(row["benchmark"]), str(row["model"])) for row in rows if row["n"]}
    return len(found) > len({benchmark for benchmark, _ in found})


def draw(
    rows: Sequence[Row], title: str = "", *, cost: Cost | None = None, look: Look = SCREEN
) -> Figure:
    """Two panels per benchmark, score and cost over models, smaller ones first. Rows are those of
    `placed.place`."""
    cost = cost or Cost()
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row["benchmark"]), []).append(row)
    wide = look.panel[0] * 2
    told = wrapped(
        [
            settings(rows),
            INTERVALS,
        ],
        wide,
    )
    top = head_inches(len(told)) if look.head else 0.0
    palette, marks = colours(rows), _marks(rows)
    columns = max(1, int(wide / (1.5 * look.small / 10)))
    names = [name for name in palette if any(str(r["strategy"]) == name for r in rows)]
    foot = 0.15 + look.line * 1.2 * math.ceil(len(names) / columns)
    figure, axes = panels(2 * len(groups), 2, look=look, top=top, foot=foot)
    if look.head:
        studies = ", ".join(dict.fromkeys(str(row["study"]) for row in rows))
        head(figure, title or f"{studies}: what scale changes", told, [])
    handles: dict[str, Any] = {}
    for index, (benchmark, members) in enumerate(groups.items()):
        metric = str(members[0]["metric"])
        where = f"{benchmark}   " if len(groups) > 1 else ""
        for axis, column, scale in (
            (axes[2 * index], "score", 100.0),
            (axes[2 * index + 1], "cost", 1.0),
        ):
            handles |= _lines(axis, members, column, scale, palette, marks, look)
            bare(axis, look, grid="y")
            axis.set_ylim(bottom=0)
            score = f"{SCORES.get(metric, metric)} (%)"
            label = score if column == "score" else cost.label.partition(" (")[0]
            axis.set_title(f"{where}{label}", fontsize=look.heading, loc="left")
            if column == "cost":
                axis.yaxis.set_major_formatter(cost.ticks)
    high = figure.get_size_inches()[1]
    figure.legend(
        handles=list(handles.values()),
        loc="lower left",
        bbox_to_anchor=(0.1 / wide, 0.02 / high),
        ncols=columns,
        frameon=False,
        fontsize=look.small,
    )
    return figure


def _lines(
    axis: Axes,
    rows: Sequence[Row],
    column: str,
    scale: float,
    palette: dict[str, str],
    marks: dict[str, str],
    look: Look,
) -> dict[str, Any]:
    """One line per arm that differs in more than the model; bars are its intervals."""
    models = by_size([str(row["model"]) for row in rows])
    lines: dict[str, list[Row]] = {}
    for row, label in zip(rows, _without_model(rows), strict=True):
        if not math.isnan(number(row[column])):
            lines.setdefault(label, []).append(row)
    found = {}
    for place, (label, members) in enumerate(lines.items()):
        members.sort(key=lambda row: models.index(str(row["model"])))
        shift = DODGE * (place - (len(lines) - 1) / 2)
        xs = [models.index(str(row["model"])) + shift for row in members]
        ys = [scale * number(row[column]) for row in members]
        low, high = ([scale * number(row[f"{column}_{end}"]) for row in members] for end in ENDS)
        below = [0.0 if math.isnan(e) else y - e for y, e in zip(ys, low, strict=True)]
        above = [0.0 if math.isnan(e) else e - y for y, e in zip(ys, high, strict=True)]
        strategy = str(members[0]["strategy"])
        found[label] = axis.errorbar(
            xs,
            ys,
            yerr=[below, above],
            color=palette[strategy],
            marker=marks[strategy],
            ms=0.7 * look.marker,
            lw=look.width,
            elinewidth=0.6 * look.width,
            label=label,
        )
    axis.set_xticks(range(len(models)), models)
    axis.set_xlim(-0.4, len(models) - 0.6)
    return found


def _without_model(rows: Sequence[Row]) -> list[str]:
    """Names that do not tell the models apart: the shortest ones of each model's arms."""
    labels = [""] * len(rows)
    for model in {str(row["model"]) for row in rows}:
        places = [i for i, row in enumerate(rows) if str(row["model"]) == model]
        for i, label in zip(places, shortest([rows[i] for i in places]), strict=True):
            labels[i] = label
    return labels


def _marks(rows: Sequence[Row]) -> dict[str, str]:
    strategies = sorted({str(row["strategy"]) for row in rows})
    assert len(MARKERS) == len(COLOURS)
    return {name: MARKERS[i % len(MARKERS)] for i, name in enumerate(strategies)}
