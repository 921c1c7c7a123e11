"""Stored arms read back: streaming, the last line of a (problem, sample) wins."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings

from parley.errors import StoreError
from parley.store import ArmWriter, find_arms, latest_rows, read_episodes, schema
from parley.types import VERSION, Episode, Score
from store_cases import episode, failed, manifest, values


def write(folder: Path, *episodes: Episode) -> Path:
    with ArmWriter.open(folder, manifest()) as writer:
        for one in episodes:
            writer.append(one)
        writer.finish("finished")
    return folder


jsonschema: Any = pytest.importorskip("jsonschema")
CHECK = jsonschema.Draft202012Validator(schema())


@settings(max_examples=60, deadline=None)
@given(record=values(Episode))
def test_any_episode_round_trips_and_fits_the_schema(
    tmp_path_factory: pytest.TempPathFactory, record: Episode
) -> None:
    record = dataclasses.replace(record, version=VERSION)
    folder = write(tmp_path_factory.mktemp("arm"), record)
    assert list(read_episodes(folder)) == [record]
    row = orjson.loads((folder / "episodes.jsonl").read_bytes())
    assert list(latest_rows(folder)) == [row]
    CHECK.validate(row)


def test_schema_carries_a_version_and_refuses_other_shapes() -> None:
    made = schema()
    assert made["version"] == VERSION
    jsonschema.Draft202012Validator.check_schema(made)
    row = orjson.loads(orjson.dumps(episode()))
    CHECK.validate(row)
    with pytest.raises(jsonschema.ValidationError):
        CHECK.validate({**row, "sample": "0"})


def test_last_line_wins_in_the_order_of_the_file(tmp_path: Path) -> None:
    folder = write(
        tmp_path, failed("q1", repeat=True), episode("q2"), episode("q1"), episode("q1", 1)
    )
    found = [(one.problem, one.sample, one.score is not None) for one in read_episodes(folder)]
    assert found == [("q2", 0, True), ("q1", 0, True), ("q1", 1, True)]


def test_ids_stay_strings_and_absent_numbers_null_e12(tmp_path: Path) -> None:
    one = episode("0073", score=Score(metrics={"f1": 0.0}, extracted="073"), turns=())
    (row,) = latest_rows(write(tmp_path, one))
    assert row["problem"] == "0073"
    assert row["score"]["extracted"] == "073"
    assert row["segments"][0][3] is None


def test_nan_is_null_in_the_file_and_nan_again_when_read(tmp_path: Path) -> None:
    folder = write(tmp_path, episode(score=Score(metrics={"f1": math.nan}, extracted=None)))
    assert b"NaN" not in (folder / "episodes.jsonl").read_bytes()
    (row,) = latest_rows(folder)
    assert row["score"]["metrics"] == {"f1": None}
    (one,) = read_episodes(folder)
    assert one.score is not None
    assert math.isnan(one.score.metrics["f1"])


def test_half_a_character_does_not_cost_the_episode(tmp_path: Path) -> None:
    (one,) = read_episodes(write(tmp_path, episode(question="a \ud800 b")))
    assert one.question == "a ? b"


def change(folder: Path, **changes: Any) -> None:
    path = folder / "episodes.jsonl"
    row = {**orjson.loads(path.read_bytes()), **changes}
    path.write_bytes(orjson.dumps(row) + b"\n")


def test_newer_version_says_so(tmp_path: Path) -> None:
    change(write(tmp_path, episode()), version=VERSION + 1)
    for read in (latest_rows, read_episodes):
        with pytest.raises(StoreError, match=r"line 1 was written by a newer Parley"):
            list(read(tmp_path))
    with pytest.raises(StoreError, match="newer Parley"):
        ArmWriter.open(tmp_path, manifest())


def test_other_shapes_say_where(tmp_path: Path) -> None:
    write(tmp_path, episode("0073"))
    change(tmp_path, answers="Lyon")
    with pytest.raises(StoreError, match=r"'0073', sample 0 has another shape at 'answers'"):
        list(read_episodes(tmp_path))
    change(tmp_path, problem=73)
    with pytest.raises(StoreError, match="line 1 is no episode"):
        list(latest_rows(tmp_path))


def test_find_arms(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a" / "1", episode()), write(tmp_path / "b" / "2", episode())
    (tmp_path / "a" / "report").mkdir()
    assert find_arms(tmp_path) == [one, two]
    assert find_arms(tmp_path / "a") == [one]
    assert find_arms(one) == [one]
    for path, words in ((tmp_path / "a" / "report", "holds no records"), (tmp_path / "c", "exist")):
        with pytest.raises(StoreError, match=words) as caught:
            find_arms(path)
        assert caught.value.remedy
