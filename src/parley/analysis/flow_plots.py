"""Two pictures of what agents read: who made whom re-read how much, and how prompts grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from parley.analysis.flow import MOST, Flow
from parley.analysis.naming import facets, settings, shortest
from parley.analysis.style import (
    COLOURS,
    GREY,
    INK,
    SCREEN,
    Look,
    Row,
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
    from matplotlib.lines import Line2D

MARKERS = "os^Dv<>P"
NUMBERED = 8
"""Seats up to which a cell's number is readable."""
DARK = 0.28
"""Share of the darkest cell's tokens from which a number is white."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arm:
    label: str
    strategy: str
    found: Flow


def rereading(
    flows: Sequence[Flow], rows: Sequence[Row], title: str = "", *, look: Look = SCREEN
) -> Figure:
    """A matrix per arm: readers down, writers across, tokens re-read per problem. Each row of the
    results table comes with its arm's flow."""
    from matplotlib.colors import LinearSegmentedColormap

    kept = [arm for arms in _grouped(flows, rows, apart=False).values() for arm in arms]
    across = min(max(1, len(kept)), 3)
    small = _sized(look, *((3.3, 2.6) if look.head else (2.3, 1.7)))
    told = "Tokens of messages read again, per problem: readers down, writers across."
    wide = small.single[0] * across
    lines = wrapped([settings(rows), told, *_cut(kept)], wide) if look.head else []
    top = head_inches(len(lines)) if look.head else 0.0
    longest = max((len(seat) for arm in kept for seat in arm.found.seats), default=5)
    left = 0.35 + 0.075 * min(longest, 16)
    figure, axes = panels(max(1, len(kept)), across, look=small, top=top, foot=0.0, left=left)
    most = max((_most(arm.found) for arm in kept), default=1.0) or 1.0
    shades = LinearSegmentedColormap.from_list("reread", ["#F4F8FB", "#0072B2", "#00304D"])
    for axis, arm in zip(axes, kept, strict=False):
        _matrix(axis, arm.found, most, shades, small)
        total = sum(arm.found.edges.values()) / arm.found.episodes
        axis.set_title(f"{arm.label}: {total:,.0f}", fontsize=look.heading, loc="left")
    if not kept:
        _empty(axes[0])
    if look.head:
        head(figure, title or f"{_studies(rows)}: who made whom re-read", lines, [])
    return figure


def growth(
    flows: Sequence[Flow], rows: Sequence[Row], title: str = "", *, look: Look = SCREEN
) -> Figure:
    """For each benchmark and model, prompt tokens by turn, and the share of them that a prefix
    cache served and could have served."""
    groups = {key: arms for key, arms in _grouped(flows, rows).items() if arms}
    taller = 0.25 * max(0, max(map(len, groups.values()), default=0) - 7)
    small = _sized(look, look.panel[0], look.panel[1] + taller)
    wide = small.panel[0] * 2
    told = (
        "Right: light is what a prefix cache that forgets nothing could have served, dark is what "
        "the engine says it served; reused calls left out."
    )
    drawn = [arm for arms in groups.values() for arm in arms]
    lines = wrapped([settings(rows), told, *_cut(drawn)], wide)
    top = head_inches(len(lines)) if look.head else 0.0
    labels = list(dict.fromkeys(arm.label for arm in drawn))
    longest = max(map(len, labels), default=5)
    columns = max(1, int(wide / ((0.55 + 0.085 * longest) * look.small / 10)))
    foot = 0.15 + look.line * 1.2 * math.ceil(max(1, len(labels)) / columns)
    left = max(0.9, 0.3 + 0.085 * min(longest, 30))
    count = 2 * max(1, len(groups))
    figure, axes = panels(count, 2, look=small, top=top, foot=foot, left=left)
    handles: dict[str, Line2D] = {}
    palette = colours(list(rows))
    for index, ((benchmark, model), arms) in enumerate(groups.items()):
        where = f"{benchmark} · {model}: " if len(groups) > 1 else ""
        handles |= _growing(axes[2 * index], arms, palette, where, small)
        _caching(axes[2 * index + 1], arms, small)
    if not groups:
        _empty(axes[0])
        axes[1].set_axis_off()
    if look.head:
        head(figure, title or f"{_studies(rows)}: how prompts grow", lines, [])
    figure.legend(
        handles=list(handles.values()),
        loc="lower left",
        bbox_to_anchor=(0.1 / wide, 0.02 / figure.get_size_inches()[1]),
        ncols=max(1, min(columns, len(labels))),
        frameon=False,
        fontsize=look.small,
    )
    return figure


def _grouped(
    flows: Sequence[Flow], rows: Sequence[Row], *, apart: bool = True
) -> dict[tuple[str, str], list[_Arm]]:
    """Arms with an episode by benchmark and model, named as is enough there (or, not `apart`, as
    is enough among all)."""
    among_all = shortest(rows) if rows else []
    found = {}
    for key, places in facets(rows).items():
        names = shortest([rows[i] for i in places]) if apart else [among_all[i] for i in places]
        found[key] = [
            _Arm(label=name, strategy=str(rows[i]["strategy"]), found=flows[i])
            for name, i in zip(names, places, strict=True)
            if flows[i].turns
        ]
    return found


def _matrix(axis: Axes, found: Flow, most: float, shades: object, look: Look) -> None:
    seats = found.seats
    cells = [
        [found.edges.get((reader, writer), 0) / found.episodes for writer in seats]
        for reader in seats
    ]
    axis.imshow(cells, cmap=shades, vmin=0, vmax=most, aspect="auto")  # type: ignore[arg-type]
    axis.set_xticks(range(len(seats)), seats, fontsize=look.tick)
    axis.set_yticks(range(len(seats)), seats, fontsize=look.tick)
    if len(seats) > 3:
        axis.tick_params(axis="x", rotation=35)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    axis.set_xticks([i + 0.5 for i in range(len(seats) - 1)], minor=True)
    axis.set_yticks([i + 0.5 for i in range(len(seats) - 1)], minor=True)
    axis.grid(which="minor", color="white", lw=2)
    axis.tick_params(which="minor", length=0)
    for down, line in enumerate(cells if len(seats) <= NUMBERED else []):
        for across, value in enumerate(line):
            text = f"{value:,.0f}" if value else "-"
            colour = "white" if value > DARK * most else INK
            axis.text(across, down, text, ha="center", va="center", color=colour, size=look.small)


def _growing(
    axis: Axes, arms: Sequence[_Arm], palette: dict[str, str], where: str, look: Look
) -> dict[str, Line2D]:
    from matplotlib.ticker import MaxNLocator

    alike = len({arm.strategy for arm in arms}) < len(arms)
    places = sorted(palette)
    handles = {}
    for i, arm in enumerate(arms):
        place = i if alike else places.index(arm.strategy)
        (line,) = axis.plot(
            list(arm.found.turns),
            [at.prompt / at.calls for at in arm.found.turns.values()],
            color=COLOURS[i % len(COLOURS)] if alike else palette[arm.strategy],
            marker=MARKERS[place % len(MARKERS)],
            ls="-" if place < len(COLOURS) else "--",
            ms=0.65 * look.marker,
            lw=look.width,
            label=arm.label,
        )
        handles[arm.label] = line
    bare(axis, look, grid="y")
    axis.set_ylim(bottom=0)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.yaxis.set_major_formatter("{x:,.0f}")
    axis.set_xlabel("turn", fontsize=look.label)
    axis.set_title(f"{where}prompt tokens", fontsize=look.heading, loc="left")
    return handles


def _caching(axis: Axes, arms: Sequence[_Arm], look: Look) -> None:
    for place, arm in enumerate(arms):
        found = arm.found
        if not found.prompt:
            axis.text(0.01, place, "all calls reused", va="center", size=look.small, color=GREY)
            continue
        did, could = found.served, found.servable
        axis.barh(place, could, 0.72, color="#A6CEE3", zorder=2)
        axis.barh(place, did, 0.36, color="#0072B2", zorder=3)
        axis.text(could, place, f" {did:.0%} of {could:.0%}", va="center", size=look.small)
    bare(axis, look, grid="x")
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="y", length=0)
    axis.set_yticks(range(len(arms)), [arm.label for arm in arms], fontsize=look.tick)
    axis.set_ylim(len(arms) - 0.5, -0.5)
    axis.set_xlim(0, 1.33)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axis.set_xlabel("share of prompt tokens", fontsize=look.label)
    served = any(arm.found.cached for arm in arms)
    name = "served from the prefix cache" if served else "no cached token reported"
    axis.set_title(name, fontsize=look.heading, loc="left")


def _sized(look: Look, wide: float, high: float) -> Look:
    return replace(look, single=(wide, high), panel=(wide, high))


def _cut(arms: Sequence[_Arm]) -> list[str]:
    if any(arm.found.episodes >= MOST for arm in arms):
        return [f"From the first {MOST:,} episodes of each arm."]
    return []


def _most(found: Flow) -> float:
    return max(found.edges.values(), default=0) / found.episodes


def _studies(rows: Sequence[Row]) -> str:
    return ", ".join(dict.fromkeys(str(row["study"]) for row in rows))


def _empty(axis: Axes) -> None:
    axis.text(0.5, 0.5, "no finished episode yet", transform=axis.transAxes, ha="center")
    axis.set_axis_off()
