"""AIME: thirty competition problems a year, each answered by an integer from 0 to 999."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from parley.data.rows import Row, Table, collect, from_file, from_hub, joined
from parley.data.shapes import identity, words
from parley.errors import ConfigError, DataError
from parley.grading.answers import accuracy, boxes, integer_answer
from parley.grading.numerals import integer
from parley.protocols import Dataset
from parley.templates import template
from parley.types import Problem, Score

HUBS: Mapping[int, str] = {2024: "HuggingFaceH4/aime_2024", 2025: "yentinglin/aime_2025"}
_YEAR_IN_ID = re.compile(r"(?<![0-9])[0-9]{4}(?=-I)")
SHAPES = (
    "problem (or question, Problem) and answer (or Answer, or a solution that is one \\boxed{}); "
    "id or ID where there is one"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aime:
    """Both contests of a year. The published copies differ in names, order and leading zeros; all
    are read, and graded as integers."""

    name: ClassVar[str] = "aime"
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    quick: ClassVar[bool] = True
    operational: ClassVar[frozenset[str]] = frozenset({"path"})
    """The data's hash or revision stands in `Dataset.source`; where a file lies does not matter."""

    year: int = 2024
    """2024 or 2025; rows that name another year are refused."""
    path: str | tuple[str, ...] | None = None
    """Local .jsonl, .json, .csv or .parquet in any published shape, or a list of them, for copies
    with one file per contest; null reads the hub."""
    hub: str | None = None
    """Data set on the Hugging Face hub; null is the copy that related work used for the year:
    HuggingFaceH4/aime_2024 or yentinglin/aime_2025."""
    config: str | tuple[str, ...] | None = None
    """Hub configuration, or a list of them (opencompass/AIME2025 has one per contest); null is the
    default one."""
    split: str = "train"
    """Hub split; these copies have one, called `train` or `test`."""
    revision: str | None = None
    """Commit of the hub repository. Null is the latest: name one, so that rows cannot change."""

    def __post_init__(self) -> None:
        if self.year not in HUBS:
            raise ConfigError(f"benchmark.year={self.year}", allowed="2024 or 2025")

    def load(self) -> Dataset:
        return collect(self._table(), self._problem)

    def answer_format(self, problem: Problem) -> str:
        return template("answer_integer")

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        gold = integer(problem.answers[0]) or problem.answers[0]
        return accuracy(integer_answer(text, truncated=truncated), gold)

    def _table(self) -> Table:
        if self.path:
            paths = (self.path,) if isinstance(self.path, str) else self.path
            return joined([from_file(path) for path in paths])
        configs = self.config if isinstance(self.config, tuple) else (self.config,)
        hub = self.hub or HUBS[self.year]
        return joined([from_hub(hub, one, self.split, self.revision) for one in configs])

    def _problem(self, row: Row) -> Problem:
        try:
            data = _plain_names(row.data)
            question = words(data, "problem").strip()
            gold, notes = _gold(data)
            ident = _ident(data, question)
            _check_year(data, ident, self.year)
            return Problem(
                id=ident, question=question, answers=(gold,), kind="integer", notes=notes
            )
        except ValueError as error:
            raise DataError(
                f"{row.place}: {error}", allowed=SHAPES, remedy="mend or remove this row"
            ) from error


def _plain_names(row: Mapping[str, object]) -> dict[str, object]:
    """The row with lower-case names; a `question` is a `problem` where there is no other."""
    data = {key.lower(): value for key, value in row.items()}
    if data.get("problem") is None and "question" in data:
        data["problem"] = data["question"]
    return data


def _ident(data: Mapping[str, object], question: str) -> str:
    """The published id; a row without one is named by its text, wherever it stands."""
    if data.get("id") is None:
        return hashlib.sha256(question.encode()).hexdigest()[:12]
    return identity(data)


def _gold(data: Mapping[str, object]) -> tuple[str, tuple[str, ...]]:
    """The gold integer without leading zeros, and notes on how it was published."""
    given = data.get("answer")
    if given is None and isinstance(data.get("solution"), str):
        inner = boxes(str(data["solution"]))
        given = inner[-1][1] if inner else data["solution"]
    if isinstance(given, bool) or not isinstance(given, int | str):
        raise ValueError(f"'answer' is {type(given).__name__}, not an integer")
    text = str(given).strip()
    degrees = text.removesuffix("^\\circ").rstrip()
    if not (degrees.isascii() and degrees.isdigit() and len(degrees) <= 9):
        raise ValueError(f"the answer {text[:60]!r} is not an integer")
    if int(degrees) > 999:
        raise ValueError(f"the answer {text[:60]!r} is not from 0 to 999")
    return str(int(degrees)), ("degree_sign",) if degrees != text else ()


def _check_year(data: Mapping[str, object], ident: str, year: int) -> None:
    """Rows name their year in a column, as a number or its digits, or in an id such as 2024-II-4;
    some in neither. A table with gaps makes its whole numbers 2024.0, and a gap NaN."""
    given = data.get("year")
    if given is None or given == "" or given != given:
        found = _YEAR_IN_ID.search(ident)
        named = found[0] if found else str(year)
    else:
        named = str(given).strip().removesuffix(".0")
    if isinstance(given, bool) or not (named.isascii() and named.isdigit()):
        raise ValueError(f"'year' is {str(given)[:60]!r}, not a year")
    if int(named) != year:
        raise ValueError(f"the row is of the year {named}, but benchmark.year={year}")
