from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from parley.benchmarks.openbookqa import OpenBookQA
from parley.errors import DataError
from parley.protocols import Benchmark, Dataset
from parley.types import Problem
from shared_data import SHARED, needs_shared

HUB = SHARED / "data" / "openbookqa_main_test.hub.jsonl"


def row(**changes: object) -> dict[str, object]:
    return {
        "id": "7-1",
        "question_stem": "Which one shines? ",
        "choices": {"text": ["iron", "iron ore", " gold", "tin"], "label": ["A", "B", "C", "D"]},
        "answerKey": "C",
    } | changes


def saved(folder: Path, *rows: dict[str, object]) -> Dataset:
    path = folder / "rows.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return OpenBookQA(path=str(path)).load()


def test_it_is_a_benchmark_and_says_what_it_measures() -> None:
    benchmark: Benchmark = OpenBookQA()
    assert (benchmark.name, benchmark.metrics) == ("openbookqa", ("accuracy",))
    assert "letter" in benchmark.answer_format(Problem(id="1", question="?", answers=("A",)))


@needs_shared
def test_every_real_row_loads_and_grades_its_own_gold() -> None:
    dataset = OpenBookQA(path=str(HUB)).load()
    assert (len(dataset.problems), dataset.notes) == (500, {})
    rows = [orjson.loads(line) for line in HUB.read_bytes().split(b"\n") if line]
    for problem, published in zip(dataset.problems, rows, strict=True):
        gold = problem.answers[0]
        assert gold == published["answerKey"]
        wrong = "ABCD"[("ABCD".index(gold) + 1) % 4]
        words = {letter: problem.options["ABCD".index(letter)] for letter in (gold, wrong)}
        for text, right in (
            (f"Answer: {gold}", 1),
            (f"**Answer:** ({gold.lower()})", 1),
            (f"Because.\n\n{gold}. {words[gold]}", 1),
            (f"Answer: {words[gold]}", 1),
            (f"The answer is {wrong}", 0),
            (f"Answer: {words[wrong]}.", 0),
            (words[gold] + " and " + words[wrong], 0),
        ):
            assert OpenBookQA().grade(problem, text).metrics == {"accuracy": right}, text


def test_the_gold_is_found_by_the_place_of_its_label(tmp_path: Path) -> None:
    numbers = {"text": ["iron", "ore", "gold"], "label": ["1", "2", "3"]}
    (problem,) = saved(tmp_path, row(choices=numbers, answerKey="3")).problems
    assert (problem.answers, problem.options) == (("C",), ("iron", "ore", "gold"))


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (row(answerKey="E"), "'answerKey' is 'E'"),
        (row(answerKey=""), "'answerKey' is empty"),
        (row(question_stem=" "), "'question_stem' is empty"),
        (row(choices=["iron"]), "'choices' is not two lists"),
        (row(choices={"text": ["a"], "label": ["A"]}), "does not hold 2 to 26"),
        (row(choices={"text": ["a", 1], "label": ["A", "B"]}), "does not hold 2 to 26"),
        (row(choices={"text": ["a", " "], "label": ["A", "C"]}), "an option is empty"),
        (row(choices={"text": ["a", "a "], "label": ["A", "C"]}), "options are the same"),
        (row(choices={"text": ["a b", "a  b"], "label": ["A", "C"]}), "options are the same"),
        (
            row(choices={"text": ["ash", "Ash", "ash."], "label": ["A", "B", "C"]}),
            "'ash' and 'ash.'",
        ),
        (row(id=None), "'id' .* is missing"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(
    tmp_path: Path, bad: dict[str, object], said: str
) -> None:
    with pytest.raises(DataError, match=rf"rows\.jsonl, line 1: .*{said}"):
        saved(tmp_path, bad)
