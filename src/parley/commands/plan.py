"""`parley plan`: what a run would do, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.table import Table
from rich.text import Text

from parley import config
from parley.analysis.naming import settings, shortest
from parley.arm import Arm, with_data
from parley.budgets import donors_among, with_budget
from parley.choosing import choose
from parley.console import wide_console
from parley.donors import with_donor
from parley.errors import ParleyError
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
    bound: float
    """New tokens of an episode if every call used up what it may: its budget, where the arm has
    one, else sampling.max_tokens each."""
    after: str = ""
    """The arm that has to be recorded first, and where it is."""
    error: str = ""
    """Why this arm would not be run."""

    @property
    def most(self) -> int:
        return round(self.episodes * self.bound)


def command(arguments: Sequence[str]) -> int:
    """Prints one row per arm and the sums."""
    config.compose(arguments, show)
    return 0


def show(jobs: Sequence[config.Job]) -> None:
    """Prints the forecasts of all jobs. Raises ParleyError if one cannot be built."""
    arms, values, failures = config.arms(jobs)
    if failures:
        raise config.combined(failures)
    forecasts = forecast_all(arms, values)
    console = wide_console()
    console.print(tabled(arms, forecasts, console.width))
    for one in forecasts:
        if one.after or one.error:
            said = f"would not run: {one.error}" if one.error else f"after {one.after}"
            console.print(f"{one.arm}: {said}", soft_wrap=True)


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


def forecast_all(arms: Sequence[Arm], values: Mapping[str, Any]) -> list[Forecast]:
    """The forecasts of arms that one command would run, in their order."""
    planned: list[tuple[Arm, tuple[Problem, ...]]] = []
    for arm in arms:
        dataset = arm.benchmark.load()
        problems = choose(dataset.problems, arm.limit, int(values["limit_seed"]))
        planned.append((with_data(arm, dataset.source), problems))
    outputs, found = Path(values["outputs"]), dict[str, Forecast]()
    for arm, problems in planned:
        if not arm.waits:
            found[arm.name] = forecast(arm, problems, outputs / arm.study)
    every = [arm for arm, _ in planned]
    return [
        found[arm.name] if not arm.waits else _later(arm, problems, outputs, every, found)
        for arm, problems in planned
    ]


def _later(
    arm: Arm,
    problems: tuple[Problem, ...],
    outputs: Path,
    arms: Sequence[Arm],
    found: Mapping[str, Forecast],
) -> Forecast:
    """The forecast of an arm that needs another's records: of this run, or recorded already."""
    study = outputs / arm.study
    # Its folder is named by what it reads of those records, too.
    unnamed = replace(arm, folder_name=arm.folder_name or f"{arm.name.rpartition('-')[0]}-...")
    here = [found[one.name] for one in donors_among(arm, arms)]
    if len(here) == 1 and here[0].episodes:
        made = forecast(unnamed, problems, None)
        bound = here[0].bound if arm.budget else made.bound
        return replace(made, bound=bound, after=f"{here[0].arm}, in this run")
    try:
        pinned, _ = with_donor(arm, study)
        pinned, grants = with_budget(pinned, study, problems)
    except ParleyError as error:
        return replace(forecast(unnamed, problems, None), error=str(error))
    made = forecast(pinned, problems, study)
    topology: Any = pinned.topology
    granted = fmean(grants.values()) if grants else getattr(topology, "budget_tokens", None)
    return replace(
        made,
        bound=granted if arm.budget and granted else made.bound,
        after=f"{pinned.identity['donor']['arm']}, recorded",
    )


def forecast(arm: Arm, problems: tuple[Problem, ...], study: Path | None) -> Forecast:
    """Rehearses a few problems with messages of a stated length, and counts bytes / 4.

    `study` is the folder in which records are looked for; None for an arm that has none yet.
    """
    folder = study / arm.name if study else None
    recorded = sum(1 for _ in latest_rows(folder)) if folder and folder.is_dir() else 0
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
        bound=each * arm.sampling.max_tokens,
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
