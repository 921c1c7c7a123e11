from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.grading.wrappers import bare, integer


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("**C**", "C"),
        ("\\boxed{\\text{x}}.", "x"),
        ("$\\{1\\}$", "\\{1\\}"),
        ("{a}{b}", "{a}{b}"),
        ("*a* and *b*", "*a* and *b*"),
        ("“gold”", "gold"),
        ("...", "..."),
        ("  ", ""),
        ("**", "**"),
    ],
)
def test_only_what_is_around_all_of_it_goes(text: str, inside: str) -> None:
    assert bare(text) == inside


@given(st.text())
def test_it_is_total_and_settles(text: str) -> None:
    assert bare(bare(text)) == bare(text)
    assert integer(text) is None or integer(text) == integer(str(integer(text)))


def test_a_number_of_any_length_is_compared_as_it_stands() -> None:
    long = "9" * 900
    assert integer(f"0{long}") == long
    assert integer("9" * 2000) is None
