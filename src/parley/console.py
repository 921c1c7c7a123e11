"""Where tables are printed, and texts as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text


def wide_console() -> Console:
    """The terminal, or 160 columns where the output goes to a file or a pipe.

    What it prints is text and nothing else: rich would take the `[hub]` of a package or a folder's
    name for markup, and drop it or fail. Colour comes from `Text` and `style`.
    """
    console = Console(markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = 160
    return console


def tell_files(console: Console, files: Iterable[Path]) -> None:
    """Says what was written: the names by folder, a page to open in a line of its own."""
    folders: dict[Path, list[str]] = {}
    pages = []
    for path in files:
        folders.setdefault(path.parent, []).append(path.name)
        if path.suffix == ".html":
            pages.append(path)
    for folder, names in folders.items():
        console.print(f"wrote {folder}: {', '.join(names)}", soft_wrap=True)
    for page in pages:
        console.print(f"open  {page}", soft_wrap=True)


@contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """Says on a terminal what is being done, in a line that is gone at the end; gives the function
    that changes it. Nothing is written elsewhere, or to the standard output."""
    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(Text(text))
