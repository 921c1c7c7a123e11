from __future__ import annotations

import csv
from pathlib import Path

import orjson
import pytest

from parley.benchmarks.gpqa import OPTIONS, GpqaDiamond
from parley.errors import DataError
from parley.protocols import Benchmark, Dataset
from parley.types import Problem

Row = dict[str, object]


def row(number: int = 0, changes: Row | None = None) -> Row:
    """An invented row in the shape of the hub's, with its odd columns and white space."""
    return {
        "Question": f" Which metal\n\nis number {number}? \n",
        **{name: f"metal {place}\nof row {number} " for place, name in enumerate(OPTIONS)},
        "Writer's Difficulty Estimate": 'Hard, "very"\u2028so',
        "Record ID": f"rec{number}",
        "High-level domain": "Chemistry",
    } | (changes or {})


def saved(folder: Path, *rows: Row, name: str = "rows.jsonl") -> Dataset:
    path = folder / name
    if name.endswith(".csv"):
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif name.endswith(".parquet"):
        arrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(
            arrow.Table.from_pylist(list(rows)), path
        )
    else:
        path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return GpqaDiamond(path=str(path)).load()


def test_it_is_a_benchmark_and_says_what_it_measures() -> None:
    benchmark: Benchmark = GpqaDiamond()
    assert (benchmark.name, benchmark.metrics) == ("gpqa_diamond", ("accuracy",))
    assert "letter" in benchmark.answer_format(Problem(id="1", question="?", answers=("A",)))


def test_the_gold_letter_is_the_place_of_the_correct_answer(tmp_path: Path) -> None:
    dataset = saved(tmp_path, *map(row, range(60)))
    for number, problem in enumerate(dataset.problems):
        place = "ABCD".index(problem.answers[0])
        assert problem.options[place] == f"metal 0\nof row {number}"
        assert sorted(problem.options) == [f"metal {i}\nof row {number}" for i in range(4)]
        assert problem.question == f"Which metal\n\nis number {number}?"
        assert (problem.id, problem.kind) == (f"rec{number}", "Chemistry")
        for letter in "ABCD":
            score = GpqaDiamond().grade(problem, f"Answer: {letter}")
            assert score.metrics["accuracy"] == (letter == problem.answers[0])
        assert GpqaDiamond().grade(problem, "Answer: metal 0 of row " + str(number)).metrics == {
            "accuracy": 1
        }
    assert dataset.notes == {"padded_option": 60, "padded_question": 60}
    golds = [problem.answers[0] for problem in dataset.problems]
    assert all(6 <= golds.count(letter) <= 26 for letter in "ABCD")


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.parquet"])
def test_the_order_depends_on_the_question_alone(tmp_path: Path, name: str) -> None:
    first = {p.id: p for p in saved(tmp_path, *map(row, range(9))).problems}
    other = saved(tmp_path, *map(row, [7, 3, 5]), name=name)
    assert len(other.problems) == 3
    assert all(first[problem.id] == problem for problem in other.problems)
    moved = GpqaDiamond(path=str(tmp_path / name), order_seed=1).load()
    assert [p.options for p in moved.problems] != [p.options for p in other.problems]


def test_a_row_without_an_id_is_named_by_its_question(tmp_path: Path) -> None:
    (problem,) = saved(tmp_path, row(changes={"Record ID": None})).problems
    (again,) = saved(tmp_path, row(changes={"Record ID": ""}), name="b.jsonl").problems
    assert problem.id == again.id
    assert len(problem.id) == 12


def test_a_question_that_carries_its_options_keeps_their_order(tmp_path: Path) -> None:
    text = "Which?\nA. iron\nB. gold\nC. tin\nD. lead\n"
    dataset = saved(tmp_path, {"question": text, "answer": "B\n"})
    (problem,) = dataset.problems
    assert (problem.question, problem.options) == (text.strip(), ())
    assert dataset.notes == {"options_in_question": 1}
    for said, right in (("Answer: B", 1), ("\\boxed{b}", 1), ("Answer: A", 0), ("the", 0)):
        assert GpqaDiamond().grade(problem, said).metrics == {"accuracy": right}
    assert GpqaDiamond().grade(problem, "Answer: (", truncated=True).status == "truncated"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (row(changes={"Incorrect Answer 2": ""}), "'Incorrect Answer 2' is empty"),
        (row(changes={"Incorrect Answer 2": None}), "'Incorrect Answer 2' is missing"),
        (
            row(changes={"Incorrect Answer 1": "metal 0\nof row 0"}),
            "two of the options are the same",
        ),
        (
            row(changes={"Incorrect Answer 1": "a  b", "Incorrect Answer 2": "a b"}),
            ".*'a  b' and 'a b'",
        ),
        (
            row(changes={"Incorrect Answer 1": "$x$", "Incorrect Answer 2": "x"}),
            "two of the options",
        ),
        (row(changes={"Question": "  "}), "'Question' is empty"),
        ({"question": "Which?", "answer": "E"}, "'answer' is 'E', not a letter from A to D"),
        ({"question": "Which?", "answer": ""}, "'answer' is empty"),
        ({"text": "Which?"}, "'question' is missing"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(tmp_path: Path, bad: Row, said: str) -> None:
    with pytest.raises(DataError, match=rf"rows\.jsonl, line 1: {said}"):
        saved(tmp_path, bad)


def test_no_access_says_how_to_get_it() -> None:
    pytest.importorskip("datasets")
    # A hub id that cannot exist fails without a network, as a gated one does without a login.
    with pytest.raises(DataError, match=r"(?s)accept the terms of .*HF_TOKEN.*benchmark\.path"):
        GpqaDiamond(hub="no such/data set").load()
