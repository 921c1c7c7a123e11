"""Where an arm's tokens go, as tables: parts, turns, edges, and what a prefix cache served."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parley.analysis.flow import Flow
from parley.analysis.frames import tidy
from parley.analysis.naming import shortest
from parley.analysis.style import number
from parley.analysis.token_bars import PARTS, READ, REST, split
from parley.analysis.transcript import inert
from parley.metrics import turn_rows

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]


def parts(rows: Sequence[Row]) -> pd.DataFrame:
    """A row per arm with episodes: its tokens per problem, and the share of each part of its bar in
    them; `read` is the share of the whole prompt."""
    drawn = [row for row in rows if row["n"]]
    names = [*(name for name, _, _ in PARTS), REST]
    made: list[dict[str, Any]] = []
    for name, row in zip(shortest(drawn) if drawn else (), drawn, strict=True):
        total = row["tokens_total"] or 1.0
        shares = {part: size / total for part, size in zip(names, split(row), strict=True)}
        read = sum(list(shares.values())[:READ])
        made.append({"arm": name, "tokens": round(total), "read": read, **shares})
    met = [name for name in names if any(row[name] >= 0.0005 for row in made)]
    return _indexed([{key: row[key] for key in ("arm", "tokens", "read", *met)} for row in made])


def caching(rows: Sequence[Row], flows: Sequence[Flow]) -> pd.DataFrame:
    """A row per arm with calls of its own: prompt tokens per problem, the share of them that a
    prefix cache served and could have served, and the tokens per problem between the two."""
    made = []
    for name, found in zip(shortest(rows) if rows else (), flows, strict=True):
        if found.episodes and found.prompt:
            missed = (found.servable - found.served) * found.prompt / found.episodes
            made.append(
                {
                    "arm": name,
                    "prompt": round(found.prompt / found.episodes),
                    "served": found.served,
                    "could have been": found.servable,
                    "missed": round(missed),
                }
            )
    return _indexed(made)


def turns(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A row per turn of an arm's records: in how many episodes it was taken, and in those the mean
    tokens of each part of the ledger that occurs, its asks included."""
    sums: dict[tuple[int, str], dict[str, float]] = {}
    for record in records:
        for spoken, row in zip(record["turns"], turn_rows(record), strict=True):
            held = sums.setdefault((spoken["index"], spoken["title"]), {"episodes": 0})
            held["episodes"] += 1
            for name, _, columns in PARTS:
                held[name] = held.get(name, 0) + sum(number(row[f"tokens_{c}"]) for c in columns)
    made: list[dict[str, Any]] = []
    for (index, title), held in sorted(sums.items()):
        count = int(held.pop("episodes"))
        means = {name: size / count for name, size in held.items()}
        made.append(
            {
                "turn": index,
                "seat": inert(title),
                "episodes": count,
                "tokens": round(sum(means.values())),
                **means,
            }
        )
    met = [name for name, _, _ in PARTS if any(row[name] >= 0.05 for row in made)]
    columns = ("turn", "seat", "episodes", "tokens", *met)
    return _indexed([{key: row[key] for key in columns} for row in made])


def edges(rows: Sequence[Row], flows: Sequence[Flow]) -> pd.DataFrame:
    """A row per arm: tokens per problem that each seat read again of each other one's messages."""
    made = []
    for name, found in zip(shortest(rows) if rows else (), flows, strict=True):
        if found.episodes:
            said = {
                f"{inert(reader)} reads {'itself' if reader == writer else inert(writer)}": tokens
                / found.episodes
                for (reader, writer), tokens in sorted(found.edges.items())
            }
            made.append({"arm": name, **said})
    return _indexed(made)


def _indexed(rows: Sequence[Row]) -> pd.DataFrame:
    """A frame whose first column names its rows; an empty one stays empty."""
    frame = tidy(rows)
    return frame.set_index(str(frame.columns[0])) if rows else frame
