"""Two conversations in two columns."""

from __future__ import annotations

import io
import re

from rich.console import Console

from parley.analysis.beside import beside
from records import conversation, episode, failed, line


def _shown(*records: object, width: int = 120) -> str:
    named = dict(zip(("full", "[red]pact"), records, strict=False))
    console = Console(width=width, file=io.StringIO())
    console.print(beside(named, width=width))  # type: ignore[arg-type]
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_turns_of_one_number_begin_on_one_line() -> None:
    text = _shown(line(episode()), line(episode(turns=conversation(size=3))))
    for number in range(4):
        assert re.search(rf"turn {number} · .*turn {number} · ", text)
    assert text.count("question: ") == 1
    assert "[red]pact" in text
    assert max(map(len, text.splitlines())) <= 120


def test_an_episode_of_fewer_turns_leaves_room() -> None:
    text = _shown(line(failed("p1", "ContextOverflow")), line(episode()))
    assert "ContextOverflow: it broke" in text
    assert text.count("turn 3 · Agent B") == 1


def test_one_alone_is_a_column_and_none_is_nothing() -> None:
    assert "turn 3 · Agent B" in _shown(line(episode()))
    assert _shown().strip() == ""
