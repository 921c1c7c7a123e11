"""`parley report DIR`: tables and figures from records."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from parley.console import wide_console


def command(arguments: Sequence[str]) -> int:
    """Writes the report of the study in a folder, and prints its table."""
    parser = argparse.ArgumentParser("parley report", description=__doc__)
    parser.add_argument("folder", type=Path, help="a study's folder, such as outputs/default")
    parser.add_argument(
        "--against",
        metavar="NAME",
        help="set published figures beside the measured ones: `paper`, or a YAML file",
    )
    given = parser.parse_args(arguments)
    from parley.analysis.against_tables import against_rich
    from parley.analysis.publications import publication
    from parley.analysis.report import write_report
    from parley.analysis.terminal import to_rich

    published = publication(given.against) if given.against is not None else None
    written = write_report(given.folder, against=published)
    console = wide_console()
    console.print(to_rich(written.table, width=console.width))
    for note in written.notes:
        console.print(f"note: {note}", highlight=False)
    for comparison in written.comparisons:
        console.print()
        console.print(against_rich(comparison, width=console.width))
    for path in written.files:
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    return 0
