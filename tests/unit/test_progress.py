"""What is shown while a study runs, by a clock that the test turns."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from parley.progress import Progress, terminal_bar
from parley.types import Episode
from records import call, turn
from store_cases import episode, failed

DONE: Episode = replace(episode(), turns=(turn(0, call(), call()),))
EACH = 2 * sum((usage.prompt + usage.completion) for usage in [DONE.turns[0].calls[0].usage])


class Clock:
    """Seconds, as the test says."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def shown(total: int, **options: Any) -> tuple[Progress, list[str], Clock]:
    lines: list[str] = []
    clock = Clock()
    progress = Progress(lines.append, clock=clock, **options)
    progress.start(total, f"{total} to run")
    return progress, lines, clock


def test_a_line_says_what_is_done_how_fast_and_how_long_yet() -> None:
    progress, _, clock = shown(10)
    clock.now += 4
    progress.advance(DONE)
    progress.advance(DONE)
    assert progress.line() == f"2/10 episodes, {2 * EACH / 4:,.0f} tokens/s, 0:16 left"


def test_more_may_be_expected_on_the_way() -> None:
    lines: list[str] = []
    progress = Progress(lines.append)
    progress.expect(0, "nothing")
    progress.expect(2, "2 to run")
    progress.advance(DONE)
    progress.expect(3, "3 more")
    assert progress.line().startswith("1/5 episodes")
    assert lines == ["nothing", "2 to run", "3 more"]


def test_errors_are_counted() -> None:
    progress, _, clock = shown(3)
    clock.now += 1
    progress.advance(failed("q1", repeat=True))
    progress.advance(DONE)
    assert progress.line().startswith("2/3 episodes, 1 errors, ")


@pytest.mark.parametrize(
    ("seconds", "left"), [(1, "0:09 left"), (60, "9:00 left"), (600, "1:30:00 left")]
)
def test_time_left_is_read_like_a_clock(seconds: int, left: str) -> None:
    progress, _, clock = shown(10)
    clock.now += seconds
    progress.advance(DONE)
    assert progress.line().endswith(left)


def test_nothing_is_known_before_the_first_episode() -> None:
    progress, _, _ = shown(10)
    assert progress.line() == "0/10 episodes, 0 tokens/s, 0:00 left"


def test_a_file_gets_a_line_now_and_then_and_the_last_one() -> None:
    progress, lines, clock = shown(100, every=10.0)
    for _ in range(100):
        clock.now += 1
        progress.advance(DONE)
    assert lines[0] == "100 to run"
    assert len(lines) == 1 + 10
    assert lines[-1].startswith("100/100 episodes")


def test_a_terminal_gets_a_bar_and_no_lines() -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=100)
    progress, lines, clock = shown(2, bar=terminal_bar(console))
    clock.now += 1
    progress.advance(DONE)
    progress.advance(DONE)
    progress.stop()
    assert lines == ["2 to run"]
    assert "2/2 episodes" in written.getvalue()


def test_a_bar_is_not_drawn_where_nothing_is_to_do() -> None:
    written = io.StringIO()
    bar = terminal_bar(Console(file=written, force_terminal=True))
    progress, lines, _ = shown(0, bar=bar)
    progress.stop()
    assert lines == ["0 to run"]
    assert "episodes" not in written.getvalue()
