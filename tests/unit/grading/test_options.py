from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.grading.options import check_distinct, letters, named_option

OPTIONS = ("iron", "iron ore", "gold", "none of these")


def test_letters_count_from_a() -> None:
    assert letters(4) == "ABCD"


@pytest.mark.parametrize(
    ("text", "whole", "named"),
    [
        ("C", True, ("C", "ok")),
        ("C. gold", True, ("C", "ok")),
        ("C. iron", True, (None, "not_an_option")),
        ("C. iron", False, ("C", "ok")),
        ("A choice", False, (None, "not_an_option")),
        ("I", False, (None, "not_an_option")),
        ("neither iron", False, (None, "not_an_option")),
        ("iron or gold", False, (None, "ambiguous")),
        ("iron ore", True, ("B", "option_text")),
        ("some iron ore", True, (None, "not_an_option")),
        ("some iron ore", False, ("B", "option_text")),
        ("the correct answer is option D", False, ("D", "ok")),
    ],
)
def test_what_names_an_option(text: str, whole: bool, named: tuple[str | None, str]) -> None:
    assert named_option(text, OPTIONS, whole=whole) == named


def test_an_option_whose_words_begin_like_a_letter() -> None:
    worms = ("E. coli", "D. rerio", "C. elegans", "B. subtilis")
    assert named_option("C. elegans", worms) == ("C", "option_text")
    assert named_option("D. rerio", worms) == ("B", "option_text")


def test_an_option_that_is_a_letter_itself() -> None:
    elements = ("O", "H", "C", "Na")
    assert named_option("O", elements) == ("A", "option_text")
    assert named_option("C", elements) == ("C", "ok")


def test_repeated_options_are_no_answer_but_their_letters_are() -> None:
    assert named_option("iron", ("iron", "Iron", "iron", "x")) == (None, "ambiguous")
    assert named_option("C", ("iron", "Iron", "iron", "x")) == ("C", "ok")


@given(st.text(), st.lists(st.text(), min_size=2, max_size=6), st.booleans())
def test_it_is_total(text: str, options: list[str], whole: bool) -> None:
    named, status = named_option(text, options, whole=whole)
    assert (named is None) == (status in ("ambiguous", "not_an_option"))
    assert named is None or named in letters(len(options))


WORDS = st.text(alphabet="aAb $.*{}!", max_size=6)


@given(st.lists(WORDS, min_size=2, max_size=4))
def test_options_that_pass_as_distinct_are_told_apart_by_their_words(options: list[str]) -> None:
    try:
        check_distinct(options)
    except ValueError:
        return
    for letter, option in zip(letters(len(options)), options, strict=True):
        named, status = named_option(option, options)
        assert status != "option_text" or named == letter
