from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.data.rows import Row, collect, from_file, from_hub, joined, json_rows, required_file
from parley.errors import ConfigError, DataError
from parley.types import Problem
from shared_data import case


def problem(row: Row) -> Problem:
    return Problem(id=str(row.data["id"]), question="Who?", answers=(str(row.data["gold"]),))


def written(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


def test_the_same_rows_from_lines_a_list_and_parquet(tmp_path: Path) -> None:
    rows = [{"id": "q1", "context": {"title": ["T"], "sentences": [["a", " b"]]}}, {"id": "é"}]
    lines = written(tmp_path, "a.jsonl", b"\n".join(map(orjson.dumps, rows)))
    listed = written(tmp_path, "a.json", orjson.dumps(rows, option=orjson.OPT_INDENT_2))
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    parquet.write_table(arrow.Table.from_pylist(rows[:1]), tmp_path / "a.parquet")
    assert [r.data for r in from_file(lines).rows] == rows
    assert [r.data for r in from_file(listed).rows] == rows
    assert [r.data for r in from_file(str(tmp_path / "a.parquet")).rows] == rows[:1]
    assert from_file(lines).rows[1].place == "a.jsonl, line 2"
    assert from_file(listed).rows[1].place == "a.json, row 2"


def test_lines_end_at_a_newline_and_nowhere_else(tmp_path: Path) -> None:
    text = '{"id": "q1", "q": "a\u2028b\u2029c\x85d"}\r\n\n{"id": "q2"}\n'
    table = from_file(written(tmp_path, "a.jsonl", b"\xef\xbb\xbf" + text.encode()))
    assert [row.data["id"] for row in table.rows] == ["q1", "q2"]
    assert table.rows[0].data["q"] == "a\u2028b\u2029c\x85d"
    assert table.rows[1].place == "a.jsonl, line 3"


@given(st.lists(st.dictionaries(st.text(), st.text()), max_size=5))
def test_any_strings_survive_lines_and_lists(rows: list[dict[str, str]]) -> None:
    lines = b"\n".join(map(orjson.dumps, rows)) + b"\n"
    assert [value for _, value in json_rows("a", lines)] == rows
    assert [value for _, value in json_rows("a", orjson.dumps(rows))] == rows


def test_the_source_is_the_content_not_the_name(tmp_path: Path) -> None:
    one = from_file(written(tmp_path, "a.jsonl", b'{"id": "1"}'))
    two = from_file(written(tmp_path, "b.jsonl", b'{"id": "1"}'))
    assert one.source == two.source
    assert one.source.startswith("file:sha256:")
    assert one.source != from_file(written(tmp_path, "c.jsonl", b'{"id": "2"}')).source


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'{"id": 1}\n{"id": 2', "a.jsonl, line 2: broken JSON"),
        ("a.json", b'[{"id": 1},\n{"id": 2}', "a.json, line 2: broken JSON"),
        ("a.jsonl", b'{"id": 1}\n[1]\n', "a.jsonl, line 2: not a JSON object but list"),
        ("a.json", b"[1]", "a.json, row 1: not a JSON object but int"),
        ("a.jsonl", b'{"id": "\xff"}', "a.jsonl, line 1: broken JSON"),
        ("a.jsonl", b"", "holds no rows"),
        ("a.json", b"[]", "holds no rows"),
        ("a.txt", b"id", "not a file of rows"),
        ("a.csv", b"id", "holds no rows"),
        ("a.csv", b"id,b\n1", "a.csv, row 1: not as many cells"),
        ("a.csv", b"id\n1,2", "a.csv, row 1: not as many cells"),
        ("a.csv", b'id\n"1', "not a readable CSV file"),
        ("a.csv", b"id\n\xff", "not a readable CSV file"),
        ("a.parquet", b"PAR1", "not a readable Parquet file"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        from_file(written(tmp_path, name, content))


def test_a_file_that_is_not_there_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*absent\.jsonl: No such file"):
        from_file(str(tmp_path / "absent.jsonl"))
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(DataError, match="cannot read"):
        from_file(str(tmp_path / "folder.json"))


def test_an_id_that_stands_twice_stops_with_both_places(tmp_path: Path) -> None:
    assert "both positions" in case("E05")["expected"]
    content = b'{"id": "q1", "gold": "yes"}\n{"id": "q2", "gold": "x"}\n{"id": "q1", "gold": "no"}'
    table = from_file(written(tmp_path, "a.jsonl", content))
    with pytest.raises(
        DataError, match=r"'q1' stands twice: a\.jsonl, line 1 and a\.jsonl, line 3"
    ):
        collect(table, problem)


def test_rows_left_out_are_counted_and_an_empty_rest_is_an_error(tmp_path: Path) -> None:
    content = b'{"id": "q1", "gold": "yes"}\n{"id": "q2", "gold": "no"}'
    table = from_file(written(tmp_path, "a.jsonl", content))
    kept = collect(table, problem, lambda p: "answer_no" if p.answers == ("no",) else "")
    assert [p.id for p in kept.problems] == ["q1"]
    assert kept.notes == {"left_out_answer_no": 1}
    with pytest.raises(DataError, match=r"no problem is left of 2 rows: .*'left_out_all': 2"):
        collect(table, problem, lambda p: "all")


def test_the_hub_is_asked_for_the_pinned_revision() -> None:
    asked: list[object] = []

    def load(*names: object, **options: object) -> Iterable[Mapping[str, object]]:
        asked.append((names, options))
        return iter([{"id": "q1", "gold": "x"}])

    table = from_hub("owner/data", None, "validation", "abc", load=load)
    assert asked == [(("owner/data", None), {"split": "validation", "revision": "abc"})]
    assert table.source == "hub:owner/data[default/validation]@abc"
    assert table.rows[0].place == "owner/data[default/validation], row 1"


def test_without_a_revision_the_rows_themselves_tell_versions_apart() -> None:
    def source(gold: str) -> str:
        rows = [{"id": "q1", "gold": gold}]
        return from_hub("o/d", None, "test", None, load=lambda *_, **__: rows).source

    assert source("x") == source("x") != source("y")
    assert source("x").startswith("hub:o/d[default/test]@latest:")


@pytest.mark.parametrize(
    "error", [ConnectionError("offline\nlong story"), ValueError(""), KeyError]
)
def test_whatever_the_hub_raises_names_a_local_file_as_the_way_out(error: Exception) -> None:
    def load(*names: object, **options: object) -> Iterable[Mapping[str, object]]:
        raise error

    with pytest.raises(DataError, match=r"benchmark\.path=FILE") as caught:
        from_hub("owner/data", "distractor", "validation", None, load=load)
    assert "owner/data[distractor/validation]" in caught.value.what
    assert "\n" not in caught.value.what


def python(script: str, **variables: str) -> str:
    """What a fresh interpreter prints, with `parley` importable and these variables set."""
    source = str(Path(__file__).resolve().parents[3] / "src")
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": source, "PATH": "", **variables},
    )
    return run.stdout


def test_without_datasets_the_extra_is_named() -> None:
    script = """
import sys
sys.modules["datasets"] = None
from parley.errors import MissingExtra
from parley.data.rows import from_hub
try:
    from_hub("owner/data", None, "validation", None)
except MissingExtra as error:
    print(error)
"""
    assert "parley-harness[hub]" in python(script)


@pytest.mark.slow
def test_the_real_library_reads_a_split_and_fails_clearly_offline(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    folder = tmp_path / "data"
    folder.mkdir()
    row = {"id": "q1", "context": {"title": ["A"], "sentences": [["a", " b"]]}}
    (folder / "validation.jsonl").write_bytes(orjson.dumps(row) + b"\n")
    script = f"""
from parley.errors import DataError
from parley.data.rows import from_hub, joined
print(from_hub({str(folder)!r}, None, "validation", None).rows[0].data)
try:
    from_hub("hotpotqa/hotpot_qa", "distractor", "validation", "abc")
except DataError as error:
    print(error)
"""
    said = python(script, HF_HOME=str(tmp_path / "cache"), HF_HUB_OFFLINE="1", HOME=str(tmp_path))
    assert said.startswith(repr(row))
    assert "cannot load hotpotqa/hotpot_qa[distractor/validation]" in said
    assert "benchmark.path=FILE" in said


def test_a_benchmark_without_data_of_its_own_needs_a_path() -> None:
    assert required_file("a.jsonl", "jsonl") == "a.jsonl"
    with pytest.raises(ConfigError, match=r"benchmark\.path=FILE"):
        required_file(None, "jsonl")


def test_cells_of_a_csv_file_keep_their_newlines(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'\xef\xbb\xbfid,text\r\n1,"a\nb,\xe2\x80\xa8c"\r\n2,\r\n')
    table = from_file(str(tmp_path / "a.csv"))
    assert [row.data for row in table.rows] == [
        {"id": "1", "text": "a\nb,\u2028c"},
        {"id": "2", "text": ""},
    ]
    assert table.rows[1].place == "a.csv, row 2"


def test_tables_are_joined_in_their_order(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"id": "{name}"}}')
    tables = [from_file(str(tmp_path / f"{name}.jsonl")) for name in ("b", "a")]
    both = joined(tables)
    assert [row.data["id"] for row in both.rows] == ["b", "a"]
    assert both.source == f"{tables[0].source} {tables[1].source}"
