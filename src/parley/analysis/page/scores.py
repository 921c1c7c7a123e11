"""Numbers of every episode, by column: what the page resamples, sorts and filters."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parley.analysis.conduct import TROUBLES
from parley.analysis.flow import Flow, summed

if TYPE_CHECKING:
    import pandas as pd

COSTS = {
    "prompt": "tokens_prompt",
    "output": "tokens_output",
    "cached": "tokens_cached",
    "seconds": "latency_s",
}
"""Name in the page: column of the episodes. All other costs are made of these."""
Problem = tuple[str, str]
"""(benchmark, problem id)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Episodes by column, one mapping per arm in the table's order, and the problems they are
    of. `p` holds positions in `problems`; a score or cost that does not exist is None. `troubles`
    has the rows in which each was met, by its word, but for those that `status` names."""

    problems: tuple[Problem, ...]
    kinds: tuple[str, ...]
    arms: tuple[dict[str, Any], ...]


def scores(
    episodes: pd.DataFrame,
    arms: Sequence[Mapping[str, Any]],
    folders: Sequence[str],
    flows: Sequence[Flow] = (),
) -> Scores:
    """`arms` are the overview's, `folders` their paths: the key that joins the episodes; `flows`,
    one an arm, say where agents disagreed."""
    groups = dict(iter(episodes.groupby("folder"))) if len(episodes) else {}
    places: dict[Problem, int] = {}
    kinds: list[str] = []
    made: list[dict[str, Any]] = []
    for arm, folder, flow in zip(arms, folders, flows or [summed(())] * len(arms), strict=True):
        group = groups.get(folder)
        if group is None:
            made.append({"p": []})
            continue
        benchmark = str(arm["choices"].get("benchmark", ""))
        positions = []
        for problem, kind in zip(group["problem"], group["kind"], strict=True):
            key = (benchmark, str(problem))
            if key not in places:
                places[key] = len(kinds)
                kinds.append(str(kind))
            positions.append(places[key])
        troubled = _troubles(group, flow)
        made.append({"p": positions, **_columns(group, arm["metrics"]), "troubles": troubled})
    return Scores(problems=tuple(places), kinds=tuple(kinds), arms=tuple(made))


def by_disagreement(found: Scores, arms: Sequence[Mapping[str, Any]]) -> list[int]:
    """Problems in the order in which their transcripts are kept: in turn the one on which arms
    of one facet differ most in their headline score, and one drawn at random (seeded)."""
    spread = [0.0] * len(found.problems)
    for facet in sorted({arm["facet"] for arm in arms}):
        low: dict[int, float] = {}
        high: dict[int, float] = {}
        for arm, columns in zip(arms, found.arms, strict=True):
            if arm["facet"] != facet:
                continue
            for place, value in _means(columns, arm["metric"]):
                low[place] = min(value, low.get(place, math.inf))
                high[place] = max(value, high.get(place, -math.inf))
        for place in low:
            spread[place] = max(spread[place], high[place] - low[place])
    differing = sorted(range(len(spread)), key=lambda place: (-spread[place], place))
    drawn = sorted(range(len(spread)), key=lambda place: _hash(found.problems[place]))
    both = (place for pair in zip(differing, drawn, strict=True) for place in pair)
    return list(dict.fromkeys(both))


def _troubles(group: pd.DataFrame, flow: Flow) -> dict[str, list[int]]:
    marks: dict[str, Iterable[bool]] = {
        each.word: group[each.column] > 0 for each in TROUBLES if each.column in group
    }
    keys = zip(group["problem"], group["sample"], strict=True)
    marks["disagreed"] = [(str(name), int(sample)) in flow.disagreed for name, sample in keys]
    rows = {word: [row for row, met in enumerate(of) if met] for word, of in marks.items()}
    return {word: met for word, met in rows.items() if met}


def _columns(group: pd.DataFrame, metrics: Sequence[str]) -> dict[str, list[Any]]:
    """Every metric and cost, and what the grade says, as lists of plain values."""
    own = group["reused"] == 0
    return {
        "s": [int(sample) for sample in group["sample"]],
        "status": [str(status) for status in group["status"].fillna("no score")],
        **{f"score_{name}": _plain(group[name]) for name in metrics if name in group},
        **{f"cost_{name}": _plain(group[column]) for name, column in COSTS.items()},
        # what a reused call would have cost there and then is not known
        **{f"cost_{name}": _plain(group[COSTS[name]].where(own)) for name in ("cached", "seconds")},
    }


def _plain(column: pd.Series) -> list[float | None]:
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=math.nan)
    if all(map(float.is_integer, numbers.tolist())):
        return list(map(int, numbers.tolist()))
    return [None if math.isnan(number) else _short(number) for number in numbers]


def _short(number: float) -> float:
    return int(number) if number == int(number) else round(number, 5)


def _means(columns: Mapping[str, Sequence[Any]], metric: str) -> Iterator[tuple[int, float]]:
    """Mean over its samples of each problem that has a score."""
    held: dict[int, list[float]] = {}
    for place, value in zip(columns["p"], columns.get(f"score_{metric}", ()), strict=False):
        if value is not None:
            held.setdefault(place, []).append(value)
    for place, values in held.items():
        yield place, math.fsum(values) / len(values)


def _hash(problem: Problem) -> str:
    return hashlib.sha256("\x1f".join(problem).encode()).hexdigest()
