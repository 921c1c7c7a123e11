"""`parley plan`: what a run would do, before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from parley import config
from parley.analysis.naming import settings, shortest
from parley.arm import Arm, with_data
from parley.choosing import choose
from parley.console import wide_console
from parley.rehearsal import rehearse
from parley.store import latest_rows
from parley.types import Problem

_SAMPLED = 5
_MESSAGE_TOKENS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What one arm would do. Calls and tokens are of all its episodes that are left."""

    problems: int
    episodes: int
    recorded: int
    calls: int
    prompt: int
    most: int
    """New tokens if every call used up sampling.max_tokens."""


def command(arguments: Sequence[str]) -> int:
    """Prints one row per arm and the sums."""
    config.compose(arguments, show)
    return 0


def show(jobs: Sequence[config.Job]) -> None:
    """Prints the forecasts of all jobs. Raises ParleyError if one cannot be built."""
    arms, values, failures = config.arms(jobs)
    if failures:
        raise config.combined(failures)
    console = wide_console()
    console.print(tabled(arms, [forecast(arm, values) for arm in arms], console.width))


def tabled(arms: Sequence[Arm], forecasts: Sequence[Forecast], width: int) -> Table:
    """One row per arm, and the sums. Where the terminal is narrow, NARROW columns go in turn."""
    rows = [{**arm.choices, "label": arm.label, "fingerprint": arm.fingerprint} for arm in arms]
    columns = {
        title: [f"{getattr(one, name):,}" for one in forecasts] for title, name in _COLUMNS.items()
    }
    labels = shortest(rows)
    if len(forecasts) > 1:
        labels.append("all")
        for title, name in _COLUMNS.items():
            total = f"{sum(getattr(one, name) for one in forecasts):,}"
            columns[title].append("" if name == "problems" else total)
    for title in (*NARROW, ""):
        needed = sum(max(map(len, (head, *cells))) + 1 for head, cells in columns.items())
        if not title or needed + max(map(len, labels)) <= width:
            break
        del columns[title]
    table = Table(box=None, padding=(0, 1), pad_edge=False, collapse_padding=True)
    table.title, table.title_justify = f"Plan of study {arms[0].study}", "left"
    table.caption, table.caption_justify = f"{settings(rows)}\n{_CAPTION}", "left"
    table.add_column("arm", overflow="fold")
    for title in columns:
        table.add_column(title, justify="right", no_wrap=True)
    for place, label in enumerate(labels):
        style = "bold" if place == len(forecasts) else ""
        table.add_row(Text(label), *(cells[place] for cells in columns.values()), style=style)
    return table


def forecast(arm: Arm, values: dict[str, Any]) -> Forecast:
    """Rehearses a few problems with messages of a stated length, and counts bytes / 4."""
    dataset = arm.benchmark.load()
    problems = choose(dataset.problems, arm.limit, int(values["limit_seed"]))
    arm = with_data(arm, dataset.source)
    folder = Path(values["outputs"]) / arm.study / arm.name
    recorded = sum(1 for _ in latest_rows(folder)) if folder.is_dir() else 0
    left = max(0, len(problems) * arm.samples - recorded)
    sampled = problems[:_SAMPLED]
    calls, prompt = zip(*(_episode(arm, problem) for problem in sampled), strict=True)
    asks = arm.strategy.max_asks * (arm.topology.max_turns - 1)
    # A rehearsal that overflows the context makes no call at all.
    each = sum(calls) / len(sampled) + asks
    return Forecast(
        problems=len(problems),
        episodes=left,
        recorded=recorded,
        calls=round(left * each),
        prompt=round(left * sum(prompt) / max(1, sum(calls)) * each),
        most=round(left * each * arm.sampling.max_tokens),
    )


def _episode(arm: Arm, problem: Problem) -> tuple[int, int]:
    """Calls (asks left out) and prompt tokens of a rehearsal."""
    episode = rehearse(arm, problem, "word " * (_MESSAGE_TOKENS * 4 // 5))
    calls = [turn.calls[0] for turn in episode.turns]
    return len(calls), sum(call.usage.prompt for call in calls)


_COLUMNS = {
    "problems": "problems",
    "episodes": "episodes",
    "recorded": "recorded",
    "calls": "calls",
    "prompt tokens": "prompt",
    "new, most": "most",
}
NARROW = ("problems", "recorded", "new, most")
_CAPTION = (
    f"Prompt tokens: bytes / 4 of the first {_SAMPLED} problems' prompts, with every message "
    f"{_MESSAGE_TOKENS} tokens long and no early exit. Longer messages cost more: every later "
    "turn reads them again."
)
