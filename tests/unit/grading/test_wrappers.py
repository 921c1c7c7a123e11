from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.grading.wrappers import bare, spoken


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


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("33!", "33"),
        ("**33!**", "**33**"),
        ("$3!$", "$3!$"),
        ("5\\!", "5\\!"),
        ("!", ""),
        ("3!.", "3!."),
    ],
)
def test_exclamation_marks_at_the_end_of_prose(line: str, plain: str) -> None:
    assert spoken(line) == plain
