"""Files of JSON lines, and whole-or-nothing writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.errors import StoreError
from parley.store.lines import iter_lines, read_lines, write_atomic
from store_cases import start


def test_a_broken_last_line_is_left_out_e01(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for tail in (
        b'{"id":"q2","t":"ca',
        '{"id":"q2","t":"é'.encode()[:-1],
        b"\0\0",
        b"{}}\n",
        b"3\n",
    ):
        path.write_bytes(b'{"id":"q1"}\n' + tail)
        assert list(iter_lines(path)) == [{"id": "q1"}]
        broken = list(read_lines(path))[-1]
        assert (broken.number, broken.record) == (2, None)
        assert path.read_bytes()[broken.start : broken.end] == tail


def test_a_broken_line_elsewhere_is_named_e01(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id":"q1"}\n{"id":"q2","t":"ca{"id":"q3"}\n{"id":"q4"}\n')
    with pytest.raises(StoreError, match=r"rows\.jsonl, line 2 is broken"):
        list(iter_lines(path))


def test_a_whole_last_line_needs_no_line_break(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id":"0073"}\n\n{"id":"0074"}')
    assert list(iter_lines(path)) == [{"id": "0073"}, {"id": "0074"}]
    assert [line.ended for line in read_lines(path)] == [True, False]


def test_missing_file_has_no_lines_and_a_folder_is_an_error(tmp_path: Path) -> None:
    assert list(iter_lines(tmp_path / "none.jsonl")) == []
    with pytest.raises(StoreError, match="cannot read"):
        list(iter_lines(tmp_path))


@given(data=st.data())
def test_any_cut_keeps_the_lines_before_it(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "rows.jsonl"
    whole = '{"id":"é1"}\n{"id":"q\\n2"}\n{"id":"q3"}\n'.encode()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    found = list(iter_lines(path))
    expected = [{"id": "é1"}, {"id": "q\n2"}, {"id": "q3"}]
    # A line that lacks nothing but its line break is whole.
    complete = (whole[:cut] + b"\n").count(b'"}\n')
    assert found == expected[:complete]


def test_failed_write_keeps_the_old_file_e03(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"old")
    process = start(
        """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_atomic(folder / "table.csv", b"x" * 10000)
except StoreError as error:
    sys.exit(str(error))
""",
        tmp_path,
    )
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert str(path) in errors
    assert "EFBIG" in errors
    assert "Traceback" not in errors
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["table.csv"]


def test_write_into_nowhere_names_the_path(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"none.*ENOENT"):
        write_atomic(tmp_path / "none" / "x.json", b"{}")


def test_write_atomic_replaces(tmp_path: Path) -> None:
    write_atomic(tmp_path / "x.json", b"1")
    write_atomic(tmp_path / "x.json", b"2")
    assert (tmp_path / "x.json").read_bytes() == b"2"
    assert len(list(tmp_path.iterdir())) == 1
