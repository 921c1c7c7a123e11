"""Values behind line-start labels ("Result: 7"), as language models write them.

A label counts only at the start of a line, whole and in any case. Markdown around it is
tolerated: a bullet or number, `#` headings, bold or italic, the full-width colon. A quoted line
(`> Result: no`) never is a label, so that text copied from a document cannot set a field.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_LINE = r"""
    ^[ ]{0,3}
    (?:(?P<head>\#{1,6})[ \t]*)?
    (?:[-+*•][ \t]+|\d{1,3}[.)][ \t]+)?
    (?P<mark>\*{1,3}|_{1,3}|`)?
    (?P<name>NAMES)
    [ \t]*+(?P<shut>(?P=mark))?[ \t]*+
    (?:[:：](?P<late>(?P=mark))?|(?(head)|(?(shut)|(?!)))(?=[ \t\r]*$))
"""
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_LAST_FENCE = re.compile(r"(?:^|\n)[ \t]*(?:`{3,}|~{3,})[ \t\r]*\Z")
_BOLD = re.compile(r"(\*{1,3}|__|`)(?!\s)((?:(?!\1).)+)(?<!\s)\1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One label's value: `start` is where the label's line begins, `span` where the value lies."""

    name: str
    start: int
    span: tuple[int, int]
    value: str


@lru_cache(maxsize=256)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    words = [r"[ \t]+".join(map(re.escape, name.split())) for name in names if name.strip()]
    longest_first = sorted(words, key=len, reverse=True)
    source = _LINE.replace("NAMES", "|".join(longest_first) or "(?!)")
    # Escaped above all but '#', which a verbose pattern would read as a comment.
    return re.compile(source, re.MULTILINE | re.IGNORECASE | re.VERBOSE)


def _fold(name: str) -> str:
    return " ".join(name.split()).casefold()


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at both ends; an empty one lies at `start`."""
    inner = text[start:end]
    if not inner.strip():
        return start, start
    return start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip())


def labelled(text: str, names: Sequence[str]) -> list[Labelled]:
    """All labels of `names` in `text`, in order; a value runs to the next of them or the end."""
    known = {_fold(name): name for name in reversed(names)}
    matches = list(_pattern(tuple(names)).finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    return [
        _read(text, match, end, known.get(_fold(match["name"]), match["name"]))
        for match, end in zip(matches, ends, strict=False)
    ]


def _read(text: str, match: re.Match[str], end: int, name: str) -> Labelled:
    start, end = trim(text, match.end(), end)
    if len(_FENCE.findall(text, start, end)) % 2 == 1:
        # The fence around a whole record was opened before its first label.
        closing = _LAST_FENCE.search(text[start:end])
        start, end = trim(text, start, start + closing.start()) if closing else (start, end)
    value = text[start:end]
    mark = match["mark"]
    if mark and not match["shut"] and not match["late"]:
        first, newline, rest = value.partition("\n")
        value = first.rstrip().removesuffix(mark) + newline + rest
    return Labelled(name=name, start=match.start(), span=(start, end), value=_tidy(value))


def _tidy(value: str) -> str:
    """Continuation lines lose their common indentation, a value wholly in bold its marks."""
    first, newline, rest = value.strip().partition("\n")
    if newline:
        return f"{first.rstrip()}\n{textwrap.dedent(rest)}".strip()
    bold = _BOLD.fullmatch(first)
    return bold[2] if bold else first


def section(text: str, label: str, stops: tuple[str, ...] = ()) -> tuple[int, int] | None:
    """Span of the value of the last such label, up to the next label of `stops` or the end.

    White space at both ends is left out; the span is empty where nothing follows the label.
    """
    found = [item for item in labelled(text, (label, *stops)) if _fold(item.name) == _fold(label)]
    return found[-1].span if found else None


def final_answer(text: str) -> str | None:
    """First line of the value of the last "Answer:" or "Final answer:" label; None without one."""
    found = labelled(text, ("Answer", "Final answer"))
    if not found or not found[-1].value:
        return None
    return _tidy(found[-1].value.partition("\n")[0]) or None
