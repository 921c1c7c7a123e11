"""What to use at a budget: how often each arm is the best one that fits, over joint draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from parley.analysis.fronts import best_at
from parley.analysis.naming import counted, settings
from parley.analysis.placed import Facet, Placed
from parley.analysis.style import (
    COLOURS,
    GREY,
    INK,
    SCREEN,
    Look,
    bare,
    colours,
    head,
    head_inches,
    panels,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEPS = 160
"""Budgets at which a facet is read."""
SEEN = 0.02
"""Chance below which an arm is left out of a facet's picture at every budget."""
TOLD = (
    "Height: share of joint draws of problems in which an arm is best among those that fit the "
    "budget. White: no arm fits. Dashed: mean cost of each arm."
)


def draw(placed: Placed, title: str = "", *, look: Look = SCREEN) -> Figure:
    """A panel per benchmark and model, budgets from below the cheapest arm to past the dearest."""
    facets = [facet for facet in placed.facets if _drawable(facet)]
    across = min(max(1, len(facets)), look.most)
    wide = (look.single if len(facets) < 2 else look.panel)[0] * across
    told = wrapped([settings(placed.rows), TOLD], wide) if look.head else []
    top = head_inches(len(told)) if look.head else 0.0
    palette = _palette(placed)
    columns = max(1, int(wide / (1.35 * look.small / 10)))
    shown = dict.fromkeys(name for facet in facets for name in _shown(facet))
    foot = 0.15 + look.line * 1.2 * math.ceil(len(shown) / columns)
    figure, axes = panels(max(1, len(facets)), across, look=look, top=top, foot=foot, left=0.9)
    if look.head:
        studies = ", ".join(dict.fromkeys(str(row["study"]) for row in placed.rows))
        head(figure, title or f"{studies}: what to use at a budget", told, [])
    if not facets:
        axes[0].text(0.5, 0.5, "no two problems that all arms hold", ha="center")
        axes[0].set_axis_off()
        return figure
    fills: dict[str, Any] = {}
    for axis, facet in zip(axes, facets, strict=True):
        fills |= _areas(
            axis, facet, {n: palette[facet.benchmark, facet.model, n] for n in facet.labels}
        )
        bare(axis, look, grid="y")
        where = f"{facet.benchmark} · {facet.model}   " if len(facets) > 1 else ""
        axis.set_title(
            f"{where}n = {counted(facet.drawn.n, 'problem')}", fontsize=look.heading, loc="left"
        )
        axis.set_xlabel(f"budget: {_unit(placed, look)}", fontsize=look.label)
        axis.set_ylabel(f"chance of the best {_score(placed)}", fontsize=look.label)
        axis.xaxis.set_major_formatter(placed.cost.ticks)
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    wide, high = figure.get_size_inches()
    figure.legend(
        handles=list(fills.values()),
        loc="lower left",
        bbox_to_anchor=(0.1 / wide, 0.02 / high),
        ncols=min(columns, len(fills)),
        frameon=False,
        fontsize=look.small,
        handlelength=1.2,
    )
    return figure


def _drawable(facet: Facet) -> bool:
    return bool(len(facet.drawn.scores)) and not all(map(math.isnan, facet.drawn.cost))


def _areas(axis: Axes, facet: Facet, palette: dict[str, str]) -> dict[str, Any]:
    """Draws the areas, the cheapest arm lowest, and gives a handle for each arm shown."""
    import numpy as np
    from matplotlib.patches import Patch

    known = [cost for cost in facet.drawn.cost if not math.isnan(cost)]
    room = 0.15 * (max(known) - min(known)) or 0.1 * max(known) or 1.0
    budgets = np.linspace(min(known) - room, max(known) + room, STEPS)
    chances = np.array([best_at(facet.drawn, float(budget)).chance for budget in budgets])
    shown = _shown(facet)
    order = sorted(range(len(facet.labels)), key=lambda i: facet.drawn.cost[i])
    order = [i for i in order if facet.labels[i] in shown]
    base = np.zeros(STEPS)
    handles = {}
    for i in order:
        label = facet.labels[i]
        above = base + chances[:, i]
        fill = palette[label]
        axis.fill_between(budgets, base, above, color=fill, lw=0.6, ec="white", alpha=0.85)
        axis.axvline(facet.drawn.cost[i], color=INK, lw=0.7, ls=(0, (3, 3)), alpha=0.6)
        handles[label] = Patch(fc=fill, alpha=0.85, label=label)
        base = above
    axis.set_xlim(float(budgets[0]), float(budgets[-1]))
    axis.set_ylim(0, 1)
    axis.tick_params(colors=GREY, labelcolor="black")
    return handles


def _shown(facet: Facet) -> list[str]:
    """Arms that are best with some chance at some arm's cost, or without a limit."""
    budgets = [cost for cost in facet.drawn.cost if not math.isnan(cost)]
    read = [best_at(facet.drawn, budget).chance for budget in (*budgets, math.inf)]
    return [label for i, label in enumerate(facet.labels) if any(each[i] >= SEEN for each in read)]


def _palette(placed: Placed) -> dict[tuple[str, str, str], str]:
    """A colour for each arm by benchmark, model and label: its strategy's, as in the other
    pictures, but its own where several arms of a panel share a strategy."""
    found = {}
    known = colours(list(placed.rows))
    for facet in placed.facets:
        members = _members(placed.rows, facet)
        strategies = [str(row["strategy"]) for row in members]
        alike = len(set(strategies)) < len(strategies)
        for i, (label, strategy) in enumerate(zip(facet.labels, strategies, strict=True)):
            colour = COLOURS[i % len(COLOURS)] if alike else known[strategy]
            found[facet.benchmark, facet.model, label] = colour
    return found


def _members(rows: Sequence[dict[str, Any]], facet: Facet) -> list[dict[str, Any]]:
    key = facet.benchmark, facet.model
    return [r for r in rows if (str(r["benchmark"]), str(r["model"])) == key and "spread" in r]


def _unit(placed: Placed, look: Look) -> str:
    return placed.cost.label if look.head else placed.cost.label.partition(" (")[0]


def _score(placed: Placed) -> str:
    return placed.title
