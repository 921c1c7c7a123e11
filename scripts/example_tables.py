"""Small tables of finished studies, as docs/example_tables.md shows them.

    python scripts/example_tables.py "TITLE" outputs/table1 outputs/table3 ... > part.md

One table per study: arms, problems, the leading score, tokens, how messages and answers went.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from parley.analysis.frames import load, plain_rows
from parley.analysis.naming import shortest
from parley.analysis.tables import results

HEADS = ("arm", "benchmark", "n", "errors", "score %", "tokens", "truncated", "messages ok")


def main(title: str, folders: list[str]) -> int:
    """Prints the section; 1 where a folder holds no arm."""
    print(f"## {title}\n")
    for folder in folders:
        frames = load(Path(folder))
        table = results(frames)
        if table.empty:
            return 1
        print(f"### {Path(folder).name}\n\n{section(table)}\n")
    return 0


def section(table: pd.DataFrame) -> str:
    """The table as Markdown."""
    rows = plain_rows(table)
    lines = ["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS)]
    for label, row in zip(shortest(rows), rows, strict=True):
        asked = row["messages"]
        cells = (
            label,
            row["benchmark"],
            row["n"],
            row["errors"],
            f"{row['metric']} {100 * row['score']:.1f}",
            f"{row['tokens_total']:,.0f}",
            f"{row['truncated']:.0%}",
            f"{row['messages_ok']:.0%}" if asked else "-",
        )
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
