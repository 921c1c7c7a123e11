"""The number that a short stated answer writes, and formulas with their digits told apart."""

from __future__ import annotations

import re

from parley.grading.wrappers import LONGEST, bare, spoken, unled

_UNIT = re.compile(r"(?:\\[,;: ])?\s*\\(?:text|mathrm|textrm)\{(?P<words>[^{}0-9]*)\}$")
_OTHER = re.compile(
    r"\b(?:or|and|to|plus|minus|times|over|percent|dozen|hundred|thousand|[mbtr]+illion|mod"
    r"|squared|cubed|factorial)s?\b",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"\s(?:(?:square|cubic) )?(?:degrees?|units?|[ckm]m|inch(?:es)?|feet|foot|miles?"
    r"|(?:centi|kilo)?met(?:er|re)s?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|dollars?|cents?|points?)$",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r", (?:as|since|because|which|where|given|assuming)\b.*|(?<=[.!?])\s[^0-9]*\Z", re.DOTALL
)
_INSIDE = re.compile(r"\([^()]*\)|(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_COMMAND = re.compile(r"\\[A-Za-z]+|\b(?:sin|cos|tan|log|gcd|lcm|max|min|mod|det)\b")
_MIXED = re.compile(r"[0-9].*(?:[A-Za-z]{3,}|\b(?:or|if|so|is|as|at|by|in|to|of|we)\b)", re.DOTALL)
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


def integer(value: str) -> str | None:
    """The integer that all of `value` writes, in digits without leading zeros; else None.

    "73.", "73.0", "73^\\circ" and the chain "m + n = 61 + 12 = 73" are 73. "12,34" and "0,1" are
    lists, and "12 as x = 73" is a sentence. Digits stay a string: nothing is rounded, and a number
    of any length is compared as it stands.
    """
    if len(value) > LONGEST:
        return None
    text = bare(_last_side(bare(value)))
    unit = _UNIT.search(text)
    if unit and not _OTHER.search(unit["words"]):
        text = text[: unit.start()]
    match = _INTEGER.fullmatch(bare(_DEGREES.sub("", text)))
    if not match:
        return None
    digits = re.sub(r"[^0-9]", "", match["digits"]).lstrip("0") or "0"
    return f"-{digits}" if match["sign"] in ("-", "−") and digits != "0" else digits


def stated_integer(value: str) -> str | None:
    """The integer of a statement: as `integer` reads it, with "the answer is" before it, or a unit
    of measure, a clause ("73, as required") or sentences without digits behind it. Nothing else
    may stand there: "73 or 74", "about 73" and "73 apples and 2 pears" are none."""
    if len(value) > LONGEST:
        return None
    text = unled(value)
    aside = _ASIDE.search(text)
    for form in (text, bare(spoken(text[: aside.start()]))) if aside else (text,):
        for number in (form, _MEASURE.sub("", form)):
            if (found := integer(number)) is not None:
                return found
    return None


def formula(value: str) -> str | None:
    """The value as a parser of formulas may read it: thousands that are set apart by TeX or blanks
    are joined, "1\\,234" is 1234. A comma stays, it may be a list's. None where other digits have
    only blanks between them: nobody can tell a list from a product or a sum."""
    text = _SHORT_FRACTION.sub(r"\\frac{\1}{\2}", bare(value))
    text = _GROUPED.sub(lambda found: re.sub(r"[^0-9]", "", found[0]), text)
    return None if _APART.search(text) else text


def _last_side(text: str) -> str:
    """The last side of an equation, or of a chain of them; the text where it is no equation: a
    side that lists several, or in which words follow a number ("5 and y")."""
    *sides, last = text.split("=")
    for side in sides:
        plain = _COMMAND.sub("", _INSIDE.sub("", side)).strip()
        if _MIXED.search(plain) or re.search(r"[,;]|[!<>]$", plain):
            return text
    return last
