"""Where tables are printed."""

from __future__ import annotations

from rich.console import Console


def wide_console() -> Console:
    """The terminal, or 160 columns where the output goes to a file or a pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=160)
