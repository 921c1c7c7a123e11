"""What is kept beside the records: the same frames with it as without, and never stale."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parley.analysis.cache import FOLDER, LEAST, NAME
from parley.analysis.frames import Frames, load
from parley.store import find_arms
from parley.types import Episode
from records import episode, failed, sample_episodes, write_arm

ALWAYS, NEVER = 0, 10**12
"""Bytes from which a cache is kept."""
POISON = 123456.0


def _line(record: Episode) -> bytes:
    return orjson.dumps(dataclasses.asdict(record)) + b"\n"


def _append(folder: Path, *records: Episode) -> None:
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(b"".join(map(_line, records)))


def _rescore(folder: Path, problem: str, f1: float = 0.125) -> None:
    score = {"metrics": {"em": 0.0, "f1": f1, "f1_squad": f1}, "extracted": "x", "status": "ok"}
    with (folder / "scores.jsonl").open("ab") as file:
        file.write(orjson.dumps({"problem": problem, "sample": 0, "score": score}) + b"\n")


def _cache(folder: Path) -> Path:
    return folder / FOLDER / NAME


def _change(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes what is kept, as if Parley had written it so."""
    kept = orjson.loads(_cache(folder).read_bytes().partition(b"\n")[2])
    change(kept)
    body = orjson.dumps(kept)
    _cache(folder).write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def _poison(folder: Path) -> None:
    """Changes a kept value, so that what comes from the cache can be told."""
    _change(folder, lambda kept: kept["columns"].update(seconds=[POISON] * 4))


def _alike(one: Frames, two: Frames) -> None:
    pd.testing.assert_frame_equal(one.arms, two.arms)
    pd.testing.assert_frame_equal(one.episodes, two.episodes)
    assert one.faults == two.faults
    assert one.indices == two.indices
    pd.testing.assert_frame_equal(one.turns(), two.turns())
    pd.testing.assert_frame_equal(one.edges(), two.edges())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = write_arm(tmp_path / "s", "full", sample_episodes("full", 4), problems=6)
    load(tmp_path, least=ALWAYS)
    assert _cache(made).exists()
    return made


def test_two_arms_are_the_same_from_the_cache(tmp_path: Path) -> None:
    records = [*sample_episodes("full", 5, samples=2), failed("0009"), episode("0009")]
    full = write_arm(tmp_path / "s", "full", records, samples=2)
    _rescore(full, "0003")
    write_arm(tmp_path / "s", "pact", sample_episodes("pact", 5, size=2), metrics=("f1",))
    fresh = load(tmp_path, least=NEVER)
    assert not _cache(full).exists()
    first, again = load(tmp_path, least=ALWAYS), load(tmp_path, least=ALWAYS)
    assert all(_cache(arm).exists() for arm in find_arms(tmp_path))
    for frames in (first, again):
        _alike(frames, fresh)
    assert fresh.arms["rescored"].tolist() == [2 - 1, 0]


def test_a_good_cache_is_what_is_read(folder: Path) -> None:
    _poison(folder)
    assert set(load(folder, least=ALWAYS).episodes["seconds"]) == {POISON}
    assert set(load(folder, least=NEVER).episodes["seconds"]) == {2.0}


def test_small_records_have_none(tmp_path: Path) -> None:
    made = write_arm(tmp_path / "s", "full", sample_episodes("full", 4))
    assert (made / "episodes.jsonl").stat().st_size < LEAST
    load(tmp_path)
    assert not (made / FOLDER).exists()


def test_of_records_that_grew_only_what_is_new_is_read(folder: Path) -> None:
    _poison(folder)
    _append(folder, episode("0100", seconds=7.0))
    assert load(folder, least=ALWAYS).episodes["seconds"].tolist() == [POISON] * 4 + [7.0]
    assert load(folder, least=ALWAYS).episodes["seconds"].tolist() == [POISON] * 4 + [7.0]


def _truncate(folder: Path) -> None:
    lines = (folder / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    os.truncate(folder / "episodes.jsonl", sum(map(len, lines[:-1])))


def _replace_a_score(folder: Path) -> None:
    """In place: as many bytes, and the old date."""
    path = folder / "episodes.jsonl"
    state = path.stat()
    raw = path.read_bytes().replace(b"Northmill", b"Southmill")
    with path.open("r+b") as file:
        file.write(raw)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert path.stat().st_size == state.st_size


def _touch(folder: Path) -> None:
    os.utime(folder / "episodes.jsonl", ns=(0, 1))


def _other_metrics(folder: Path) -> None:
    path = folder / "manifest.json"
    manifest = orjson.loads(path.read_bytes())
    path.write_bytes(orjson.dumps({**manifest, "metrics": ["f1"]}))


def _other_code(folder: Path) -> None:
    _change(folder, lambda kept: kept["settings"].update(code="0" * 64))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: _append(folder, episode("0001", seconds=7.0)),
        lambda folder: _rescore(folder, "0001"),
        _truncate,
        _replace_a_score,
        _touch,
        _other_metrics,
        _other_code,
    ],
)
def test_what_changed_is_read_again(folder: Path, change: Callable[[Path], None]) -> None:
    _poison(folder)
    change(folder)
    found = load(folder, least=ALWAYS)
    assert POISON not in set(found.episodes["seconds"])
    _alike(found, load(folder, least=NEVER))
    _alike(load(folder, least=ALWAYS), load(folder, least=NEVER))


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"null", b"3", b"{}", b"\x80\x04K\x01."),
        *(b'{"settings": {}}', b'{"settings": null, "records": null}'),
    ],
)
def test_a_foreign_cache_is_made_again(folder: Path, content: bytes) -> None:
    good = _cache(folder).read_bytes()
    _cache(folder).write_bytes(content)
    _alike(load(folder, least=ALWAYS), load(folder, least=NEVER))
    assert _cache(folder).read_bytes() == good


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_torn_cache_is_made_again(folder: Path, share: float) -> None:
    good = _cache(folder).read_bytes()
    os.truncate(_cache(folder), int(share * len(good)))
    _alike(load(folder, least=ALWAYS), load(folder, least=NEVER))
    assert _cache(folder).read_bytes() == good


def test_a_cache_with_one_letter_changed_is_made_again(folder: Path) -> None:
    good = _cache(folder).read_bytes()
    _cache(folder).write_bytes(good.replace(b'"seconds":[2.0', b'"seconds":[3.0'))
    assert _cache(folder).read_bytes() != good
    _alike(load(folder, least=ALWAYS), load(folder, least=NEVER))
    assert _cache(folder).read_bytes() == good


def test_where_none_can_be_written_the_report_goes_on(tmp_path: Path) -> None:
    """A file in the folder's place stands for a disk that refuses: no user may pass it."""
    made = write_arm(tmp_path / "s", "full", sample_episodes("full", 4))
    (made / FOLDER).write_text("in the way")
    _alike(load(made, least=ALWAYS), load(made, least=NEVER))
    assert (made / FOLDER).read_text() == "in the way"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_only_be_read(tmp_path: Path) -> None:
    made = write_arm(tmp_path / "s", "full", sample_episodes("full", 4))
    made.chmod(0o500)
    try:
        _alike(load(made, least=ALWAYS), load(made, least=NEVER))
    finally:
        made.chmod(0o700)
    assert not (made / FOLDER).exists()


def test_a_number_too_large_for_it_is_unreadable_with_and_without(tmp_path: Path) -> None:
    made = write_arm(tmp_path / "s", "full", [episode("p1"), episode("p2")])
    raw = (made / "episodes.jsonl").read_bytes()
    (made / "episodes.jsonl").write_bytes(raw.replace(b'"seconds":2.0', b'"seconds":1' + b"0" * 30))
    _alike(load(made, least=ALWAYS), load(made, least=NEVER))
    assert load(made, least=ALWAYS).arms["unreadable"].tolist() == [2]


def test_it_is_taken_for_no_record(folder: Path) -> None:
    assert find_arms(folder.parent) == [folder]
    assert find_arms(folder) == [folder]
    assert load(folder.parent, least=ALWAYS).faults == ()
    assert [path.name for path in (folder / FOLDER).iterdir()] == [NAME]


def test_readers_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    made = write_arm(tmp_path / "s", "full", sample_episodes("full", 40))
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(lambda _: load(made, least=ALWAYS), range(24)))
    fresh = load(made, least=NEVER)
    for frames in (*read, load(made, least=ALWAYS)):
        pd.testing.assert_frame_equal(frames.episodes, fresh.episodes)
    assert [path.name for path in (made / FOLDER).iterdir()] == [NAME]


CHANGES: dict[str, Callable[[Path, int], None]] = {
    "append": lambda folder, n: _append(folder, episode(f"{n:04d}", seconds=float(n))),
    "begin a line": lambda folder, n: _cut(folder, episode(f"{n:04d}"), n),
    "append without an end": lambda folder, n: _cut(folder, episode(f"{n:04d}"), -1),
    "end the line": lambda folder, n: _end(folder),
    "rescore": lambda folder, n: _rescore(folder, f"{n:04d}", n / 16),
    "truncate": lambda folder, n: _truncate(folder),
    "strange": lambda folder, n: _strange(folder, f"{n:04d}"),
    "nothing": lambda folder, n: None,
}


def _cut(folder: Path, record: Episode, size: int) -> None:
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(_line(record)[:size])


def _end(folder: Path) -> None:
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(b"\n")


def _strange(folder: Path, problem: str) -> None:
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(orjson.dumps({"version": 0, "problem": problem, "sample": 0}) + b"\n")


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 6)), max_size=8))
def test_whatever_happens_to_the_records_it_is_never_stale(changes: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as home:
        folder = write_arm(Path(home) / "s", "full", sample_episodes("full", 3))
        load(folder, least=ALWAYS)
        for name, number in changes:
            CHANGES[name](folder, number)
            cached, fresh = load(folder, least=ALWAYS), load(folder, least=NEVER)
            pd.testing.assert_frame_equal(cached.arms, fresh.arms)
            pd.testing.assert_frame_equal(cached.episodes, fresh.episodes)
            assert cached.faults == fresh.faults
            assert cached.indices == fresh.indices
