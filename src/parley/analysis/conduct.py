"""What went wrong in an arm: shares that make its score less than it seems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parley.analysis.flow import Flow
from parley.analysis.frames import tidy
from parley.analysis.naming import shortest
from parley.analysis.style import number

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One way to go wrong. `column` is the results table's; `about` says what `hint` is a share
    of."""

    name: str
    about: str
    hint: str
    column: str = ""

    @property
    def word(self) -> str:
        """One word for a list of problems to be searched by: `cut-short`, `message-cut`."""
        name = f"message {self.name}" if self.about == "messages" else self.name
        return name.replace(" ", "-")


TROUBLES = (
    Trouble(
        name="failed",
        about="episodes",
        hint="episodes that ended in an error and count with 0; overflows are among them",
    ),
    Trouble(
        name="overflow",
        about="episodes",
        hint="episodes whose prompt no longer fitted the context",
        column="overflow",
    ),
    Trouble(
        name="cut short",
        about="episodes",
        hint="episodes with a call that ended at its token limit",
        column="truncated",
    ),
    Trouble(
        name="cut in thinking",
        about="episodes",
        hint="episodes with a call that was cut before it wrote anything visible",
        column="truncated_in_thinking",
    ),
    Trouble(
        name="no answer",
        about="episodes",
        hint="episodes in whose answering turn nothing could be read as an answer",
        column="no_answer",
    ),
    Trouble(
        name="no score",
        about="episodes",
        hint="episodes whose score is missing, or is not a number: their arm has no mean",
    ),
    Trouble(
        name="repaired",
        about="messages",
        hint="messages that were off format, and mended",
        column="messages_repaired",
    ),
    Trouble(
        name="fields missing",
        about="messages",
        hint="messages without some of the fields that their format has",
        column="messages_missing_fields",
    ),
    Trouble(
        name="not parsed",
        about="messages",
        hint="messages whose format could not be found in what was written",
        column="messages_unparsed",
    ),
    Trouble(
        name="cut",
        about="messages",
        hint="messages made of an output that ended at its token limit",
        column="messages_truncated",
    ),
    Trouble(
        name="rejected",
        about="messages",
        hint="messages still off format after every further ask",
        column="messages_rejected",
    ),
    Trouble(
        name="disagreed",
        about="compared",
        hint="episodes whose agents end with different answers, of those in which two name one",
    ),
)
"""In the order in which a reader wants them."""


def troubles(row: Row, found: Flow) -> list[float]:
    """The arm's share of each of TROUBLES; NaN where there is nothing that it could be of. `row`
    is its row of the results table."""
    if not row["n"]:
        return [math.nan] * len(TROUBLES)
    special = {
        "failed": row["errors"] / row["episodes"],
        "no score": row["unscored"] / row["episodes"],
        "disagreed": found.disagreement,
    }
    return [special.get(each.name, number(row.get(each.column))) for each in TROUBLES]


def table(rows: Sequence[Row], flows: Sequence[Flow]) -> pd.DataFrame:
    """A row per arm: its score, and the share of each trouble that some arm has."""
    shares = [troubles(row, found) for row, found in zip(rows, flows, strict=True)]
    met = [place for place, _ in enumerate(TROUBLES) if any(part[place] > 0 for part in shares)]
    made = [
        {
            "arm": name,
            "n": row["n"],
            "score": row.get("score"),
            **{TROUBLES[i].name: part[i] for i in met},
        }
        for name, row, part in zip(shortest(rows) if rows else (), rows, shares, strict=True)
    ]
    return tidy(made).set_index("arm") if made else tidy(made)
