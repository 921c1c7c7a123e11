"""A short stated answer without what is written around it."""

from __future__ import annotations

import re

LONGEST = 1_000
"""Characters past which nothing is a number or a letter with words around it."""

_OPENING = re.compile(
    r"(?:\\{1,2}(?:text|textbf|textrm|textit|textsf|mathrm|mathbf|mathit|mathsf|operatorname"
    r"|boxed|fbox|bbox)\s*)?\{"
)
_PAIRS = (
    *(("**", "**"), ("*", "*"), ("__", "__"), ("_", "_"), ("`", "`"), ("$$", "$$"), ("$", "$")),
    *((r"\(", r"\)"), (r"\[", r"\]"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’")),
)
_LEAD = re.compile(
    r"(?:(?:the|my|correct|final|best|right) )*answer(?: is\b\s*[:：]?|\s*[:：])\s*", re.IGNORECASE
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


def spoken(line: str) -> str:
    """A line of prose without the exclamation marks that end it. In a box and in TeX they stay:
    there `!` is a factorial."""
    end = len(line.rstrip("!*_\"'”’ \t"))
    return line if line[:end].endswith("\\") else line[:end] + line[end:].replace("!", "")


def unled(value: str) -> str:
    """The value without what is around all of it, and without "the answer is" before it."""
    text = bare(value)
    return bare(_LEAD.sub("", text, count=1)) if _LEAD.match(text) else text


def _unwrapped(value: str) -> str:
    text = value.rstrip(".;").rstrip() or value
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
