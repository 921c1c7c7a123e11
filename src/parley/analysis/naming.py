"""Short names for arms: the fewest choices that tell them apart, normally the strategy."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations

PREFERENCE = (
    "strategy",
    "label",
    "topology",
    "model",
    "benchmark",
    "channel",
    "seed",
    "shots",
    "answer",
    "sampling",
    "engine",
)
NAMED = frozenset({"seed", "shots", "answer"})
"""Choices whose value says nothing alone: "seed 43", not "43"."""
SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)([mbt])(?![a-z0-9])")
UNITS = {"m": 1e6, "b": 1e9, "t": 1e12}
Row = Mapping[str, object]


def shortest(rows: Sequence[Row]) -> list[str]:
    """One distinct label per arm. Arms that differ in no named choice (a changed prompt, say)
    also show their fingerprint."""
    if len(rows) < 2:
        return [_text(row, ("strategy",)) for row in rows]
    differing = [key for key in PREFERENCE if len({str(row.get(key)) for row in rows}) > 1]
    for size in range(1, len(differing) + 1):
        for keys in combinations(differing, size):
            found = [_text(row, keys) for row in rows]
            if len(set(found)) == len(rows):
                return found
    keys = tuple(dict.fromkeys(("strategy", *differing)))
    return [f"{_text(row, keys)} · {row.get('fingerprint')}" for row in rows]


def settings(rows: Sequence[Row]) -> str:
    """The settings that move scores, said once where all arms share them."""
    parts = []
    for key in ("benchmark", "topology", "model", "shots", "answer", "seed", "channel"):
        values = list(dict.fromkeys(_value(row, key) for row in rows))
        values = by_size(values) if key == "model" else values
        said = ", ".join(values)
        if key in ("shots", "answer", "seed"):
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


def parameters(model: str) -> float:
    """Parameters of a model as its name gives them ("qwen3-8b", "smollm2-135m"), inf where it
    gives none. The last number that is followed by m, b or t counts."""
    found = SIZE.findall(model.lower())
    return float(found[-1][0]) * UNITS[found[-1][1]] if found else math.inf


def by_size(models: Sequence[str]) -> list[str]:
    """Each model once, smaller ones first, those without a size last."""
    return sorted(set(models), key=lambda name: (parameters(name), name))


def _text(row: Row, keys: Sequence[str]) -> str:
    values = ((key, _value(row, key)) for key in keys)
    return " · ".join(f"{key} {value}" if key in NAMED else value for key, value in values)


def _value(row: Row, key: str) -> str:
    value = row.get(key)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
