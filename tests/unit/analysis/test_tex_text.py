"""Any text becomes LaTeX that prints it and opens nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.analysis.tex_text import comment, escaped


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a_b 5% & {x} ~ \\y^2",
            r"a\_b 5\% \& \{x\} \textasciitilde{} \textbackslash{}y\textasciicircum{}2",
        ),
        ("[x] *", "{[}x{]} {*}"),
        ("a--b", "a{-}{-}b"),
        ("naïve Åé ł ß", r"na\"{\i}ve \r{A}\'{e} \l{} \ss{}"),
        ("λ → Ω Α ≤", r"$\lambda$ $\rightarrow$ $\Omega$ A $\le$"),
        ("日 x", r"{\ifdefined\Umathchar 日\else U+65E5\fi} x"),
        ("a\nb\x1b", "a b "),
        ("i\N{COMBINING DIAERESIS}", r"\"{\i}"),
    ],
)
def test_by_hand(text: str, expected: str) -> None:
    assert escaped(text) == expected


@given(st.text())
def test_braces_close_and_no_sign_is_left_bare(text: str) -> None:
    made = escaped(text)
    plain = made.replace(r"\{", "").replace(r"\}", "")
    depth = 0
    for sign in plain:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert "\n" not in made
    assert not re.search(r"(?<!\\)[%&#]", made)
    assert plain.replace(r"\$", "").count("$") % 2 == 0


@given(st.text())
def test_a_comment_is_one_line(text: str) -> None:
    assert len(comment(text).splitlines()) == 1
