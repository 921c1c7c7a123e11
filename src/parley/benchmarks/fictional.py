"""Two-hop questions over invented people, works and towns. Needs no download."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parley.data.fiction import VERSION, invent
from parley.data.world import ASIDES
from parley.errors import ConfigError
from parley.grading import METRICS, answer_words, check_contract, grade_text
from parley.protocols import Dataset
from parley.types import Problem, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Fictional:
    """Bridge, comparison and yes/no questions in HotpotQA's shape: two gold sentences, one to each
    half, beside distractors. No model knows an answer from training, and no half settles one."""

    name: ClassVar[str] = "fictional"
    metric: ClassVar[str] = "f1"
    metrics: ClassVar[tuple[str, ...]] = METRICS
    quick: ClassVar[bool] = True
    operational: ClassVar[frozenset[str]] = frozenset({"problems"})
    """Problem i of a seed is the same however many there are."""

    problems: int = 500
    """How many; any number."""
    seed: int = 42
    """Which world is invented. Not the study's seed: all arms and seeds share their problems."""
    distractors: int = 2
    """Paragraphs beside the gold one, per half. Few, since a CPU reads 300 tokens a second."""
    rivals: int = 0
    """Of the distractors in the half that states a bridge's answer, how many state the relation
    asked for, of others. With 0 that half alone still allows a guess by elimination, with 1 the
    guess is even odds. 0 by default: the packaged 135M model cannot tell rivals apart."""
    answer: str = "short"
    """How the answer is asked for: `short` (shortest exact answer) or `none` (the paper's)."""

    def __post_init__(self) -> None:
        check_contract(self.answer)
        if self.problems < 1:
            raise ConfigError(f"benchmark.problems={self.problems}", allowed="1 or more")
        if not 0 <= self.distractors <= len(ASIDES):
            raise ConfigError(
                f"benchmark.distractors={self.distractors}", allowed=f"0 to {len(ASIDES)}"
            )
        if not 0 <= self.rivals <= self.distractors:
            raise ConfigError(
                f"benchmark.rivals={self.rivals}",
                allowed=f"0 to benchmark.distractors ({self.distractors})",
            )

    def load(self) -> Dataset:
        problems = tuple(
            invent(self.seed, index, distractors=self.distractors, rivals=self.rivals)
            for index in range(self.problems)
        )
        source = (
            f"generator:{VERSION} seed={self.seed} distractors={self.distractors} "
            f"rivals={self.rivals}"
        )
        return Dataset(problems=problems, source=source)

    def answer_format(self, problem: Problem) -> str:
        return answer_words(self.answer)

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        return grade_text(problem.answers, text, truncated=truncated)
