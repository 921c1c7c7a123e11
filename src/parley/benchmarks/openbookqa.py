"""OpenBookQA: elementary science with four options, without the book."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from parley.data.rows import Row, collect, from_file, from_hub
from parley.data.shapes import identity, words
from parley.errors import DataError
from parley.grading.answers import accuracy, letter_answer
from parley.grading.options import check_distinct, letters
from parley.protocols import Dataset
from parley.templates import template
from parley.types import Problem, Score

SHAPES = "id, question_stem, choices {text: [...], label: [...]}, answerKey"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBookQA:
    """The 500 questions of the test split; options in the order in which they were published, the
    gold letter by the place of its label."""

    name: ClassVar[str] = "openbookqa"
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    quick: ClassVar[bool] = True
    operational: ClassVar[frozenset[str]] = frozenset({"path"})
    """The data's hash or revision stands in `Dataset.source`; where a file lies does not matter."""

    path: str | None = None
    """Local .jsonl, .json or .parquet in the hub's shape; null reads the hub."""
    hub: str = "allenai/openbookqa"
    """Data set on the Hugging Face hub."""
    config: str = "main"
    """Hub configuration; `additional` adds columns with the fact each question rests on."""
    split: str = "test"
    """Hub split; the paper's is not stated, 500 questions are assumed."""
    revision: str | None = None
    """Commit of the hub repository. Null is the latest: name one, so that rows cannot change."""

    def load(self) -> Dataset:
        table = (
            from_file(self.path)
            if self.path
            else from_hub(self.hub, self.config, self.split, self.revision)
        )
        return collect(table, _problem)

    def answer_format(self, problem: Problem) -> str:
        return template("answer_letter")

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        found = letter_answer(text, problem.options, truncated=truncated)
        return accuracy(found, problem.answers[0])


def _problem(row: Row) -> Problem:
    try:
        options, labels = _choices(row.data)
        key = words(row.data, "answerKey").strip()
        if labels.count(key) != 1:
            raise ValueError(f"'answerKey' is {key!r}, which is not one of the labels {labels}")
        return Problem(
            id=identity(row.data),
            question=words(row.data, "question_stem").strip(),
            answers=(letters(len(labels))[labels.index(key)],),
            options=options,
        )
    except ValueError as error:
        raise DataError(
            f"{row.place}: {error}", allowed=SHAPES, remedy="mend or remove this row"
        ) from error


def _choices(data: Mapping[str, object]) -> tuple[tuple[str, ...], list[str]]:
    choices = data.get("choices")
    found = choices if isinstance(choices, Mapping) else {}
    texts, labels = found.get("text"), found.get("label")
    if not (isinstance(texts, list) and isinstance(labels, list) and len(texts) == len(labels)):
        raise ValueError("'choices' is not two lists text, label of one length")
    if not 2 <= len(texts) <= 26 or not all(isinstance(one, str) for one in [*texts, *labels]):
        raise ValueError("'choices' does not hold 2 to 26 strings")
    options = tuple(text.strip() for text in texts)
    if not all(options):
        raise ValueError("an option is empty")
    check_distinct(options)
    return options, [label.strip() for label in labels]
