"""Conversations as the page holds them: pieces, signs, one block per problem."""

from __future__ import annotations

import dataclasses
import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.analysis.cache import digest
from parley.analysis.digest import QUESTION, Index
from parley.analysis.page.transcripts import compact, gather
from parley.types import Message, Span
from records import call, conversation, episode, failed, line, turn, write_arm


def _message(text: str, *spans: Span) -> Message:
    return Message(text=text, kept=spans)


def _span(source: Any, start: int, end: int, output: int = 0) -> Span:
    return Span(output=output, source=source, start=start, end=end)


def _arm(benchmark: str, folder: Path) -> tuple[str, Path, Index]:
    return benchmark, folder, digest(folder, ("em", "f1"), votes=False).index


def _turn(record: dict[str, Any], number: int = 0) -> dict[str, Any]:
    shown: dict[str, Any] = compact(record)["turns"][number]
    return shown


def test_published_stretches_are_cut_out_as_pieces() -> None:
    made = dataclasses.replace(call(visible="one two three"), reasoning="thought")
    spans = (_span("visible", 4, 7), _span("reasoning", 0, 3))
    shown = _turn(line(episode(turns=(turn(0, made, message=_message("tho two", *spans)),))))
    assert shown["calls"][0]["visible"] == ["one ", "two", " three"]
    assert shown["calls"][0]["reasoning"] == ["", "tho", "ught"]
    assert shown["sent"] is None  # what is highlighted is what was sent


def test_spans_count_characters_and_not_what_a_browser_counts() -> None:
    text = "\U0001f600\U0001f600 kept"
    made = call(visible=text)
    message = _message("kept", _span("visible", 3, 7))
    shown = _turn(line(episode(turns=(turn(0, made, message=message),))))
    assert shown["calls"][0]["visible"] == ["\U0001f600\U0001f600 ", "kept", ""]


def test_a_message_that_is_not_what_was_written_is_shown_as_it_was_sent() -> None:
    made = call(visible="one two three")
    message = _message("Action: two", _span("visible", 4, 7))
    shown = _turn(line(episode(turns=(turn(0, made, message=message),))))
    assert shown["sent"] == "Action: two"


def test_an_answering_turn_has_no_message() -> None:
    shown = _turn(line(episode(turns=(turn(0, call(), answers=True),))))
    assert shown["status"] is None
    assert shown["sent"] is None


def test_spans_of_an_ask_belong_to_its_own_call() -> None:
    calls = (call(visible="draft"), call(visible="short", kind="summary", number=1))
    message = _message("short", _span("visible", 0, 5, output=1))
    shown = _turn(line(episode(turns=(turn(0, *calls, message=message),))))
    assert [each["visible"] for each in shown["calls"]] == [["draft"], ["", "short", ""]]


@given(
    text=st.text(min_size=1),
    cuts=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4),
)
def test_pieces_lose_no_character(text: str, cuts: list[tuple[int, int]]) -> None:
    spans = [_span("visible", min(cut), min(max(cut), len(text))) for cut in cuts]
    record = line(episode(turns=(turn(0, call(), message=_message("x", *spans)),)))
    record["turns"][0]["calls"][0]["visible"] = text
    pieces = _turn(record)["calls"][0]["visible"]
    assert len("".join(pieces)) == len(text)
    assert len(pieces) % 2 == 1


def test_control_characters_become_signs() -> None:
    record = line(episode(question="a\x1b[31m\u202eb"))
    assert compact(record)["question"] == "a\u241b[31m\ufffdb"


def test_parts_of_a_call_sum_to_what_it_cost() -> None:
    record = line(episode(turns=conversation()))
    for shown in compact(record)["turns"]:
        for each in shown["calls"]:
            assert sum(each["parts"]) == each["prompt"] + each["output"]


def test_a_failed_episode_says_why() -> None:
    shown = compact(line(failed("p1", "ContextOverflow")))
    assert shown["failure"] == "ContextOverflow: it broke"
    assert shown["turns"] == []
    assert shown["status"] == "no score"


def test_what_a_channel_changed_is_kept() -> None:
    turns = (turn(0, call()), turn(1, call(), heard=((0, None),)))
    assert _turn(line(episode(turns=turns)), 1)["heard"] == [[0, None]]


def test_one_block_holds_all_arms_of_a_problem(tmp_path: Path) -> None:
    folders = [
        _arm("fictional", write_arm(tmp_path / "s", name, [episode("p1"), episode("p2")]))
        for name in ("full", "pact")
    ]
    found = gather(folders, frozenset({("fictional", "p1")}))
    assert set(found.held) == {("fictional", "p1")}
    block = orjson.loads(gzip.decompress(found.block(("fictional", "p1"))))
    assert [each["arm"] for each in block] == [0, 1]
    assert set(found.questions) == {("fictional", "p1"), ("fictional", "p2")}
    assert [flow.episodes for flow in found.flows] == [2, 2]


def test_a_long_question_is_cut_in_the_list_only(tmp_path: Path) -> None:
    record = episode("p1", question="why " * 500)
    found = gather(
        [_arm("b", write_arm(tmp_path / "s", "full", [record]))], frozenset({("b", "p1")})
    )
    question, _ = found.questions["b", "p1"]
    assert len(question) == QUESTION + 1
    block = orjson.loads(gzip.decompress(found.block(("b", "p1"))))
    assert block[0]["question"] == "why " * 500


@pytest.mark.parametrize("field", ["turns", "question", "answers"])
def test_an_episode_of_another_shape_is_left_out(tmp_path: Path, field: str) -> None:
    folder = write_arm(tmp_path / "s", "full", [episode("p1"), episode("p2")])
    path = folder / "episodes.jsonl"
    first, second = (orjson.loads(text) for text in path.read_bytes().splitlines())
    first[field] = None
    path.write_bytes(orjson.dumps(first) + b"\n" + orjson.dumps(second) + b"\n")
    wanted = frozenset({("b", "p1"), ("b", "p2")})
    assert set(gather([_arm("b", folder)], wanted).held) == {("b", "p2")}


def test_a_folder_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    good = write_arm(tmp_path / "s", "full", [episode("p1")])
    bad = write_arm(tmp_path / "s", "pact", [episode("p1")])
    (bad / "episodes.jsonl").write_text("broken\nbroken\n")
    found = gather([_arm("b", bad), _arm("b", good)], frozenset({("b", "p1")}))
    assert [flow.episodes for flow in found.flows] == [0, 1]
    assert len(found.held["b", "p1"]) == 1
