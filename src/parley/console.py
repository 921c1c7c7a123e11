"""Where tables are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text


def wide_console() -> Console:
    """The terminal, or 160 columns where the output goes to a file or a pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=160)


@contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """Says on a terminal what is being done, in a line that is gone at the end; gives the function
    that changes it. Nothing is written elsewhere, or to the standard output."""
    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(Text(text))
