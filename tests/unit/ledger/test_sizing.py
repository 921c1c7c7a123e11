"""Tokens of each stretch of a prompt: the quick way by memory says what the bytes say."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.ledger.seeking import in_order, seek
from parley.ledger.sizing import Memory, sizes_by_pieces
from parley.remembering import remembered

HEAD = (b"<|im_start|>", b"user", b"\n")
TAIL = (b"<|im_end|>", b"\n", b"<|im_start|>", b"assistant", b"\n")
WORD = re.compile(rb"\n| ?[^\s]+|\s")


def cut(*texts: str) -> tuple[bytes, ...]:
    """A templated prompt; every text is cut into tokens of its own."""
    return (*HEAD, *(piece for text in texts for piece in WORD.findall(text.encode())), *TAIL)


def count(text: str) -> int:
    return len(WORD.findall(text.encode()))


def test_each_text_has_its_tokens_and_the_template_the_rest() -> None:
    texts = ["Question: who?\n", "Your paragraphs:\n[A] b c.\n", "Write.\n"]
    sizes = sizes_by_pieces(texts, cut(*texts))
    assert sizes == [*map(count, texts), len(HEAD) + len(TAIL)]


def test_what_is_remembered_is_counted_as_it_was() -> None:
    memory: Memory = {}
    first, second = ["Evidence a b c.\n", "Speak.\n"], ["Evidence a b c.\n", "Hear.\n", "Speak.\n"]
    assert sizes_by_pieces(first, cut(*first), memory) == sizes_by_pieces(first, cut(*first))
    assert set(memory) == set(first)
    assert sizes_by_pieces(second, cut(*second), memory) == sizes_by_pieces(second, cut(*second))
    assert set(memory) == set(second)


def test_a_memory_of_other_tokens_misleads_nobody() -> None:
    """Another model's tokens of the same text: they do not stand there, so the bytes decide."""
    texts = ["one two\n", "three\n"]
    wrong: Memory = {"one two\n": (b"one two", b"\n")}
    assert sizes_by_pieces(texts, cut(*texts), wrong) == sizes_by_pieces(texts, cut(*texts))


def test_a_token_across_two_texts_belongs_to_that_of_its_first_byte() -> None:
    pieces = (*HEAD, b"a", b" b\nc", b" d", b"\n", *TAIL)
    assert sizes_by_pieces(["a b\n", "c d\n"], pieces) == [2, 2, 8]
    assert sizes_by_pieces(["a b\n", "c d\n"], pieces, {}) == [2, 2, 8]


@pytest.mark.parametrize("texts", [["absent\n"], ["b\n", "a\n"], ["a b c d e\n"]])
def test_texts_that_do_not_stand_there_in_order_have_no_sizes(texts: list[str]) -> None:
    pieces = cut("a\n", "b\n")
    assert sizes_by_pieces(texts, pieces) is None
    assert sizes_by_pieces(texts, pieces, {}) is None


def test_a_prompt_without_tokens_has_no_sizes() -> None:
    assert sizes_by_pieces(["a\n"], ()) is None


def test_the_memory_does_not_grow_without_end() -> None:
    memory: Memory = {}
    for number in range(3000):
        sizes_by_pieces([f"text {number}\n"], cut(f"text {number}\n"), memory)
    assert len(memory) <= 1024
    assert "text 2999\n" in memory


TEXT = st.text(alphabet="ab é\n<|", min_size=1, max_size=12).map(lambda text: text.strip() + "\n")


@given(st.lists(TEXT.filter(lambda text: text != "\n"), min_size=1, max_size=5), st.data())
def test_cuts_of_any_kind_give_parts_that_sum_to_the_whole(
    texts: list[str], data: st.DataObject
) -> None:
    stream = "".join(texts).encode()
    marks = data.draw(st.sets(st.integers(1, max(1, len(stream) - 1)), max_size=8))
    bounds = [0, *sorted(marks), len(stream)]
    cuts = [stream[low:high] for low, high in pairwise(bounds) if high > low]
    pieces = (*HEAD, *cuts, *TAIL)
    memory: Memory = {}
    fresh = sizes_by_pieces(texts, pieces, memory)
    assert fresh is not None
    assert sum(fresh) == len(pieces)
    assert fresh == sizes_by_pieces(texts, pieces, memory)


@given(st.binary(max_size=60), st.binary(max_size=8), st.integers(0, 70))
def test_seek_finds_what_find_finds(stream: bytes, sought: bytes, start: int) -> None:
    assert seek(stream, sought, start) == stream.find(sought, start)


@given(st.integers(0, 3), st.integers(1, 200))
def test_seek_tells_long_texts_apart_behind_the_same_beginning(before: int, length: int) -> None:
    wrong, right = b"x" * length + b"y", b"x" * length + b"z"
    stream = wrong * before + right
    assert seek(stream, right) == stream.find(right)


def test_texts_stand_in_a_stream_in_order_or_not() -> None:
    stream = "Zoë went to Łódź.".encode()
    assert in_order(stream, ["Zoë", "went", "Łódź"])
    assert not in_order(stream, ["went", "Zoë"])
    assert in_order(stream, [])


def test_a_remembered_function_is_asked_once() -> None:
    asked: list[object] = []

    @remembered(2)
    def twice(value: object, *, sign: str = "+") -> str:
        asked.append(value)
        return f"{value}{value}{sign}"

    assert [twice("a"), twice("a"), twice("a", sign="-")] == ["aa+", "aa+", "aa-"]
    assert asked == ["a", "a"]
    twice("b")
    twice("c")
    twice("a")
    assert asked == ["a", "a", "b", "c", "a"]


def test_what_cannot_be_hashed_is_worked_out_anew() -> None:
    @remembered(2)
    def size(items: list[int]) -> int:
        return len(items)

    assert (size([1]), size([1, 2])) == (1, 2)


def test_an_error_of_the_function_is_its_own() -> None:
    @remembered(2)
    def broken(value: str) -> str:
        raise TypeError(value)

    with pytest.raises(TypeError, match="mine"):
        broken("mine")
