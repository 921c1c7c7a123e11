"""`parley show DIR [--episode ID]`: the episodes of a folder, or one conversation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from parley.console import wide_console
from parley.errors import ConfigError, StoreError
from parley.store import STRANGE, find_arms, unreadable


def command(arguments: Sequence[str]) -> int:
    """Prints a list, or a conversation with the tokens of every turn; 1 where an arm could not be
    read."""
    parser = argparse.ArgumentParser("parley show", description=__doc__)
    parser.add_argument("folder", type=Path, help="an arm's or a study's folder")
    parser.add_argument("--episode", metavar="ID", help="problem id, or ID:SAMPLE")
    parser.add_argument("--full", action="store_true", help="do not fold long reasoning")
    given = parser.parse_args(arguments)
    from parley.analysis.listing import listing
    from parley.analysis.transcript import render
    from parley.store import scored_rows

    console = wide_console()
    arms = find_arms(given.folder)
    found, unread = 0, 0
    for arm in arms:
        try:
            if given.episode is None:
                table = listing(arm, width=console.width)
                # A row is never broken, even where an id alone is wider than the terminal.
                console.width = max(console.width, table.width or 0)
                console.print(table)
                continue
            for row in scored_rows(arm):
                if given.episode in (row["problem"], f"{row['problem']}:{row['sample']}"):
                    found += 1
                    console.rule(arm.name)
                    console.print(render(row, width=min(console.width, 120), full=given.full))
        except (StoreError, *STRANGE) as error:
            told = unreadable(arm, error)
            if len(arms) == 1:
                raise told from error
            unread += 1
            print(f"{arm.name}: cannot be read: {told.what}", file=sys.stderr)
    if given.episode is not None and not found:
        raise ConfigError(
            f"no episode {given.episode!r} in {given.folder}",
            allowed="a problem's id, or ID:SAMPLE",
            remedy=f"parley show {given.folder} lists them",
        )
    return 1 if unread else 0
