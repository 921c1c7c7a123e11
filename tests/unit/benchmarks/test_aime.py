from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from parley.benchmarks.aime import Aime
from parley.errors import ConfigError, DataError
from parley.protocols import Benchmark, Dataset
from parley.types import Problem
from shared_data import SHARED, needs_shared

DATA = SHARED / "data"
PARTS = tuple(
    str(DATA / f"aime_2025.opencompass.AIME2025-{part}.test.jsonl") for part in ("I", "II")
)
COPIES: dict[str, tuple[int, str | tuple[str, ...]]] = {
    "HuggingFaceH4": (2024, str(DATA / "aime_2024.HuggingFaceH4.train.jsonl")),
    "Maxwell-Jia": (2024, str(DATA / "aime_2024.Maxwell-Jia.train.jsonl")),
    "yentinglin": (2025, str(DATA / "aime_2025.yentinglin.train.jsonl")),
    "math-ai": (2025, str(DATA / "aime_2025.math-ai_aime25.test.jsonl")),
    "opencompass": (2025, PARTS),
}


def loaded(copy: str) -> Dataset:
    year, path = COPIES[copy]
    return Aime(year=year, path=path).load()


def saved(folder: Path, *rows: dict[str, object], name: str = "rows.jsonl") -> str:
    (folder / name).write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return str(folder / name)


def one(folder: Path, **row: object) -> Problem:
    (problem,) = Aime(path=saved(folder, row)).load().problems
    return problem


def test_it_is_a_benchmark_and_says_what_it_measures() -> None:
    benchmark: Benchmark = Aime()
    assert (benchmark.metric, benchmark.metrics) == ("accuracy", ("accuracy",))
    assert "\\boxed{" in benchmark.answer_format(Problem(id="1", question="?", answers=("1",)))


@needs_shared
@pytest.mark.parametrize("copy", COPIES)
def test_every_published_copy_loads_and_grades_its_own_gold(copy: str) -> None:
    dataset = loaded(copy)
    assert len({problem.id for problem in dataset.problems}) == 30
    for problem in dataset.problems:
        gold = int(problem.answers[0])
        assert problem.answers == (str(gold),)
        for text, right in (
            (f"So \\boxed{{{gold}}}.", 1),
            (f"So \\boxed{{{gold:03d}}}", 1),
            (f"**Answer: {gold}.**", 1),
            (f"So \\boxed{{{gold + 1}}}", 0),
            (f"So \\boxed{{{gold}.5}}", 0),
            ("I do not know.", 0),
        ):
            assert Aime().grade(problem, text).metrics == {"accuracy": right}


@needs_shared
def test_copies_of_a_year_agree_and_only_the_one_odd_gold_is_noted() -> None:
    golds = {copy: sorted(p.answers for p in loaded(copy).problems) for copy in COPIES}
    assert golds["HuggingFaceH4"] == golds["Maxwell-Jia"]
    assert golds["yentinglin"] == golds["math-ai"] == golds["opencompass"]
    assert loaded("opencompass").notes == {"degree_sign": 1}
    assert [loaded(copy).notes for copy in COPIES if copy != "opencompass"] == [{}] * 4
    assert loaded("opencompass").source.count("file:sha256:") == 2


@needs_shared
def test_a_row_without_an_id_keeps_its_name_wherever_it_stands() -> None:
    turned = Aime(year=2025, path=PARTS[::-1]).load()
    assert {p.id for p in turned.problems} == {p.id for p in loaded("opencompass").problems}


def test_a_boxed_solution_stands_in_for_the_answer(tmp_path: Path) -> None:
    assert one(tmp_path, id=1, problem="?", solution="\\boxed{204}").answers == ("204",)
    assert one(tmp_path, id=1, problem="?", answer="000").answers == ("0",)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"problem": "?", "answer": "1000"}, "not from 0 to 999"),
        ({"problem": "?", "answer": -1}, "not an integer"),
        ({"problem": "?", "answer": 7.0}, "is float"),
        ({"problem": "?", "answer": True}, "is bool"),
        ({"problem": "?", "answer": "7.5"}, "not an integer"),
        ({"problem": "?", "answer": "٧"}, "not an integer"),
        ({"problem": "?", "answer": "9" * 5000}, "not an integer"),
        ({"problem": "?"}, "is NoneType"),
        ({"problem": " ", "answer": 7}, "'problem' is empty"),
        ({"answer": 7}, "'problem' is missing"),
        ({"problem": "?", "answer": 7, "year": "2025"}, "of the year 2025"),
        ({"problem": "?", "answer": 7, "id": "2025-II-4"}, "of the year 2025"),
        ({"problem": "?", "answer": 7, "id": "AIME-2025-II-4"}, "of the year 2025"),
        ({"problem": "?", "answer": 7, "year": 2025.0}, "of the year 2025"),
        ({"problem": "?", "answer": 7, "year": "2025.0"}, "of the year 2025"),
        ({"problem": "?", "answer": 7, "year": [2025]}, "not a year"),
        ({"problem": "?", "answer": 7, "year": {"of": 2024}}, "not a year"),
        ({"problem": "?", "answer": 7, "year": 2024.5}, "not a year"),
        ({"problem": "?", "answer": 7, "year": "last"}, "not a year"),
        ({"problem": "?", "answer": 7, "year": True}, "not a year"),
        ({"problem": "?", "answer": 7, "year": -2024}, "not a year"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(
    tmp_path: Path, row: dict[str, object], said: str
) -> None:
    with pytest.raises(DataError, match=rf"rows\.jsonl, line 1: .*{said}"):
        Aime(path=saved(tmp_path, row)).load()


@pytest.mark.parametrize("year", [2024, "2024", 2024.0, "2024.0", " 2024", "", None])
def test_a_year_may_be_written_in_any_usual_way(tmp_path: Path, year: object) -> None:
    assert one(tmp_path, id="2024-I-1", problem="?", answer=7, year=year).answers == ("7",)


def test_an_unknown_year_is_refused() -> None:
    with pytest.raises(ConfigError, match="2024 or 2025"):
        Aime(year=2023)
