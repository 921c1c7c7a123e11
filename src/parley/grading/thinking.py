"""An answer that stands only in the reasoning: noted beside the grade, never credited."""

from __future__ import annotations

from dataclasses import replace

from parley.protocols import Benchmark
from parley.types import Problem, Score


def noted(
    score: Score, benchmark: Benchmark, problem: Problem, reasoning: str, *, truncated: bool
) -> Score:
    """The grade, with what the benchmark would have read in the reasoning where it read nothing in
    the visible text. Only a box or a label counts there: the last line of a thought is no answer.

    `truncated`: the reasoning was cut short.
    """
    if score.extracted is not None or not reasoning:
        return score
    thought = benchmark.grade(problem, reasoning, truncated=truncated)
    if thought.extracted is None or thought.status == "no_label":
        return score
    return replace(score, answer_in_thinking=thought.extracted)
