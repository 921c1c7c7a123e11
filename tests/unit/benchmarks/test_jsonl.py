from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from parley.benchmarks.jsonl import JsonLines
from parley.errors import ConfigError, DataError
from parley.protocols import Benchmark, Dataset

A, B, C = ({"title": t, "text": f"{t}  says\nso."} for t in "ABC")
ROW: dict[str, Any] = {"id": "q1", "question": "Who?", "answer": "Ann", "shares": [[A], [B, C]]}


def load(folder: Path, *rows: dict[str, Any]) -> Dataset:
    path = folder / "mine.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return JsonLines(path=str(path)).load()


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in ROW.items() if k != key}


def test_it_is_a_benchmark() -> None:
    benchmark: Benchmark = JsonLines()
    assert (benchmark.name, benchmark.metric) == ("jsonl", "f1")


def test_shares_are_kept_as_given(tmp_path: Path) -> None:
    row = ROW | {"kind": "odd", "facts": ["A says so."], "extra": 1, "shares": [[B, A], [], [C]]}
    (problem,) = load(tmp_path, row).problems
    assert [[p.title for p in share] for share in problem.shares] == [["B", "A"], [], ["C"]]
    assert problem.shares[0][0].text == "B says so."
    assert (problem.kind, problem.facts, problem.notes) == ("odd", ("A says so.",), ())


def test_evidence_is_dealt_into_two_shares_with_one_gold_each(tmp_path: Path) -> None:
    rows = [
        without("shares") | {"id": n, "evidence": [A, B, C], "gold": ["A", "C"]} for n in range(20)
    ]
    dataset = load(tmp_path, *rows)
    assert dataset.notes == {}
    for problem in dataset.problems:
        titles = [{p.title for p in share} for share in problem.shares]
        assert [len(t & {"A", "C"}) for t in titles] == [1, 1]
    assert len({tuple(len(s) for s in p.shares) for p in dataset.problems}) == 2
    unmarked = load(tmp_path, without("shares") | {"evidence": [A, B]})
    assert unmarked.notes == {"no_gold": 1}


def test_several_answers_and_numbers_are_read(tmp_path: Path) -> None:
    rows = (
        without("answer") | {"answers": ["Ann", "Anna", "Ann"]},
        ROW | {"id": "q2", "answer": 1999},
        ROW | {"id": "q3", "answer": "0073"},
    )
    dataset = load(tmp_path, *rows)
    assert [p.answers for p in dataset.problems] == [("Ann", "Anna"), ("1999",), ("0073",)]
    assert JsonLines().grade(dataset.problems[0], "Answer: anna!").metrics["em"] == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (without("question"), "'question' is missing"),
        (without("answer"), "'answer' is not made of strings"),
        (ROW | {"answer": True}, "'answer' is not made of strings"),
        (ROW | {"answers": []}, "'answer' .* is missing or empty"),
        (ROW | {"id": ""}, "'id' .* is missing or empty"),
        (without("shares"), "neither 'shares' nor 'evidence'"),
        (ROW | {"evidence": [A]}, "stands beside 'evidence'"),
        (ROW | {"shares": "A"}, "'shares' is not a list of lists"),
        (ROW | {"shares": [A]}, "'shares' does not hold lists of objects"),
        (ROW | {"shares": [[{"title": "A"}]]}, "'text' is missing"),
        (ROW | {"facts": "A"}, "'facts' is not made of strings"),
        (without("shares") | {"evidence": [A], "gold": [1]}, "'gold' is not made of strings"),
    ],
)
def test_a_malformed_row_is_named_with_the_documented_shape(
    tmp_path: Path, row: dict[str, Any], said: str
) -> None:
    with pytest.raises(DataError, match=rf"^mine\.jsonl, line 1: .*{said}") as caught:
        load(tmp_path, row)
    assert '"shares": [[{"title"' in caught.value.allowed


def test_it_needs_a_file_and_a_known_contract() -> None:
    with pytest.raises(ConfigError, match="benchmark=jsonl needs a file"):
        JsonLines().load()
    with pytest.raises(ConfigError, match="short or none"):
        JsonLines(answer="long")
