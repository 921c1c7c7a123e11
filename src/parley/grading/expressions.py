r"""Mathematical expressions graded by math-verify (the extra `math`), with a time limit that holds.

| status | meaning |
|---|---|
| ok, no_label, multi_box | as `parley.grading.answers` read it |
| unparsed | math-verify reads no expression in the answer |
| too_long | more characters than `LONGEST`: not looked at |
| timeout | the comparison took too long, and was ended |
| grader_error | math-verify failed on it |

All but the first row score 0. `!` is a factorial, except at the end of a line of prose. Thousands
may be set apart as in "1\\,234"; other digits with only blanks between them are `unparsed`, unless
they are the gold answer as it stands. A grade can be made again by `parley rescore`.
"""

from __future__ import annotations

import importlib.util

from parley.errors import MissingExtra
from parley.grading.answers import Extracted, free_answer
from parley.grading.limited import CallFailed, TimedOut, pool
from parley.grading.numerals import formula
from parley.grading.wrappers import bare, spoken
from parley.types import Score

LONGEST = 2_000
"""Characters of an expression; a parser's time grows much faster than its input."""
LIMIT_S = 10.0
"""Seconds for one comparison, wall clock. Usual ones take a hundredth of it."""


def require_math_verify() -> None:
    """Raises MissingExtra where math-verify is not installed; called before a run, not in it."""
    if importlib.util.find_spec("math_verify") is None:
        raise MissingExtra("math-verify", "math")


def grade_expression(
    gold: str, text: str, *, truncated: bool = False, limit_s: float = LIMIT_S
) -> Score:
    """Reads the answer in the visible text and compares it with the gold expression. Blocks for
    `limit_s` at most, once a worker is up; never raises on a text."""
    found = free_answer(text, truncated=truncated, prose=spoken)
    if found.value is None:
        return Score(metrics={"accuracy": 0.0}, extracted=None, status=found.status)
    right, status = compare(gold, found, limit_s=limit_s)
    shown = found.value[:LONGEST]
    return Score(metrics={"accuracy": float(right)}, extracted=shown, status=status)


def compare(gold: str, found: Extracted, *, limit_s: float = LIMIT_S) -> tuple[bool, str]:
    """Whether what was extracted equals the gold expression, and the grade's status."""
    said = found.value or ""
    if len(said) > LONGEST:
        return False, "too_long"
    right, given = formula(gold), formula(said)
    if right is None or given is None:
        same = bare(gold).split() == bare(said).split()
        return same, found.status if same else "unparsed"
    try:
        equal = pool("math_verify").call("equal", limit_s=limit_s, gold=right, said=given)
    except TimedOut:
        return False, "timeout"
    except CallFailed:
        return False, "grader_error"
    return bool(equal), "unparsed" if equal is None else found.status
