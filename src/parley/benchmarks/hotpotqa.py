"""HotpotQA, distractor setting: two gold paragraphs among ten, Wikipedia, English."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parley.data.evidence import not_two_gold, two_share_problem
from parley.data.rows import Row, collect, from_file, from_hub
from parley.errors import ConfigError
from parley.grading import METRICS, answer_words, check_contract, grade_text
from parley.protocols import Dataset
from parley.types import Problem, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class HotpotQA:
    """The 7,405 questions of the validation split, graded by the official rules."""

    name: ClassVar[str] = "hotpotqa"
    metric: ClassVar[str] = "f1"
    metrics: ClassVar[tuple[str, ...]] = METRICS
    quick: ClassVar[bool] = True
    operational: ClassVar[frozenset[str]] = frozenset({"path"})
    """The data's hash or revision stands in `Dataset.source`; where a file lies does not matter."""

    path: str | None = None
    """Local .jsonl, .json or .parquet in the hub's or the original shape; null reads the hub."""
    hub: str = "hotpotqa/hotpot_qa"
    """Data set on the Hugging Face hub. The bare id `hotpot_qa` needs a script and fails."""
    config: str = "distractor"
    """Hub configuration. In `fullwiki` the gold paragraph is often missing."""
    split: str = "validation"
    """Hub split; the test split has no answers."""
    revision: str | None = "1908d6afbbead072334abe2965f91bd2709910ab"
    """Pinned commit of the hub repository, so that the rows cannot change."""
    answer: str = "short"
    """How the answer is asked for: `short` (shortest exact answer) or `none` (the paper's)."""
    split_seed: int = 42
    """Which gold paragraph goes to whom, and the order; drawn per problem id."""
    gold: str = "any"
    """`any` keeps every row; `two` only those with exactly two gold paragraphs at hand."""

    def __post_init__(self) -> None:
        check_contract(self.answer)
        if self.gold not in ("any", "two"):
            raise ConfigError(f"benchmark.gold={self.gold!r}", allowed="any or two")

    def load(self) -> Dataset:
        table = (
            from_file(self.path)
            if self.path
            else from_hub(self.hub, self.config, self.split, self.revision)
        )
        if self.gold == "two":
            return collect(table, self._problem, not_two_gold)
        return collect(table, self._problem)

    def answer_format(self, problem: Problem) -> str:
        return answer_words(self.answer)

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        return grade_text(problem.answers, text, truncated=truncated)

    def _problem(self, row: Row) -> Problem:
        return two_share_problem(row.data, row.place, joint="", seed=self.split_seed)
