"""What the pictures share: colours, sizes, words, and how a figure becomes files."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.errors import StoreError
from parley.store import write_atomic

if TYPE_CHECKING:
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


def wrapped(texts: Sequence[str], inches: float) -> list[str]:
    """Lines of small text that fit a figure of this width."""
    return [line for text in texts for line in textwrap.wrap(text, int(inches * 14.2))]


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
