"""`parley upload DIR`: replays finished folders to W&B."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from parley import config
from parley.errors import StoreError


def command(arguments: Sequence[str]) -> int:
    """Sends the records of finished arms, and their report, written anew. May be repeated: a run
    is replaced by its records."""
    parser = argparse.ArgumentParser("parley upload", description=__doc__)
    parser.add_argument("folder", type=Path, help="an arm's or a study's folder")
    parser.add_argument("overrides", nargs="*", help="tracker settings, as tracker.project=NAME")
    given = parser.parse_args(arguments)
    from parley.analysis.report import write_report
    from parley.store import find_arms
    from parley.tracking import warning
    from parley.upload import upload

    find_arms(given.folder)  # where there is nothing to send, that is the message
    try:
        write_report(given.folder)
    except StoreError as error:
        print(f"no report, so no run of the study: {error}", file=sys.stderr)
    composed = config.compose_one(["tracker=wandb", *given.overrides])
    done = upload(given.folder, config.tracker(config.resolve(composed)))
    print(f"{done.state['status']}: {len(done.arms)} arms, {done.episodes} episodes")
    if said := warning(done.state):
        print(said, file=sys.stderr)
    for arm, why in done.skipped.items():
        print(f"left out: {arm}: {why}")
    return 1 if done.skipped else 0
