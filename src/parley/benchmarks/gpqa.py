"""GPQA-Diamond: 198 graduate questions of physics, chemistry and biology with four options."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from parley.data.rows import Row, Table, collect, from_file, from_hub
from parley.data.shapes import identity, words
from parley.errors import DataError
from parley.grading.answers import accuracy, letter_answer
from parley.grading.options import check_distinct, letters
from parley.protocols import Dataset
from parley.seeds import derive
from parley.templates import template
from parley.types import Problem, Score

OPTIONS = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
SHAPES = (
    f"Question, {', '.join(OPTIONS)} (hub shape); or question with the options written into it, "
    "and answer, one letter A to D"
)
_GATED = (
    "the data set is gated: sign in on huggingface.co, accept the terms of {hub}, then set "
    "HF_TOKEN or run `hf auth login`; or read a local copy: benchmark.path=FILE"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpqaDiamond:
    """The order of the options derives from the question alone, so that it is the same in every
    copy, order of rows and sample; the gold letter is the place of the first column in it.

    White space around questions and options is dropped (a fifth of the rows has some), white space
    inside is kept: newlines there are part of reaction schemes and lists.
    """

    name: ClassVar[str] = "gpqa_diamond"
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    quick: ClassVar[bool] = True
    operational: ClassVar[frozenset[str]] = frozenset({"path"})
    """The data's hash or revision stands in `Dataset.source`; where a file lies does not matter."""

    path: str | None = None
    """Local .csv (the hub repository's own), .jsonl, .json or .parquet; null reads the hub."""
    hub: str = "Idavidrein/gpqa"
    """Data set on the Hugging Face hub; gated, needs an account that accepted its terms. An open
    copy, fingertap/GPQA-Diamond, has its options in the question in one fixed order."""
    config: str | None = "gpqa_diamond"
    """Hub configuration; the others are gpqa_main (448 rows) and gpqa_extended (546)."""
    split: str = "train"
    """Hub split; the only one. It is `test` in the open copy."""
    revision: str | None = None
    """Commit of the hub repository. Null is the latest: name one, so that rows cannot change."""
    order_seed: int = 42
    """Which order the options have; drawn per question."""

    def load(self) -> Dataset:
        return collect(self._table(), self._problem)

    def answer_format(self, problem: Problem) -> str:
        return template("answer_letter")

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        options = problem.options or ("",) * len(OPTIONS)
        return accuracy(letter_answer(text, options, truncated=truncated), problem.answers[0])

    def _table(self) -> Table:
        if self.path:
            return from_file(self.path)
        try:
            return from_hub(self.hub, self.config, self.split, self.revision)
        except DataError as error:
            raise DataError(error.what, remedy=_GATED.format(hub=self.hub)) from error

    def _problem(self, row: Row) -> Problem:
        try:
            if "Question" in row.data:
                return _of_columns(row.data, self.order_seed)
            return _of_one_text(row.data)
        except ValueError as error:
            raise DataError(
                f"{row.place}: {error}", allowed=SHAPES, remedy="mend or remove this row"
            ) from error


def _of_columns(data: Mapping[str, object], seed: int) -> Problem:
    given = words(data, "Question")
    question = given.strip()
    listed = [words(data, name) for name in OPTIONS]
    options = [option.strip() for option in listed]
    check_distinct(options)
    order = list(range(len(options)))
    Random(derive("options", seed, question)).shuffle(order)
    kind = data.get("High-level domain")
    ident = data.get("Record ID")
    notes = {"padded_question": given != question, "padded_option": options != listed}
    return Problem(
        id=ident.strip() if isinstance(ident, str) and ident.strip() else _named(question),
        question=question,
        answers=(letters(len(order))[order.index(0)],),
        kind=kind.strip() if isinstance(kind, str) else "",
        options=tuple(options[place] for place in order),
        notes=tuple(note for note, holds in notes.items() if holds),
    )


def _of_one_text(data: Mapping[str, object]) -> Problem:
    """A row whose question carries its options: their order stays as it was published."""
    question, answer = words(data, "question").strip(), words(data, "answer").strip(" \n().")
    if len(answer) != 1 or answer not in letters(len(OPTIONS)):
        raise ValueError(f"'answer' is {answer[:20]!r}, not a letter from A to D")
    named = data.get("id") is not None or data.get("_id") is not None
    return Problem(
        id=identity(data) if named else _named(question),
        question=question,
        answers=(answer,),
        notes=("options_in_question",),
    )


def _named(question: str) -> str:
    return hashlib.sha256(question.encode(errors="surrogatepass")).hexdigest()[:12]
