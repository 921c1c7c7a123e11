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
_BLANK = r"(?:(?<!\\)\\(?:[,;:! ]|q?quad(?![A-Za-z]))|[ \t\n\u00a0\u2009\u202f~])"
_MARK = r"(?:\{,\}|,\\!| *(?:(?<!\\)\\[,;:! ]|[\u00a0\u2009\u202f~]) *| )"
_GROUPS = r"[0-9]{{1,3}}(?P<mark>{mark})[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*"
_INTEGER = re.compile(
    rf"(?P<sign>[-+−]?)\s*(?P<digits>{_GROUPS.format(mark=f'(?:,|{_MARK})')}|[0-9]+)(?:\.0+)?"
)
_GROUPED = re.compile(rf"(?<![0-9.,]){_GROUPS.format(mark=_MARK)}(?![0-9])")
_APART = re.compile(rf"[0-9]{_BLANK}+\.?[0-9]")
_SHORT_FRACTION = re.compile(r"\\[dt]?frac *([0-9]) *([0-9])")


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


def formula(value: str) -> str | None:
    """The value as a parser of formulas may read it: thousands that are set apart by TeX or blanks
    are joined, "1\\,234" is 1234. A comma stays, it may be a list's. None where other digits have
    only blanks between them: nobody can tell a list from a product or a sum."""
    text = _SHORT_FRACTION.sub(r"\\frac{\1}{\2}", bare(value))
    text = _GROUPED.sub(lambda found: re.sub(r"[^0-9]", "", found[0]), text)
    return None if _APART.search(text) else text


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
