"""Your own questions, one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from parley.data.evidence import clean, deal, gold_answers, malformed, shape_notes
from parley.data.rows import Row, collect, from_file, required_file
from parley.data.shapes import identity, words
from parley.grading import METRICS, answer_words, check_contract, grade_text
from parley.protocols import Dataset
from parley.types import Paragraph, Problem, Score

SHAPE = (
    '{"id": "q1", "question": "...", "answer": "..." or "answers": ["...", ...], '
    '"shares": [[{"title": "...", "text": "..."}, ...], [...]] '
    'or "evidence": [{"title": "...", "text": "..."}, ...] with "gold": ["title", ...]}; '
    'also read: "kind": "...", "facts": ["...", ...]'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLines:
    """Questions with short answers from a file, graded as HotpotQA's are.

    Each row has `id`, `question`, and `answer` or `answers` (the first is the gold one, the rest
    are aliases; a number is read as its digits). Its evidence is either

    - `shares`: the paragraphs of each seat, as you split them, kept in your order; or
    - `evidence` and `gold`: all paragraphs, and the titles the answer rests on (may be left out);
      they are dealt into two shares as HotpotQA's are, with the same notes, except that any
      number of paragraphs is regular here.

    `kind` groups questions in tables; `facts` are sentences that analyses may look for in
    messages. Other keys are ignored. A .json list and a .parquet file are read as well.
    """

    name: ClassVar[str] = "jsonl"
    metric: ClassVar[str] = "f1"
    metrics: ClassVar[tuple[str, ...]] = METRICS
    quick: ClassVar[bool] = True
    operational: ClassVar[frozenset[str]] = frozenset({"path"})
    """The file's hash stands in `Dataset.source`; where it lies does not matter."""

    path: str | None = None
    """The file; there is no default."""
    answer: str = "short"
    """How the answer is asked for: `short` (shortest exact answer) or `none` (the paper's)."""
    split_seed: int = 42
    """Who gets which paragraph, where a row gives `evidence`; drawn per problem id."""

    def __post_init__(self) -> None:
        check_contract(self.answer)

    def load(self) -> Dataset:
        return collect(from_file(required_file(self.path, self.name)), self._problem)

    def answer_format(self, problem: Problem) -> str:
        return answer_words(self.answer)

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        return grade_text(problem.answers, text, truncated=truncated)

    def _problem(self, row: Row) -> Problem:
        data = row.data
        try:
            ident = identity(data)
            shares, notes = _evidence(data, ident, self.split_seed)
            return Problem(
                id=ident,
                question=clean(words(data, "question")),
                answers=_answers(data),
                kind=words(data, "kind") if data.get("kind") else "",
                shares=shares,
                facts=tuple(_strings(data.get("facts") or [], "facts")),
                notes=tuple(sorted(notes)),
            )
        except ValueError as error:
            raise malformed(row.place, str(error), SHAPE) from error


def _evidence(
    data: Mapping[str, object], ident: str, seed: int
) -> tuple[tuple[tuple[Paragraph, ...], ...], set[str]]:
    if "shares" in data:
        shares = data["shares"]
        if "evidence" in data or not isinstance(shares, list) or not shares:
            raise ValueError("'shares' is not a list of lists, or stands beside 'evidence'")
        return tuple(_paragraphs(share, "shares") for share in shares), set()
    if "evidence" not in data:
        raise ValueError("neither 'shares' nor 'evidence' is there")
    paragraphs = _paragraphs(data["evidence"], "evidence")
    gold = tuple(clean(title) for title in _strings(data.get("gold") or [], "gold"))
    notes = shape_notes(paragraphs, gold) - {"few_paragraphs", "many_paragraphs"}
    return deal(paragraphs, gold, seed=seed, problem=ident), notes


def _paragraphs(value: object, key: str) -> tuple[Paragraph, ...]:
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise ValueError(f"'{key}' does not hold lists of objects with title and text")
    return tuple(
        Paragraph(title=clean(words(item, "title")), text=clean(words(item, "text")))
        for item in value
    )


def _answers(data: Mapping[str, object]) -> tuple[str, ...]:
    given = data.get("answers", data.get("answer"))
    listed = given if isinstance(given, list) else [given]
    digits = [
        str(item) if isinstance(item, int | float) and not isinstance(item, bool) else item
        for item in listed
    ]
    answers = gold_answers(_strings(digits, "answer"))
    if not answers:
        raise ValueError("'answer' (or 'answers') is missing or empty")
    return answers


def _strings(value: object, key: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"'{key}' is not made of strings")
    return value
