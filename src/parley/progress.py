"""Progress of a study on the terminal: episodes done, tokens a second, time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from parley.types import Episode


class Progress:
    """Draws a bar at most four times a second on a terminal, else prints a line now and then.

    Drawing never holds up the event loop for more than one refresh: nothing is drawn per token.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        *,
        bar: Any = None,
        every: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write, self._bar, self._every, self._clock = write, bar, every, clock
        self._total = self._done = self._tokens = self._errors = 0
        self._started = self._shown = clock()
        self._task: Any = None

    def start(self, total: int, text: str) -> None:
        """Begins counting `total` episodes."""
        self._total, self._started, self._shown = total, self._clock(), self._clock()
        self._done = self._tokens = self._errors = 0
        self._write(text)
        if self._bar is not None and total:
            self._task = self._bar.add_task("", total=total)
            self._bar.start()

    def expect(self, more: int, text: str) -> None:
        """Adds episodes to what is counted; the first time, begins counting."""
        if self._total == 0:
            self.start(more, text)
            return
        self._total += more
        self._write(text)
        if self._bar is not None:
            self._bar.update(self._task, total=self._total)

    def advance(self, episode: Episode) -> None:
        """Counts one finished episode."""
        self._done += 1
        self._errors += episode.failure is not None
        usages = [call.usage for turn in episode.turns for call in turn.calls]
        self._tokens += sum(usage.prompt + usage.completion for usage in usages)
        now = self._clock()
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=self.line())
        elif now - self._shown >= self._every or self._done == self._total:
            self._shown = now
            self._write(self.line())

    def line(self) -> str:
        """What is known now, in one line."""
        spent = max(self._clock() - self._started, 1e-9)
        left = spent / self._done * (self._total - self._done) if self._done else 0.0
        errors = f", {self._errors} errors" if self._errors else ""
        return (
            f"{self._done}/{self._total} episodes{errors}, "
            f"{self._tokens / spent:,.0f} tokens/s, {_clock(left)} left"
        )

    def stop(self) -> None:
        """Takes the bar down."""
        if self._bar is not None:
            self._bar.stop()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def terminal_bar(console: Any) -> Any:
    """A bar for a terminal, refreshed four times a second."""
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TextColumn("{task.description}"))
    return Bar(*columns, console=console, refresh_per_second=4)
