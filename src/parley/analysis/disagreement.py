"""On which problems arms disagree: by problem, by pair of arms, and what each of a pair said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from parley.analysis.naming import facets
from parley.analysis.opening import Opened
from parley.analysis.transcript import inert
from parley.errors import ConfigError

Row = dict[str, Any]
Scores = Mapping[str, float]
"""Problem: the mean headline score of its samples, 0 where they failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Two arms of one benchmark and model on the problems that both hold and have a score on."""

    first: str
    second: str
    n: int
    won: int
    """Problems on which the first is better."""
    lost: int
    gap: float
    """Mean size of the difference; NaN where they share no problem."""

    @property
    def differ(self) -> float:
        """Share of the problems on which their scores differ."""
        return (self.won + self.lost) / self.n if self.n else math.nan


def scores(study: Opened, name: str) -> dict[str, float]:
    """An arm's headline score by problem. One that is not a number is left out: the notes and the
    table's `unscored` count it."""
    metric = study.rows[study.names.index(name)]["metric"]
    found = {}
    for problem, rows in study.episodes(name).items():
        values = [row.get(metric) for row in rows]
        known = [float(value) for value in values if value is not None]
        if len(known) == len(values) and not any(map(math.isnan, known)):
            found[problem] = math.fsum(known) / len(known)
    return found


def by_problem(study: Opened) -> list[Row]:
    """Each problem of a benchmark with the score of every arm that has one, and their `gap`, 0
    where fewer than two have: the widest first, then by id."""
    several = len({row["benchmark"] for row in study.rows}) > 1
    found: dict[tuple[str, str], Row] = {}
    for name, row in zip(study.names, study.rows, strict=True):
        where = {"benchmark": row["benchmark"]} if several else {}
        held = scores(study, name)
        for problem, rows in study.episodes(name).items():
            fresh = {"problem": problem, **where, "kind": rows[0]["kind"], "gap": 0.0}
            made = found.setdefault((row["benchmark"], problem), fresh)
            if problem in held:
                made[name] = held[problem]
    for made in found.values():
        values = [made[name] for name in study.names if name in made]
        made["gap"] = max(values) - min(values) if values else 0.0
    return sorted(found.values(), key=lambda made: (-made["gap"], made["problem"]))


def pairs(study: Opened, among: str | None = None) -> list[Apart]:
    """Every two arms of a benchmark and model, those furthest apart first; with `among`, those of
    that arm's benchmark and model only. Raises ConfigError at a name that no arm has."""
    _check(study, *([among] if among is not None else []))
    groups = [[study.names[i] for i in places] for places in facets(study.rows).values()]
    found = [
        apart(study, one, two)
        for names in groups
        if among is None or among in names
        for one, two in combinations(names, 2)
    ]
    return sorted(found, key=lambda pair: -pair.gap if pair.n else math.inf)


def apart(study: Opened, first: str, second: str) -> Apart:
    """How far two arms are apart. Raises ConfigError at a name that no arm has."""
    _check(study, first, second)
    one, two = scores(study, first), scores(study, second)
    gaps = [one[problem] - two[problem] for problem in one if problem in two]
    return Apart(
        first=first,
        second=second,
        n=len(gaps),
        won=sum(gap > 0 for gap in gaps),
        lost=sum(gap < 0 for gap in gaps),
        gap=math.fsum(map(abs, gaps)) / len(gaps) if gaps else math.nan,
    )


def between(study: Opened, first: str, second: str, *, most: int | None = None) -> list[Row]:
    """The problems of two arms, the widest gap first: what each scored, said and was graded. The
    answers are of the first sample. Raises ConfigError at a name that no arm has."""
    _check(study, first, second)
    one, two = scores(study, first), scores(study, second)
    order = sorted(set(one) & set(two), key=lambda name: (-abs(one[name] - two[name]), name))[:most]
    told = {name: _told(study, name, order) for name in (first, second)}
    made = []
    for problem in order:
        question, gold, *_ = told[first].get(problem) or ("", "", None, "")
        row: Row = {"problem": problem, "question": question, "gold": gold}
        row["difference"] = one[problem] - two[problem]
        for name, held in ((first, one), (second, two)):
            _, _, answered, status = told[name].get(problem) or ("", "", None, "")
            row |= {name: held[problem], f"{name} said": answered, f"{name} status": status}
        made.append(row)
    return made


def conversations(
    study: Opened, problem: str, names: Sequence[str], *, sample: int = 0
) -> dict[str, Row]:
    """That problem's record in each of the arms that has it; arms of another benchmark than the
    first one's are left out, since their problem of that id is another one."""
    found: dict[str, Row] = {}
    benchmarks = {name: row["benchmark"] for name, row in zip(study.names, study.rows, strict=True)}
    for name in names:
        if found and benchmarks[name] != benchmarks[next(iter(found))]:
            continue
        for record in study.records(name, {problem}):
            if record["sample"] == sample:
                found[name] = record
    return found


def _told(
    study: Opened, name: str, problems: Sequence[str]
) -> dict[str, tuple[str, str, str | None, str]]:
    """Question, gold answer, what was extracted, and status, of the first sample."""
    found: dict[str, tuple[str, str, str | None, str]] = {}
    for record in study.records(name, frozenset(problems)):
        problem = str(record["problem"])
        if problem in found:
            continue
        score, failure = record["score"] or {}, record["failure"]
        status = failure["error"] if failure else score.get("status", "no score")
        said = score.get("extracted")
        texts = inert(record["question"]), inert(" | ".join(record["answers"]))
        found[problem] = (*texts, inert(said) if said else None, status)
    return found


def _check(study: Opened, *names: str) -> None:
    for name in names:
        if name not in study.names:
            raise ConfigError(f"no arm is named {name!r}", allowed=", ".join(study.names))
