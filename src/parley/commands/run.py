"""`parley run`: runs or resumes arms, then reports."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console

from parley import config
from parley.arm import Arm
from parley.building import share, texts, whole
from parley.console import wide_console
from parley.errors import ParleyError, StoreError
from parley.progress import Progress, terminal_bar
from parley.protocols import Tracker
from parley.provenance import provenance
from parley.reuse import Recorded
from parley.store import read_manifest
from parley.store.archive import EPISODES
from parley.store.manifest import write_manifest
from parley.study import Outcome, Settings, run_study


def command(arguments: Sequence[str]) -> int:
    """Composes, runs, reports. 0 when every arm is complete, else 1."""
    codes: list[int] = []
    config.compose(arguments, lambda jobs: codes.append(perform(jobs)))
    return max(codes, default=0)


def perform(jobs: Sequence[config.Job]) -> int:
    """Runs all jobs as one study (or several, by name) and prints the results."""
    arms, values, failures = config.arms(jobs)
    if not arms:
        raise config.combined(failures)
    console = wide_console()
    tracker = config.tracker(values)
    try:
        outcome = asyncio.run(execute(arms, values, tracker, console))
        outcome.failures |= {job: str(error) for job, error in failures.items()}
        report(outcome, tracker, console)
    except asyncio.CancelledError:  # SIGTERM
        raise KeyboardInterrupt from None
    finally:
        tracker.close()
    return 1 if outcome.failures or outcome.stopped or outcome.errors else 0


async def execute(
    arms: Sequence[Arm], values: Mapping[str, Any], tracker: Tracker, console: Console
) -> Outcome:
    """The study, with progress drawn; a request to terminate ends it like Ctrl-C."""
    task = asyncio.current_task()
    with suppress(NotImplementedError, ValueError, RuntimeError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)  # type: ignore[union-attr]
    concurrency = values["concurrency"]
    settings = Settings(
        outputs=Path(values["outputs"]),
        concurrency=None if concurrency is None else whole(values, "concurrency"),
        limit_seed=whole(values, "limit_seed"),
        max_error_rate=share(values, "max_error_rate"),
        provenance=provenance(),
    )
    bar = terminal_bar(console) if console.is_terminal else None
    progress = Progress(console.print, bar=bar)
    donors = [Path(folder) for folder in texts(values, "reuse")]
    reuse = Recorded.load(donors) if donors else None
    return await run_study(
        arms, settings, progress=progress, tracker=tracker, reuse=reuse.find if reuse else None
    )


def report(outcome: Outcome, tracker: Tracker, console: Console) -> list[Any]:
    """Prints the table, says where everything is, and tells what went wrong.

    Returns the tables, one per study.
    """
    from parley.analysis.report import write_report
    from parley.analysis.terminal import to_rich

    tables = []
    recorded = [folder for folder in outcome.folders if (folder / EPISODES).stat().st_size]
    for study in dict.fromkeys(folder.parent for folder in recorded):
        written = write_report(study)
        tables.append(written.table)
        console.print(to_rich(written.table, width=console.width))
        for note in written.notes:
            console.print(f"note: {note}", highlight=False)
        for path in written.files:
            console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    for folder in outcome.active:
        tracker.finish(folder.name, str(folder))
    tracker.close()
    if tracker.state:
        for folder in outcome.active:
            with suppress(StoreError):
                manifest = read_manifest(folder)
                write_manifest(folder, replace(manifest, tracking=tracker.state))
    for name, times in outcome.errors.most_common():
        print(f"{times} x {name}: {outcome.examples[name]}", file=sys.stderr)
    for label, text in outcome.failures.items():
        print(f"not run: {label}: {text}", file=sys.stderr)
    if outcome.stopped:
        print(outcome.stopped, file=sys.stderr)
    return tables


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
