"""Generated puzzles of the `reasoning-gym` package (the extra `gym`): problems without download."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import orjson

from parley.errors import ConfigError, DataError, MissingExtra
from parley.grading.answers import Extracted, free_answer
from parley.grading.expressions import grade_expression, require_math_verify
from parley.grading.limited import CallFailed, TimedOut, pool
from parley.protocols import Dataset
from parley.templates import template
from parley.types import Problem, Score

GRADERS = ("package", "exact", "expression")
LOAD_S = 300.0
"""Seconds in which all problems must be generated."""
LIMIT_S = 10.0
"""Seconds for the package's scorer of one answer."""
LONGEST = 20_000
"""Characters of an answer past which it is not scored: no task asks for as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningGym:
    """Problems of one task, by its name and a seed. The package runs in processes of its own, for
    its scorers evaluate what a model wrote."""

    name: ClassVar[str] = "reasoning_gym"
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "reward")

    task: str = "chain_sum"
    """Name of the task in the package, such as chain_sum, countdown or knights_knaves."""
    problems: int = 100
    """How many. Some tasks share out their kinds over all: another number is another data set."""
    seed: int = 42
    """Which problems. Not the study's seed: all arms and seeds share their problems."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """The task's own settings, such as {min_terms: 4}; empty leaves its defaults."""
    grader: str = "package"
    """`package`: the task's own scorer, which accepts every right answer where several are;
    `exact`: the same text but for white space; `expression`: equal by math-verify (extra
    `math`)."""

    def __post_init__(self) -> None:
        if self.grader not in GRADERS:
            raise ConfigError(f"benchmark.grader={self.grader!r}", allowed=" or ".join(GRADERS))
        if self.problems < 1:
            raise ConfigError(f"benchmark.problems={self.problems}", allowed="1 or more")

    def load(self) -> Dataset:
        if self.grader == "expression":
            require_math_verify()
        version = _version()
        rows = self._generated()
        if self.grader != "package" and any(answer is None for _, answer in rows):
            raise ConfigError(
                f"the task '{self.task}' has problems with no one answer",
                remedy="benchmark.grader=package",
            )
        digest = hashlib.sha256(orjson.dumps(rows)).hexdigest()[:16]
        return Dataset(
            problems=tuple(
                Problem(
                    id=f"{self.task}-{index}",
                    question=question.strip(),
                    answers=("" if answer is None else str(answer),),
                    kind=self.task,
                )
                for index, (question, answer) in enumerate(rows)
            ),
            source=f"generator:reasoning-gym=={version} {self.task} seed={self.seed} {digest}",
        )

    def answer_format(self, problem: Problem) -> str:
        return template("answer_free")

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        """Statuses beside those of `parley.grading.answers`: too_long, timeout, grader_error."""
        if self.grader == "expression":
            score = grade_expression(problem.answers[0], text, truncated=truncated)
            found = Extracted(value=score.extracted, status=score.status)
            return self._score(score.metrics["accuracy"], found)
        found = free_answer(text, truncated=truncated)
        if found.value is None:
            return self._score(0.0, found)
        if len(found.value) > LONGEST:
            return self._score(0.0, Extracted(value=found.value[:LONGEST], status="too_long"))
        if self.grader == "exact" or not self._known(problem):
            gold, said = (" ".join(one.split()) for one in (problem.answers[0], found.value))
            return self._score(float(gold in (said, said.rstrip("."))), found)
        return self._scored(problem, found)

    def _score(self, reward: float, found: Extracted) -> Score:
        """Partial credit is kept as `reward`; only full credit is accurate."""
        return Score(
            metrics={"accuracy": float(reward >= 1.0), "reward": reward},
            extracted=found.value,
            status=found.status,
        )

    def _scored(self, problem: Problem, found: Extracted) -> Score:
        """The package's own score; a full stop at the end is left out where that helps."""
        said = found.value or ""
        reward, status = 0.0, found.status
        try:
            for form in dict.fromkeys((said, said.rstrip(". "))):
                reward = max(reward, self._reward(problem, form))
        except TimedOut:
            status = "timeout"
        except CallFailed:
            status = "grader_error"
        return self._score(min(max(reward, 0.0), 1.0), Extracted(value=said, status=status))

    def _known(self, problem: Problem) -> bool:
        """Whether the package can score it: not the made-up problem of a rehearsal."""
        index = problem.id.removeprefix(f"{self.task}-")
        return index.isdecimal() and int(index) < self.problems

    def _reward(self, problem: Problem, said: str) -> float:
        index = int(problem.id.removeprefix(f"{self.task}-"))
        return float(
            pool("reasoning_gym").call(
                "score", limit_s=LIMIT_S, index=index, said=said, **self._arguments()
            )
        )

    def _generated(self) -> list[tuple[str, object]]:
        try:
            rows = pool("reasoning_gym").call("generate", limit_s=LOAD_S, **self._arguments())
        except (CallFailed, TimedOut) as error:
            raise ConfigError(
                f"reasoning-gym cannot make the task '{self.task}' with {dict(self.settings)}: "
                f"{error.what}",
                allowed="a task of the package and its settings",
                remedy="python -c 'from reasoning_gym.factory import DATASETS; print(*DATASETS)'",
            ) from error
        if not rows:
            raise DataError(f"the task '{self.task}' gave no problems")
        return [(str(question), answer) for question, answer in rows]

    def _arguments(self) -> dict[str, object]:
        return {
            "task": self.task,
            "seed": self.seed,
            "size": self.problems,
            "settings": dict(self.settings),
        }


def _version() -> str:
    try:
        return importlib.metadata.version("reasoning-gym")
    except importlib.metadata.PackageNotFoundError as error:
        raise MissingExtra("reasoning-gym", "gym") from error
