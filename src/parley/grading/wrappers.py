"""A short stated answer without what is written around it, and the integer it writes."""

from __future__ import annotations

import re

LONGEST = 1_000
"""Characters past which nothing is an integer or a letter with words around it."""

_OPENING = re.compile(
    r"(?:\\{1,2}(?:text|textbf|textrm|textit|textsf|mathrm|mathbf|mathit|mathsf|operatorname"
    r"|boxed|fbox|bbox)\s*)?\{"
)
_PAIRS = (
    *(("**", "**"), ("*", "*"), ("__", "__"), ("_", "_"), ("`", "`"), ("$$", "$$"), ("$", "$")),
    *((r"\(", r"\)"), (r"\[", r"\]"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’")),
)
_UNIT = re.compile(r"(?:\\[,;: ])?\s*\\(?:text|mathrm|textrm)\{[^{}0-9]*\}$")
_DEGREES = re.compile(r"\s*(?:\^\s*(?:\{\s*\\circ\s*\}|\\circ)|°|\\degree)$")
_GROUPING = r"(?:,|\{,\}|,\\!|\\[,;:! ]|[ \u00a0\u2009\u202f~])"
_INTEGER = re.compile(
    rf"(?P<sign>[-+−]?)\s*(?P<digits>[0-9]{{1,3}}(?P<mark>{_GROUPING})[0-9]{{3}}"
    rf"(?:(?P=mark)[0-9]{{3}})*|[0-9]+)(?:\.0+)?"
)


def bare(value: str) -> str:
    """The value without the quotes, Markdown, TeX and full stops that are around all of it."""
    value = value.strip()
    while len(value) <= LONGEST:
        inner = _unwrapped(value)
        if inner == value:
            break
        value = inner
    return value


def integer(value: str) -> str | None:
    """The integer that all of `value` writes, in digits without leading zeros; else None.

    "n = 73", "73.", "73.0" and "73^\\circ" are 73. "12,34" and "0,1" are lists. Digits stay a
    string: nothing is rounded, and a number of any length is compared as it stands.
    """
    if len(value) > LONGEST:
        return None
    text = bare(value)
    text = bare(text.rpartition("=")[2]) if text.count("=") == 1 else text
    match = _INTEGER.fullmatch(bare(_DEGREES.sub("", _UNIT.sub("", text))))
    if not match:
        return None
    digits = re.sub(r"[^0-9]", "", match["digits"]).lstrip("0") or "0"
    return f"-{digits}" if match["sign"] in ("-", "−") and digits != "0" else digits


def _unwrapped(value: str) -> str:
    text = value.rstrip(".;!").rstrip() or value
    opening = _OPENING.match(text)
    if opening and text.endswith("}") and _balanced(inner := text[opening.end() : -1]):
        return inner.strip()
    for left, right in _PAIRS:
        inner = text.removeprefix(left).removesuffix(right)
        whole = len(text) - len(inner) == len(left) + len(right)
        if whole and inner and left not in inner and right not in inner:
            return inner.strip()
    return text


def _balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0
