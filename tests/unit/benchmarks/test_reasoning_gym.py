from __future__ import annotations

import pytest

from parley.benchmarks.reasoning_gym import ReasoningGym
from parley.errors import ConfigError
from parley.protocols import Benchmark
from parley.types import Problem

pytest.importorskip("reasoning_gym")


def test_it_is_a_benchmark_and_says_what_it_measures() -> None:
    benchmark: Benchmark = ReasoningGym()
    assert (benchmark.name, benchmark.metric) == ("reasoning_gym", "accuracy")


def test_a_task_by_name_and_seed_is_the_same_each_time_and_grades_its_gold() -> None:
    task = ReasoningGym(problems=5)
    dataset = task.load()
    assert dataset == ReasoningGym(problems=5).load()
    assert dataset.source != ReasoningGym(problems=5, seed=1).load().source
    assert "reasoning-gym==" in dataset.source
    for problem in dataset.problems:
        gold = int(problem.answers[0])
        for text, right in (
            (f"Answer: {gold}", 1),
            (f"**Answer:** {gold}.", 1),
            (f"\\boxed{{{gold}}}", 1),
            (f"Answer: {gold + 1}", 0),
            ("Answer:", 0),
        ):
            assert task.grade(problem, text).metrics["accuracy"] == right, text
            exact = ReasoningGym(problems=5, grader="exact").grade(problem, text)
            assert exact.metrics == {"accuracy": right, "reward": right}


def test_a_task_with_many_right_answers_takes_each_of_them() -> None:
    task = ReasoningGym(task="countdown", problems=2, settings={"min_numbers": 3, "max_numbers": 3})
    problem = task.load().problems[0]
    gold = problem.answers[0]
    assert task.grade(problem, f"Answer: {gold}").metrics["accuracy"] == 1
    assert task.grade(problem, f"Answer: ({gold})").metrics["accuracy"] == 1
    assert task.grade(problem, "Answer: 1").metrics["accuracy"] == 0


@pytest.mark.slow
def test_bad_answers_are_graded_rows() -> None:
    task = ReasoningGym(task="countdown", problems=1)
    (problem,) = task.load().problems
    for text in ("Answer: 9**9**9**9", "Answer: __import__('os')", "", "Answer: ((("):
        assert task.grade(problem, text).metrics["accuracy"] == 0
    assert task.grade(problem, "Answer: " + "1" * 10_000_000).status == "too_long"
    assert task.grade(problem, "Answer: 1", truncated=True).status == "truncated"


def test_a_problem_of_no_task_is_graded_by_its_gold_without_the_package() -> None:
    problem = Problem(id="rehearsal", question="?", answers=("x  y",))
    assert ReasoningGym().grade(problem, "Answer: x y").metrics["accuracy"] == 1
    assert ReasoningGym().grade(problem, "Answer: x").metrics["accuracy"] == 0


def test_an_expression_is_graded_by_its_value() -> None:
    pytest.importorskip("math_verify")
    task = ReasoningGym(task="fraction_simplification", problems=1, grader="expression")
    (problem,) = task.load().problems
    score = task.grade(problem, f"Answer: {problem.answers[0]}")
    assert score.metrics == {"accuracy": 1, "reward": 1}


def test_unknown_tasks_and_settings_are_told() -> None:
    with pytest.raises(ConfigError, match="no_such_task"):
        ReasoningGym(task="no_such_task").load()
    with pytest.raises(ConfigError, match="no_such_setting"):
        ReasoningGym(settings={"no_such_setting": 1}).load()
    with pytest.raises(ConfigError, match="package or exact"):
        ReasoningGym(grader="mine")
    with pytest.raises(ConfigError, match="1 or more"):
        ReasoningGym(problems=0)
