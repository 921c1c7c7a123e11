"""`parley compare STUDY`, or `STUDY A B`, or `A B`: arms compared in pairs, with their uncertainty.

`parley compare STUDY` compares every arm with the baseline, `STUDY A B` two arms of it by label,
and `DIR DIR` two folders that hold one arm each.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from parley.analysis.costs import KINDS
from parley.console import tell_files, waiting, wide_console
from parley.errors import ConfigError


def command(arguments: Sequence[str]) -> int:
    """Prints the comparison, and writes compare.csv and compare.md into the study's report."""
    parser = argparse.ArgumentParser(
        "parley compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help="a study's folder, or an arm's")
    parser.add_argument("arms", nargs="*", metavar="ARM", help="two labels, or one other folder")
    parser.add_argument("--baseline", help="the label others are compared with (default: full)")
    parser.add_argument("--metric", help="the score compared (default: the study's own)")
    parser.add_argument("--cost", default="tokens", help=f"tokens, or {', '.join(KINDS)}")
    parser.add_argument("--prices", type=Path, help="a YAML price table, for --cost priced")
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap (default: 0)")
    given = parser.parse_args(arguments)
    from parley.analysis import comparing
    from parley.analysis.compared import to_rich, write_comparison
    from parley.analysis.costs import choose
    from parley.analysis.frames import load
    from parley.analysis.selecting import joined

    study, names = given.folder, given.arms
    with waiting() as tell:
        frames = load(study, tell=tell)
    if len(names) == 1:
        other = load(Path(names[0]))
        for folder, held in ((study, frames), (Path(names[0]), other)):
            if len(held.arms) != 1:
                raise ConfigError(
                    f"{folder} holds {len(held.arms)} arms",
                    allowed="two folders of one arm each, or a study and two labels",
                    remedy=f"parley compare {study} A B",
                )
        frames = joined(frames, other)
        names = [row["folder"] for row in frames.arm_rows()]
    if names and (len(names) != 2 or given.baseline):
        raise ConfigError(
            "arms are compared in pairs",
            allowed="STUDY [--baseline A], or STUDY A B, or two folders",
        )
    options = {
        "metric": given.metric,
        "cost": choose(given.cost, given.prices),
        "seed": given.seed,
    }
    with waiting() as tell:
        tell(f"comparing {len(frames.episodes):,} episodes")
        if names:
            compared = comparing.compare_two(frames, *names, **options)
        else:
            compared = comparing.compare_study(frames, baseline=given.baseline, **options)
    console = wide_console()
    console.print(to_rich(compared))
    for note in compared.notes:
        console.print(f"note: {note}")
    studies = list(dict.fromkeys(Path(row["folder"]).parent for row in frames.arm_rows()))
    if studies:
        # that of several studies is none of theirs
        home = given.folder if len(studies) > 1 and not names else studies[0]
        tell_files(console, write_comparison(compared, home / "report"))
    return 0
