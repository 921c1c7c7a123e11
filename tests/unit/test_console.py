"""Texts on the terminal: whatever they hold, they stand there as they are."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.table import Table

from parley.console import tell_files, wide_console

ODD = ["pip install 'parley-harness[hub]'", "runs/[/red]", "[bold]pact[/]", "a :warning: b", "[/]"]


@pytest.mark.parametrize("text", ODD)
def test_a_text_is_no_markup(text: str) -> None:
    console = wide_console()
    console.file = io.StringIO()
    console.print(text)
    table = Table(title=text)
    table.add_column("what")
    table.add_row(text)
    console.print(table)
    assert console.file.getvalue().count(text) == 3


def test_files_are_told_by_folder_and_a_page_by_its_path() -> None:
    console = wide_console()
    console.file = io.StringIO()
    report = Path("outputs/a[b]/report")
    tell_files(console, [report / "results.csv", report / "index.html", Path("x/compare.md")])
    assert console.file.getvalue().splitlines() == [
        "wrote outputs/a[b]/report: results.csv, index.html",
        "wrote x: compare.md",
        "open  outputs/a[b]/report/index.html",
    ]
