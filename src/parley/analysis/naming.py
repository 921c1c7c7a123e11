"""Short names for arms: what tells them apart, normally the strategy.

Where arms differ in topology or channel, that is in the name too: two arms that share a strategy
and nothing else must not look alike. The plain channel goes without saying, and so do topology and
channel of an arm that was chosen by a name of its own (`arm=textmas`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations

SHOWN = ("strategy", "topology", "channel")
"""Choices that are in every name where arms differ in them."""
PREFERENCE = (
    "model",
    "benchmark",
    "budget",
    "replay",
    "seed",
    "shots",
    "answer",
    "sampling",
    "engine",
    "study",
)
"""Choices that are added, the first and fewest that make the names differ."""
NAMED = frozenset({"seed", "shots", "answer", "budget", "study"})
"""Choices whose value says nothing alone: "seed 43", not "43"."""
SILENT = frozenset({"-", "identity", "none"})
"""Channels that change nothing."""
SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)([mbt])(?![a-z0-9])")
UNITS = {"m": 1e6, "b": 1e9, "t": 1e12}
Row = Mapping[str, object]


def shortest(rows: Sequence[Row]) -> list[str]:
    """One distinct label per arm. Arms that differ in no named choice (a changed prompt, say)
    also show their fingerprint."""
    own = [str(row.get("label") or row.get("strategy")) for row in rows]
    differing = {
        key for key in (*SHOWN, *PREFERENCE) if len({_value(row, key) for row in rows}) > 1
    }
    if len(set(own)) == 1 and not differing & {"topology", "channel"} and len(rows) > 1:
        plain = [""] * len(rows)
    else:
        plain = [_plain(row, name, differing) for row, name in zip(rows, own, strict=True)]
    more = [key for key in PREFERENCE if key in differing]
    if "strategy" in differing and len(set(own)) == 1:
        more.insert(0, "strategy")
    for size in range(len(more) + 1):
        for keys in combinations(more, size):
            found = [_joined(name, row, keys) for name, row in zip(plain, rows, strict=True)]
            if len(set(found)) == len(rows):
                return found
    return [
        _joined(_plain(row, name, differing), row, (*more, "fingerprint"))
        for row, name in zip(rows, own, strict=True)
    ]


def settings(rows: Sequence[Row]) -> str:
    """The settings that move scores, said once where all arms share them."""
    parts = []
    keys = ("benchmark", "topology", "model", "shots", "answer", "seed", "channel")
    for key in (*keys, "budget", "replay"):
        values = list(dict.fromkeys(_value(row, key) for row in rows))
        if key in ("budget", "replay"):
            values = [value for value in values if value != "-"]
        values = by_size(values) if key == "model" else values
        said = ", ".join(values)
        if said and key in ("shots", "answer", "seed", "budget", "replay"):
            said = f"{key} {said}"
        if said and not (key == "channel" and said in ("identity", "none", "-")):
            parts.append(said if key != "model" else f"model {said}")
    return " · ".join(parts)


def facets(rows: Sequence[Row]) -> dict[tuple[str, str], list[int]]:
    """Positions of the arms by (benchmark, model): only within one are scores comparable. Smaller
    models of a benchmark come first."""
    found: dict[tuple[str, str], list[int]] = {}
    for position, row in enumerate(rows):
        key = (_value(row, "benchmark"), _value(row, "model"))
        found.setdefault(key, []).append(position)
    models = by_size([model for _, model in found])
    benchmarks = list(dict.fromkeys(benchmark for benchmark, _ in found))
    order = sorted(found, key=lambda key: (benchmarks.index(key[0]), models.index(key[1])))
    return {key: found[key] for key in order}


def counted(count: int, word: str) -> str:
    """`1 arm`, `2 arms`."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def parameters(model: str) -> float:
    """Parameters of a model as its name gives them ("qwen3-8b", "smollm2-135m"), inf where it
    gives none. The last number that is followed by m, b or t counts."""
    found = SIZE.findall(model.lower())
    return float(found[-1][0]) * UNITS[found[-1][1]] if found else math.inf


def by_size(models: Sequence[str]) -> list[str]:
    """Each model once, smaller ones first, those without a size last."""
    return sorted(set(models), key=lambda name: (parameters(name), name))


def _plain(row: Row, name: str, differing: set[str]) -> str:
    """The arm's own name, with its topology and channel where the arms differ in them."""
    parts = [name]
    if name.partition(" budget=")[0] != row.get("strategy"):
        return name
    if "topology" in differing:
        parts.append(_value(row, "topology"))
    if "channel" in differing and _value(row, "channel") not in SILENT:
        parts.append(_value(row, "channel"))
    return " · ".join(parts)


def _joined(name: str, row: Row, keys: Sequence[str]) -> str:
    values = ((key, _value(row, key)) for key in keys)
    told = [f"{key} {value}" if key in NAMED else value for key, value in values]
    return " · ".join([name, *told] if name else told)


def _value(row: Row, key: str) -> str:
    value = row.get(key)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
