from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.grading.numerals import formula, integer, stated_integer

BLANKS = (
    " ",
    "~",
    "\\,",
    "\\;",
    "\\:",
    "\\!",
    "\\ ",
    "{,}",
    ",\\!",
    "\u2009",
    "\u202f",
    "\u00a0",
    " \\, ",
)


@given(st.integers(1_000, 10**12), st.sampled_from(BLANKS), st.sampled_from(["", "-"]))
def test_thousands_set_apart_are_one_number(number: int, mark: str, sign: str) -> None:
    grouped = sign + f"{number:,}".replace(",", mark)
    assert integer(grouped) == formula(grouped) == f"{sign}{number}"
    assert formula(f"x + {grouped}^2") == f"x + {sign}{number}^2"


@given(st.lists(st.integers(0, 99), min_size=2, max_size=4), st.sampled_from(BLANKS[:7]))
def test_other_digits_with_blanks_between_them_are_no_formula(few: list[int], mark: str) -> None:
    assert formula(mark.join(map(str, few))) is None


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("1,234", "1,234"),
        ("1 & 2 \\\\ 3 & 4", "1 & 2 \\\\ 3 & 4"),
        ("2\\,\\pi", "2\\,\\pi"),
        ("3\\frac{1}{2}", "3\\frac{1}{2}"),
        ("3 1/2", None),
        ("1,234 567", None),
        ("1234 567", None),
        ("3.141 592", None),
        ("1 \\quad 2", None),
    ],
)
def test_what_a_parser_of_formulas_is_given(text: str, joined: str | None) -> None:
    assert formula(text) == joined


@given(st.text())
def test_it_is_total_and_settles(text: str) -> None:
    assert integer(text) is None or integer(text) == integer(str(integer(text)))
    if integer(text) is not None:
        assert stated_integer(text) == integer(text)
    formula(text)


def test_a_number_of_any_length_is_compared_as_it_stands() -> None:
    long = "9" * 900
    assert integer(f"0{long}") == long
    assert integer("9" * 2000) is None
