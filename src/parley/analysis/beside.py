"""Conversations about one problem beside each other, as a terminal or a notebook can show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from parley.analysis.transcript import inert, pieces

if TYPE_CHECKING:
    from rich.console import Group

GAP = 3
"""Signs between two columns."""
LEAST = 30
"""Signs in a column, however many there are."""


def beside(episodes: Mapping[str, Mapping[str, Any]], *, width: int, full: bool = False) -> Group:
    """The question once, then a column for each record, under the name of its arm: turns of the
    same number begin side by side. `full` is as in `transcript.render`."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    each = max(LEAST, width // max(1, len(episodes)) - GAP)
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    shown = [pieces(episode, width=each, full=full) for episode in episodes.values()]
    for name in episodes:
        table.add_column(Text(inert(name), style="bold"), width=each, overflow="fold")
    for number in sorted({number for _, turns, _ in shown for number in turns}):
        table.add_row(*(turns.get(number, "") for _, turns, _ in shown))
    table.add_row(*(end for _, _, end in shown))
    heads = [pieces(episode, width=width, full=full)[0] for episode in episodes.values()]
    return Group(*heads[:1], Text(""), *([table] if shown else []))
