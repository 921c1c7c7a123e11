"""Built arms run as a study on a terminal: progress, tables, files, and what went wrong."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from parley import config
from parley.arm import Arm
from parley.building import share, texts, whole
from parley.console import tell_files, wide_console
from parley.errors import StoreError
from parley.progress import Progress, terminal_bar
from parley.protocols import Tracker
from parley.provenance import provenance
from parley.reuse import Recorded
from parley.store import read_manifest
from parley.store.archive import EPISODES
from parley.store.manifest import write_manifest
from parley.study import Outcome, Settings, run_study
from parley.tracking import warning


def perform(
    arms: Sequence[Arm], values: Mapping[str, Any], failures: Mapping[str, Exception]
) -> int:
    """Runs all arms as one study (or several, by name) and prints the results. `values` are the
    study's own settings, `failures` what kept others from becoming arms. 0 when all is complete
    (an overflow is an outcome), else 1: the same command does what is left."""
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
    return 1 if outcome.failures or outcome.stopped or outcome.repeatable else 0


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
            console.print(f"note: {note}")
        tell_files(console, written.files)
    _track(outcome, recorded, tracker)
    for name, times in outcome.errors.most_common():
        print(f"{times} x {name}: {outcome.examples[name]}", file=sys.stderr)
    for label, text in outcome.failures.items():
        print(f"not run: {label}: {text}", file=sys.stderr)
    if outcome.stopped:
        print(outcome.stopped, file=sys.stderr)
    return tables


def _track(outcome: Outcome, recorded: Sequence[Path], tracker: Tracker) -> None:
    """Hands the arms and their report to the tracker, and notes in the manifests what it made of
    them. What it could not do is a warning: the records are complete."""
    for folder in dict.fromkeys((*outcome.active, *recorded)):
        tracker.finish(folder.name, str(folder))
    for study in dict.fromkeys(folder.parent for folder in recorded):
        tracker.report(str(study))
    tracker.close()
    if not tracker.state:
        return
    runs = tracker.state.get("runs", {})
    for folder in outcome.folders:
        if folder in outcome.active or folder.name in runs:
            with suppress(StoreError):
                manifest = read_manifest(folder)
                write_manifest(folder, replace(manifest, tracking=tracker.state))
    if said := warning(tracker.state):
        print(said, file=sys.stderr)
