"""Labels beside their points: on no other label, no point, and off the lines where they can be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in points (1/72 inch)."""
Point = tuple[float, float]
Placed = tuple[Box, Point]
"""A label's box and the point it belongs to."""

DISTANCES = (7, 12, 18, 26, 36, 48, 62, 78, 96, 120, 150, 185, 225)
ANGLES = (0, 30, -30, 90, -90, 60, -60, 180, 150, -150, 120, -120)
"""Degrees, the preferred place first: to the right of the point."""
LEADER = 12
"""Points of distance past which a line leads from the label to its point."""
ON_LABEL, ON_POINT, OUTSIDE, ON_LINE, CROSSED = 10_000, 2_000, 20_000, 14, 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacles:
    """What a label keeps off, in points: markers at all cost, lines for a price."""

    frame: Box
    markers: Sequence[Box]
    lines: Sequence[Box] = field(default=())


def place_labels(
    axis: Axes,
    points: Sequence[Point],
    labels: Sequence[str],
    *,
    colours: Sequence[tuple[float, float, float]],
    lines: Sequence[tuple[Point, Point]] = (),
    size: float = 10,
) -> list[Text]:
    """Writes the labels. The limits and the layout of the axes must be final. `lines` are
    horizontal or vertical, in data coordinates."""
    figure = axis.get_figure(root=True)
    assert figure is not None
    scale = 72 / figure.dpi

    def to_points(point: Point) -> Point:
        x, y = axis.transData.transform(point)
        return float(x) * scale, float(y) * scale

    texts = [
        axis.text(0, 0, label, fontsize=size, fontweight="bold", color=colour, zorder=6)
        for label, colour in zip(labels, colours, strict=True)
    ]
    sizes = [
        (text.get_window_extent().width * scale, text.get_window_extent().height * scale)
        for text in texts
    ]
    frame = axis.get_window_extent()
    obstacles = Obstacles(
        frame=(frame.x0 * scale, frame.y0 * scale, frame.x1 * scale, frame.y1 * scale),
        markers=[_around(to_points(point), 6) for point in points],
        lines=[_spanned(to_points(a), to_points(b)) for a, b in lines],
    )
    anchors = [to_points(point) for point in points]
    for text, anchor, box, colour in zip(
        texts, anchors, arrange(anchors, sizes, obstacles), colours, strict=True
    ):
        back = axis.transData.inverted()
        text.set_position(tuple(back.transform((box[0] / scale, box[1] / scale))))
        text.set_verticalalignment("bottom")
        end = _nearest(box, anchor)
        if math.dist(end, anchor) > LEADER:
            ends = back.transform([(x / scale, y / scale) for x, y in (anchor, end)])
            axis.plot(*zip(*ends, strict=True), color=colour, lw=0.8, alpha=0.8, zorder=2)
    return texts


def arrange(
    anchors: Sequence[Point], sizes: Sequence[tuple[float, float]], obstacles: Obstacles
) -> list[Box]:
    """A box for each label, chosen in turn and once more when all others stand."""
    chosen: dict[int, Box] = {}
    for _ in range(2):
        for index in range(len(anchors)):
            others = [(box, anchors[i]) for i, box in chosen.items() if i != index]
            chosen[index] = _best(index, anchors[index], sizes[index], others, obstacles)
    return [chosen[index] for index in range(len(anchors))]


def candidates(anchor: Point, size: tuple[float, float]) -> Iterator[Box]:
    """Boxes around a point, nearest first."""
    wide, high = size
    for distance in DISTANCES:
        for angle in ANGLES:
            across, up = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            x = anchor[0] + distance * across + (across - 1) * wide / 2
            y = anchor[1] + distance * up + (up - 1) * high / 2
            yield x, y, x + wide, y + high


def overlaps(texts: Sequence[Text]) -> list[tuple[str, str]]:
    """Pairs of labels whose boxes share pixels."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    return [(a, b) for (a, one), (b, two) in combinations(boxes, 2) if one.overlaps(two)]


def _best(
    own: int, anchor: Point, size: tuple[float, float], others: Sequence[Placed], around: Obstacles
) -> Box:
    """The cheapest box; the search ends where distance alone costs more than the best so far."""
    best, lowest = (0.0, 0.0, 0.0, 0.0), math.inf
    for box in candidates(anchor, size):
        if math.dist(_nearest(box, anchor), anchor) > lowest:
            break
        price = _price(box, anchor, own, others, around)
        if price < lowest:
            best, lowest = box, price
    return best


def _price(box: Box, anchor: Point, own: int, others: Sequence[Placed], around: Obstacles) -> float:
    end = _nearest(box, anchor)
    away = math.dist(end, anchor)
    price = away
    left, bottom, right, top = around.frame
    if box[0] < left or box[1] < bottom or box[2] > right or box[3] > top:
        price += OUTSIDE
    padded = (box[0] - 2, box[1] - 1, box[2] + 2, box[3] + 1)
    price += ON_LABEL * sum(_touch(padded, other) for other, _ in others)
    price += ON_POINT * sum(_touch(padded, marker) for marker in around.markers)
    price += ON_LINE * sum(_touch(box, line) for line in around.lines)
    for other, point in others:
        theirs = _nearest(other, point)
        price += CROSSED * (math.dist(theirs, point) > LEADER and _crosses(point, theirs, box))
    if away > LEADER:
        crossed = [other for other, _ in others]
        crossed += [marker for i, marker in enumerate(around.markers) if i != own]
        price += CROSSED * sum(_crosses(anchor, end, other) for other in crossed)
    return price


def _touch(one: Box, two: Box) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def _crosses(start: Point, end: Point, box: Box) -> bool:
    """Whether a leader runs through a box, tried at eleven places along it."""
    steps = [i / 10 for i in range(11)]
    (x, y), (across, up) = start, (end[0] - start[0], end[1] - start[1])
    return any(box[0] < x + s * across < box[2] and box[1] < y + s * up < box[3] for s in steps)


def _nearest(box: Box, point: Point) -> Point:
    return min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])


def _around(point: Point, reach: float) -> Box:
    return point[0] - reach, point[1] - reach, point[0] + reach, point[1] + reach


def _spanned(one: Point, two: Point) -> Box:
    return (
        min(one[0], two[0]) - 0.7,
        min(one[1], two[1]) - 0.7,
        max(one[0], two[0]) + 0.7,
        max(one[1], two[1]) + 0.7,
    )
