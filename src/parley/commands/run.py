"""`parley run`: runs or resumes arms, then reports."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

from parley import config
from parley.console import wide_console
from parley.errors import ParleyError
from parley.performing import execute, perform, report


def command(arguments: Sequence[str]) -> int:
    """Composes, runs, reports. 0 when every arm is complete, else 1."""
    codes: list[int] = []
    config.compose(arguments, lambda jobs: codes.append(start(jobs)))
    return max(codes, default=0)


def start(jobs: Sequence[config.Job]) -> int:
    """Runs all jobs that are arms. Raises ParleyError where none is."""
    arms, values, failures = config.arms(jobs)
    if not arms:
        raise config.combined(failures)
    return perform(arms, values, failures)


def from_python(overrides: Sequence[str], sweep: Mapping[str, object]) -> Any:
    """What `parley.run` does: the product of all listed values, run as one study. An experiment's
    own sweep, and values with commas, are part of the product."""
    names = list(sweep)
    lists = [value if isinstance(value, (list, tuple)) else [value] for value in sweep.values()]
    jobs: list[config.Job] = []
    for values in product(*lists):
        chosen = [f"{name}={value}" for name, value in zip(names, values, strict=True)]
        swept = config.swept([*overrides, *chosen])
        jobs += [(words, config.compose_one(words)) for words in swept]
    arms, first, failures = config.arms(jobs)
    if failures:
        raise config.combined(failures)
    console, tracker = wide_console(), config.tracker(first)
    with ThreadPoolExecutor(max_workers=1) as pool:
        # A loop of its own, since a notebook already runs one.
        running = pool.submit(asyncio.run, execute(arms, first, tracker, console))
        outcome = running.result()
    tables = report(outcome, tracker, console)
    if outcome.stopped or outcome.failures:
        raise ParleyError(outcome.stopped or "\n".join(outcome.failures.values()))
    return tables[0]
