"""Pictures of a results table, as PNG and PDF: quality against cost, and where the tokens went.

Drawn through matplotlib's objects only: nothing global is set, so a notebook's own style and
backend stay as they are. The same table gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from parley.analysis import frontier as frontier_figure
from parley.analysis import token_bars
from parley.analysis.frames import plain_rows
from parley.analysis.style import save

if TYPE_CHECKING:
    import pandas as pd


def frontier(table: pd.DataFrame, stem: Path, *, title: str = "") -> tuple[Path, Path]:
    """Writes `stem`.png and `stem`.pdf: headline score against tokens per problem."""
    return save(frontier_figure.draw(plain_rows(table), title), stem)


def ledger(table: pd.DataFrame, stem: Path, *, title: str = "") -> tuple[Path, Path]:
    """Writes `stem`.png and `stem`.pdf: tokens per problem by part, one bar per arm."""
    return save(token_bars.draw(plain_rows(table), title), stem)
