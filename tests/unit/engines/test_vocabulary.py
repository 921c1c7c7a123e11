from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parley.engines.vocabulary import Vocabulary, byte_alphabet


def test_the_alphabet_names_every_byte_once() -> None:
    alphabet = byte_alphabet()
    assert sorted(alphabet.values()) == list(range(256))
    assert (alphabet["Ġ"], alphabet["Ċ"], alphabet["a"], alphabet["é"]) == (32, 10, 97, 0xE9)


def test_byte_level_names_become_bytes() -> None:
    words = Vocabulary()
    strings = ["<|im_start|>", "user", "Ċ", "Say", "ĠÃ©", "ðŁĻĤ", ".Ċ", "<|im_end|>"]
    assert words.learn_strings(range(8), strings, ["Say é🙂.\n"])
    pieces = words.pieces(range(8))
    assert pieces is not None
    assert b"".join(pieces).decode() == "<|im_start|>user\nSay é🙂.\n<|im_end|>"


def test_control_tokens_with_letters_outside_the_alphabet_are_their_own_text() -> None:
    words = Vocabulary()
    assert words.learn_strings([1, 2], ["<｜begin▁of▁sentence｜>", "hi"], ["hi"])
    assert words.pieces([1]) == ("<｜begin▁of▁sentence｜>".encode(),)


def test_sentence_piece_names_become_bytes() -> None:
    words = Vocabulary()
    strings = ["▁Hello", "▁wörld", "<0x0A>", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>"]
    assert words.learn_strings(range(7), strings, ["Hello wörld\n🙂"])
    assert words.pieces([2, 3]) == (b"\n", b"\xf0")


def test_names_that_do_not_join_to_the_text_teach_nothing() -> None:
    words = Vocabulary()
    assert not words.learn_strings([1, 2], ["Hel", "p"], ["Hello"])
    assert words.pieces([1]) is None
    assert words.missing([1, 2]) == {1, 2}


def test_a_part_of_a_character_is_not_learned_alone_but_with_its_text() -> None:
    words = Vocabulary()
    words.learn_text(7, "\ufffd")
    assert words.missing([7]) == set()
    assert words.learn([7, 8], [b"\xf0\x9f", b"\x99\x82"], ["🙂"])
    assert words.pieces([7, 8]) == (b"\xf0\x9f", b"\x99\x82")


@given(st.lists(st.text(min_size=1, max_size=6), max_size=8))
def test_what_is_learned_joins_to_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    words = Vocabulary()
    ids = list(range(len(parts)))
    assert words.learn(ids, [part.encode() for part in parts], [text])
    assert b"".join(words.pieces(ids) or ()) == text.encode()
