"""`parley report DIR`: tables and figures from records."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from parley.console import tell_files, waiting, wide_console


def command(arguments: Sequence[str]) -> int:
    """Writes the report of the study in a folder, and prints its table."""
    parser = argparse.ArgumentParser("parley report", description=__doc__)
    parser.add_argument("folder", type=Path, help="a study's folder, such as outputs/default")
    parser.add_argument(
        "--against",
        metavar="NAME",
        help="set published figures beside the measured ones: `paper`, or a YAML file",
    )
    _axes(parser)
    given = parser.parse_args(arguments)
    from parley.analysis.against_tables import against_rich
    from parley.analysis.costs import choose
    from parley.analysis.pictures import Choice
    from parley.analysis.publications import publication
    from parley.analysis.report import write_report
    from parley.analysis.terminal import to_rich

    published = publication(given.against) if given.against is not None else None
    choice = Choice(
        metric=given.score,
        cost=choose(given.cost, given.prices),
        budgets=tuple(given.budget),
        latex=given.latex,
        printed=given.print,
    )
    with waiting() as tell:
        written = write_report(given.folder, choice, against=published, tell=tell)
    console = wide_console()
    console.print(to_rich(written.table, width=console.width))
    for note in written.notes:
        console.print(f"note: {note}")
    for line in written.reading:
        console.print(line)
    for comparison in written.comparisons:
        console.print()
        console.print(against_rich(comparison, width=console.width))
    tell_files(console, written.files)
    return 0


def _axes(parser: argparse.ArgumentParser) -> None:
    """What the frontier shows, and for whom it is drawn."""
    from parley.analysis.costs import KINDS

    parser.add_argument("--score", metavar="METRIC", help="the frontier's score, such as em")
    parser.add_argument("--cost", default="total", help=f"the frontier's cost: {', '.join(KINDS)}")
    parser.add_argument("--prices", type=Path, help="a YAML price table, for --cost priced")
    parser.add_argument(
        "--budget",
        type=float,
        nargs="+",
        default=[],
        help="costs per problem at which to say which arm is best, and how sure that is",
    )
    parser.add_argument("--latex", action="store_true", help="also results.tex, with booktabs")
    parser.add_argument("--print", action="store_true", help="also figures at column width")
