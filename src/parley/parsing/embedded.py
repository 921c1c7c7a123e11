"""JSON objects that stand somewhere in a model's text, exact or in need of mending. Total."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from parley.parsing.labels import trim

_STRING = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*+")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = re.compile(r"[A-Za-z]*")
_SLASH = re.compile(r"((?<!\\)(?:\\\\)*)\\/")
_NUMBER = re.compile(r"[-+]?\d[\d.eE+-]*")
_BRACES = (
    re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}]', re.DOTALL),
    re.compile(r"[{}]"),
)
_MOST = 32_768
"""Characters of the text, from its end, in which objects are looked for: a record comes last, and
none is as long as a model's endless repetition of one can be."""
_EFFORT = 4
"""Characters read for broken objects, per character of text: nested ones are tried again from
each brace, and a model that repeats itself must not hold up a run."""

_COMMAND = re.compile(
    r"""nabla|natural|ncong|nearrow|neg|neq|newline|nexists|ngeq|nleq|nmid|nonumber|not|notin
    |nparallel|nsim|nsubseteq|nwarrow|rangle|rbrace|rbrack|rceil|rfloor|rho|right|rightarrow
    |rightleftharpoons|rm|root|rvert|tag|tan|tanh|tau|tbinom|text|textbf|textit|textrm|textsf
    |texttt|textstyle|tfrac|theta|therefore|tilde|times|to|top|triangle""",
    re.VERBOSE,
)
r"""LaTeX commands whose single backslash reads as \n, \r or \t: restored where a whole word
matches. \ne and \nu are left out: they are also a line break before a lone letter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Values and their spans in the text, by name; `start` and `end` are those of the whole."""

    values: Mapping[str, tuple[str, tuple[int, int]]]
    start: int
    end: int
    repaired: bool = False


def last_object(text: str, fields: tuple[str, ...]) -> Found | None:
    """The last object that has all fields, else the last of those that have the most.

    Keys match whole and in any case; objects on quoted lines (`> {...}`) are not read.
    """
    best: Found | None = None
    for candidate in _objects(text, fields):
        if best is None or len(candidate.values) >= len(best.values):
            best = candidate
    return best


def _objects(text: str, fields: tuple[str, ...]) -> Iterator[Found]:
    ends: tuple[dict[int, int | None], ...] = ({}, {})
    position, budget = max(0, len(text) - _MOST), _EFFORT * min(len(text), _MOST)
    while (start := text.find("{", position)) >= 0:
        position = start + 1
        if text[text.rfind("\n", 0, start) + 1 : start].lstrip().startswith(">"):
            continue
        found = _exact(text, start)
        if found is None and budget > 0:
            found, cost = _broken(text, start, fields, ends)
            budget -= cost
        if found and (kept := _select(found, fields)).values:
            yield kept
            position = kept.end if len(kept.values) == len(fields) else position


def _broken(
    text: str, start: int, fields: tuple[str, ...], ends: tuple[dict[int, int | None], ...]
) -> tuple[Found | None, int]:
    """The mended object that begins at `start`, if any, and the characters read for it."""
    cost = 0
    for pattern, known in zip(_BRACES, ends, strict=True):
        fresh = start not in known
        end = _end(text, start, pattern, known)
        cost += (end or len(text)) - start if fresh else 0
        if end is None:
            continue
        folded = text[start:end].casefold()
        if any(name.casefold() in folded for name in fields):
            return _mended(text, start, end), cost + end - start
    return None, cost


def _select(found: Found, fields: tuple[str, ...]) -> Found:
    folded = {key.strip().casefold(): item for key, item in found.values.items()}
    values = {name: folded[name.casefold()] for name in fields if name.casefold() in folded}
    return Found(
        values={name: item for name, item in values.items() if item[0]},
        start=found.start,
        end=found.end,
        repaired=found.repaired,
    )


def _exact(text: str, start: int) -> Found | None:
    """The JSON object that begins at `start`, with the span of each top-level value."""
    values: dict[str, tuple[str, tuple[int, int]]] = {}
    repaired = False
    position = _skip(text, start + 1)
    while key := _STRING.match(text, position):
        position = _skip(text, key.end())
        if not text.startswith(":", position):
            return None
        item = _value(text, _skip(text, position + 1))
        if item is None:
            return None
        name, changed = _unescape(key[1])
        value, span, position, touched = item
        values[name] = (value, span)
        repaired = repaired or changed or touched
        position = _skip(text, position)
        if text.startswith("}", position):
            return Found(values=values, start=start, end=position + 1, repaired=repaired)
        if not text.startswith(",", position):
            return None
        position = _skip(text, position + 1)
    return None


def _value(text: str, start: int) -> tuple[str, tuple[int, int], int, bool] | None:
    """A JSON value as (text, span, end, whether it was mended). Other than strings: as written."""
    if string := _STRING.match(text, start):
        value, repaired = _unescape(string[1])
        return value.strip(), trim(text, *string.span(1)), string.end(), repaired
    try:
        decoded, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return "" if decoded is None else text[start:end], (start, end), end, False


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _unescape(body: str) -> tuple[str, bool]:
    """The value of a JSON string's body, and whether it departs from the standard reading."""
    mended = _restore(body)
    value: str = json.loads(f'"{mended}"', strict=False)
    whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole, mended != body or whole != value or any(mark in body for mark in "\n\r\t")


def _restore(body: str, *, quoted: bool = True) -> str:
    r"""Doubles the backslashes that were meant as such, though JSON reads them as escapes.

    "\boxed" and "\frac" are valid JSON (backspace, form feed), "\sqrt" is not; all are LaTeX.
    `quoted`: strings stand in double quotes, so that an apostrophe needs no backslash.
    """

    def mend(match: re.Match[str]) -> str:
        mark = match[1][0]
        word = _LETTERS.match(match.string, match.end())
        rest = word[0] if word else ""
        if mark == "'":
            return mark if quoted else match[0]
        if mark in "bf":
            meant = bool(rest)
        elif mark in "nrt":
            meant = _COMMAND.fullmatch(mark + rest) is not None
        else:
            meant = mark not in '"\\/' and len(match[1]) == 1
        return f"\\{match[0]}" if meant else match[0]

    return _ESCAPE.sub(mend, body)


def _end(
    text: str, start: int, pattern: re.Pattern[str], known: dict[int, int | None]
) -> int | None:
    """Where the braces opened at `start` balance; None where they never do.

    An object that lacks only its last braces ends behind its last string.
    """
    if start in known:
        return known[start]
    open_braces: list[int] = []
    last = start
    for match in pattern.finditer(text, start):
        if match[0] == "{":
            open_braces.append(match.start())
        elif match[0] == "}":
            known[open_braces.pop()] = match.end()
            if not open_braces:
                return known[start]
        else:
            last = match.end() if len(match[0]) > 1 and match[0][-1] == '"' else len(text) + 1
    whole = start < last <= len(text) and not text[last:].strip(" \t\r\n`,]}")
    known.update(dict.fromkeys(open_braces, last if whole else None))
    return known[start]


def _mended(text: str, start: int, end: int) -> Found | None:
    import json_repair

    body = text[start:end]
    source = _SLASH.sub(r"\1/", _restore(body, quoted='"' in body))
    try:
        loaded = json_repair.loads(source, skip_json_loads=True)
    except Exception:  # the mender is heuristic code: whatever it raises, there is no record
        return None
    if not isinstance(loaded, dict):
        return None
    values = {str(key): _find(text, start, end, str(key), item) for key, item in loaded.items()}
    return Found(values=values, start=start, end=end, repaired=True)


def _find(text: str, start: int, end: int, key: str, item: object) -> tuple[str, tuple[int, int]]:
    """A mended value and its span, where it stands as read; else the span of the object."""
    value = _plain(item)
    for match in re.compile(re.escape(key) + r"[\"']?\s*:\s*([\"']?)\s*").finditer(
        text, start, end
    ):
        number = None if match[1] else _NUMBER.match(text, match.end(), end)
        if number and not isinstance(item, str):
            value = number[0]
        if value and text.startswith(value, match.end()):
            return value, (match.end(), match.end() + len(value))
    return value, (start, end)


def _plain(item: object) -> str:
    if item is None:
        return ""
    text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, default=str)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").strip()
