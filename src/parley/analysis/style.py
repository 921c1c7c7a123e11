"""What the pictures share: colours, sizes, words, and how a figure becomes files."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from parley.errors import StoreError
from parley.store import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
"""Okabe and Ito's palette without its yellow, which is too pale on white."""
WARNING = "#B00020"
GREY = "#555555"
INK = "#333333"
SMALL = 30
"""Problems below which a figure says that its n is small."""
SCORES = {"em": "Exact match", "f1": "F1", "f1_squad": "F1 (SQuAD rules)", "accuracy": "Accuracy"}
DPI = 160
LINE = 0.21
"""Inches from one line of small text to the next."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Sizes of a picture, in inches and points."""

    name: str = "screen"
    single: tuple[float, float] = (8.0, 4.7)
    """Width and height of a lone panel."""
    panel: tuple[float, float] = (5.4, 4.3)
    """Of one among several."""
    most: int = 3
    """Panels side by side."""
    heading: float = 11
    label: float = 11
    tick: float = 10
    small: float = 10
    """Labels of points, legends and notes."""
    marker: float = 9
    width: float = 1.6
    line: float = LINE
    """Inches from one line of small text to the next."""
    head: bool = True
    """Whether the picture says what it shows; a paper's caption does that otherwise."""


SCREEN = Look()
PRINT = Look(
    name="print",
    single=(3.4, 2.7),
    panel=(3.4, 2.7),
    most=2,
    heading=8,
    label=8,
    tick=7,
    small=7,
    marker=5,
    width=1.0,
    line=0.14,
    head=False,
)
"""One column of a two-column paper (3.4 inches), whose text is 8 to 10 points: nothing is below
7. Two panels fill both columns."""


def colours(rows: Sequence[Row]) -> dict[str, str]:
    """A colour per strategy, the same in every picture of a table."""
    strategies = sorted({str(row["strategy"]) for row in rows})
    return {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(strategies)}


def darker(colour: str) -> tuple[float, float, float]:
    """The colour as text can bear it on white."""
    from matplotlib.colors import to_rgb

    red, green, blue = (0.72 * part for part in to_rgb(colour))
    return red, green, blue


def number(value: Any) -> float:
    """A cell as a float, NaN where it is empty."""
    return math.nan if value is None else float(value)


def wrapped(texts: Sequence[str], inches: float, size: float = 10) -> list[str]:
    """Lines of small text that fit a figure of this width."""
    letters = int(inches * 142 / size)
    return [line for text in texts for line in textwrap.wrap(text, letters)]


def head(figure: Figure, title: str, lines: Sequence[str], warnings: Sequence[str]) -> None:
    """A title, grey lines below it, then warnings; `head_inches` says how high all that is."""
    wide, high = figure.get_size_inches()
    figure.text(0.2 / wide, 1 - 0.34 / high, title, fontsize=14, fontweight="bold")
    told = [(line, GREY) for line in lines] + [(line, WARNING) for line in warnings]
    for index, (line, colour) in enumerate(told):
        place = 1 - (0.34 + LINE * (index + 1)) / high
        figure.text(0.2 / wide, place, line, fontsize=10, color=colour)


def head_inches(lines: int) -> float:
    """Height of a head with so many lines below its title."""
    return 0.45 + LINE * lines


def panels(
    count: int, across: int, *, look: Look, top: float, foot: float, left: float = 0.8
) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels, with room in inches above and below all of them; `left` is what
    the labels of a panel's y axis need (on the screen)."""
    from matplotlib.figure import Figure

    down = math.ceil(count / across)
    cell_wide, cell_high = look.single if count == 1 else look.panel
    unit = look.label / 11
    wide, high = cell_wide * across, cell_high * down + top + foot
    dots = DPI if look.head else 2 * DPI
    figure = Figure(figsize=(wide, high), dpi=dots, facecolor="white")
    axes = figure.subplots(down, across, squeeze=False)
    figure.subplots_adjust(
        left=left * unit / wide,
        right=1 - 0.2 * unit / wide,
        bottom=(foot + 0.55 * unit) / high,
        top=1 - (top + 0.35 * unit) / high,
        wspace=(left + 0.05) * unit / (cell_wide - (left + 0.1) * unit),
        hspace=1.0 * unit / (cell_high - 0.95 * unit),
    )
    drawn = list(axes.flat)
    for axis in drawn[count:]:
        axis.set_axis_off()
    return figure, drawn[:count]


def bare(axis: Axes, look: Look, *, grid: Literal["x", "y", "both"] = "both") -> None:
    """An axis with a light grid below what is drawn, and no frame above and to the right."""
    axis.grid(axis=grid, color="#E8E8E8", lw=0.8 * look.width / 1.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=look.tick)


@contextmanager
def as_written() -> Iterator[None]:
    """Names with a dollar sign are no formulas meanwhile, and a sign that no font has is drawn as
    a box without a word."""
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def save(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Writes the figure whole as `stem`.png and `stem`.pdf, without dates in either."""
    written = []
    for kind, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, metadata=metadata)
        written.append(write(stem.with_name(f"{stem.name}.{kind}"), buffer.getvalue()))
    return written[0], written[1]


def write(path: Path, data: bytes) -> Path:
    """Writes a file whole or not at all, making its folder. Raises StoreError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make {path.parent}: {error.strerror}") from error
    write_atomic(path, data)
    return path
