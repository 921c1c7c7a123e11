"""`parley plan`: what a run would do, before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from parley import config
from parley.arm import Arm, with_data
from parley.choosing import choose
from parley.rehearsal import rehearse
from parley.store import latest_rows
from parley.types import Problem

_SAMPLED = 5
_MESSAGE_TOKENS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What one arm would do. Calls and tokens are of all its episodes that are left."""

    arm: str
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
    forecasts = [forecast(arm, values) for arm in arms]
    table = Table(title=f"Plan of study {arms[0].study}", caption=_CAPTION, caption_justify="left")
    for column in (
        "arm",
        "problems",
        "episodes",
        "recorded",
        "calls",
        "prompt tokens",
        "new, most",
    ):
        table.add_column(column, justify="left" if column == "arm" else "right", overflow="fold")
    for one in forecasts:
        numbers = (one.problems, one.episodes, one.recorded, one.calls, one.prompt, one.most)
        table.add_row(one.arm, *(f"{number:,}" for number in numbers))
    if len(forecasts) > 1:
        sums = (sum(one.episodes for one in forecasts), sum(one.recorded for one in forecasts))
        rest = (
            sum(one.calls for one in forecasts),
            sum(one.prompt for one in forecasts),
            sum(one.most for one in forecasts),
        )
        table.add_row("all", "", *(f"{number:,}" for number in (*sums, *rest)), style="bold")
    Console().print(table)


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
        arm=arm.name,
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


_CAPTION = (
    f"Prompt tokens: bytes / 4 of the first {_SAMPLED} problems' prompts, with every message "
    f"{_MESSAGE_TOKENS} tokens long and no early exit. Longer messages cost more: every later "
    "turn reads them again."
)
