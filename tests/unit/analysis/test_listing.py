"""The list of an arm's episodes, at any width."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from parley.analysis.listing import listing
from records import episode, failed, write_arm


def _shown(folder: Path, width: int = 100) -> list[str]:
    table = listing(folder, width=width)
    assert table.width is not None
    console = Console(width=max(width, table.width), file=io.StringIO(), record=True)
    console.print(table)
    return console.export_text().splitlines()


def test_listing_names_every_episode(tmp_path: Path) -> None:
    records = [
        episode("0073", metrics={"em": 0.0, "f1": 0.25}),
        episode("0074", metrics={"em": 0.0, "f1": float("nan")}),
        failed("0075"),
        episode("0073", sample=1),
    ]
    text = _shown(write_arm(tmp_path, "full", records, samples=2))
    lines = [row.split() for row in text]
    assert lines[3][:4] == ["0073", "#1", "bridge", "1.00"]
    assert "0.25" in lines[2]
    assert lines[4][0] == "0074"
    assert "TransportError" in lines[5]


@pytest.mark.parametrize("width", [10, 30, 45, 60, 80, 100, 160])
def test_ids_stay_whole_at_any_width(tmp_path: Path, width: int) -> None:
    ids = [f"a-long-identifier-of-a-problem-{number}" for number in range(3)]
    folder = write_arm(tmp_path, "full", [episode(one) for one in ids])
    lines = _shown(folder, width)
    heads = next(line.split() for line in lines if line.startswith("episode"))
    rows = [line for line in lines if line.startswith("a-long")]
    assert [row.split()[0] for row in rows] == ids
    assert heads[0] == "episode"
    assert {"f1", "tokens"} <= set(heads)
    assert ("gold" in heads) == (width >= 80)
    assert ("kind" in heads) == (width >= 100)
    assert all(len(row.rstrip()) <= max(width, 52) for row in rows)


def test_a_listing_of_nothing_and_of_odd_text(tmp_path: Path) -> None:
    assert any("episode" in line for line in _shown(write_arm(tmp_path, "none", [], problems=2)))
    odd = episode("[red]x[/red]\x1b[31m", kind="two\nlines", answers=("数" * 80,))
    lines = _shown(write_arm(tmp_path, "odd", [odd]), 80)
    assert any(line.startswith("[red]x[/red]␛[31m") for line in lines)
    assert not any("\x1b" in line for line in lines)
