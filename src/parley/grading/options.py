"""Which option of a multiple-choice question a short text names: by its letter, or by its words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from parley.grading.wrappers import bare

Named = tuple[str | None, str]
"""The letter, if one is named, and the word for how: `ok`, `option_text`, `ambiguous`,
`not_an_option`."""

LONGEST = 2_000
"""Characters that are looked at; the longest answer of GPQA-Diamond has 1,182."""

_PREFIX = re.compile(
    r"(?:(?:the|my|correct|final|best|right) )*(?:answer|option|choice|letter)(?: is)?\b[:：]?\s*",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"(?P<open>[(\[*_`$\"']*)(?P<letter>[A-Za-z])(?![\w'’])(?P<shut>[)\]*_`$\"']*)(?P<rest>.*)",
    re.DOTALL,
)
_SECOND = re.compile(r"\s*(?:,|/|&|\bor\b|\band\b)\s*(?:\bor\b|\band\b)?\s*[(\[*]*([A-Z])(?!\w)")
_SEPARATED = re.compile(r"\s*[.:;,)\](]|\s+[-–—]\s|\s*[–—]")
_NEGATED = re.compile(r"\b(?:not|neither|nor|never|except)\b|n't\b", re.IGNORECASE)


def letters(count: int) -> str:
    """The letters of so many options, in their order."""
    return "".join(chr(ord("A") + place) for place in range(count))


def check_distinct(options: Sequence[str]) -> None:
    """Raises ValueError where two options have the same words as answers are compared: white space,
    dollar signs and what is around all of it do not count, case does."""
    first: dict[str, int] = {}
    for place, option in enumerate(options):
        other = first.setdefault(_plain(option), place)
        if other != place:
            both = f"{options[other][:60]!r} and {option[:60]!r}"
            raise ValueError(f"two of the options are the same: {both}")


def named_option(value: str, options: Sequence[str], *, whole: bool = False) -> Named:
    """The option that `value` states. `whole`: nothing says that it is an answer, so it must be a
    letter, an option's words, or both and nothing else.

    An option's words count where one option fits and no other; of options within one another, the
    longest. A word that is an article or a pronoun ("A plausible choice") is not a letter.
    """
    text = unprefixed(value[:LONGEST])
    exact = _equal(text, options)
    # An option may be the symbol O or H; only a letter that is there stands for itself.
    if len(exact) == 1 and (len(text) > 1 or text.upper() not in letters(len(options))):
        return exact[0], "option_text"
    match = _LETTER.fullmatch(text)
    if match and (found := _by_letter(match, options, whole)):
        return found
    if whole:
        return None, "ambiguous" if len(exact) > 1 else "not_an_option"
    return _by_words(text, options)


def unprefixed(value: str) -> str:
    """The value without what is written around it, and without "the answer is", "option" and the
    like before it."""
    text = bare(value)
    for _ in range(3):
        text = bare(_PREFIX.sub("", text, count=1) if _PREFIX.match(text) else text)
    return text


def _by_letter(match: re.Match[str], options: Sequence[str], whole: bool) -> Named | None:
    """What a text that begins with a single letter names; None where that letter is a word."""
    known = letters(len(options))
    letter, rest = match["letter"].upper(), match["rest"]
    if not rest.strip(" .:;,!"):
        return (letter, "ok") if letter in known else (None, "not_an_option")
    if letter not in known:
        return None
    second = _SECOND.match(rest)
    if second and second[1] in known and second[1] != letter and match["letter"].isupper():
        return None, "ambiguous"
    words = bare(rest.strip(" .:;,-–—()*"))
    if letter in _equal(words, options):
        return letter, "ok"
    marked = bool(match["open"] and match["shut"]) or bool(_SEPARATED.match(rest))
    clear = match["letter"].isupper() and letter not in "AI" and rest[:1].isspace()
    if not whole and ((marked and (match["letter"].isupper() or match["shut"])) or clear):
        return letter, "ok"
    return None


def _equal(text: str, options: Sequence[str]) -> list[str]:
    """Letters of the options that have just these words; case matters where it tells them apart."""
    for form in (_plain, _folded):
        found = [
            letter
            for letter, option in zip(letters(len(options)), options, strict=True)
            if form(option) == form(text) and form(text)
        ]
        if found:
            return found
    return []


def _by_words(text: str, options: Sequence[str]) -> Named:
    for form in (_plain, _folded):
        shown = form(text)
        spans = [
            (start, start + len(words), letter)
            for letter, option in zip(letters(len(options)), options, strict=True)
            if (words := form(option))
            for start in _places(words, shown)
        ]
        longest = [
            one
            for one in spans
            if not any(
                other[0] <= one[0] and one[1] <= other[1] and other[1] - other[0] > one[1] - one[0]
                for other in spans
            )
        ]
        named = {letter for _, _, letter in longest}
        if len(named) > 1:
            return None, "ambiguous"
        if named and not _NEGATED.search(shown[: longest[0][0]]):
            return named.pop(), "option_text"
    return None, "not_an_option"


def _places(words: str, text: str) -> list[int]:
    """Where the words stand in the text as words of their own, at most a few times."""
    found: list[int] = []
    start = text.find(words)
    while start >= 0 and len(found) < 8:
        end = start + len(words)
        before = re.search(r"[\w.,+\-−/^*=]$", text[max(0, start - 1) : start])
        after = re.match(r"\w|[.,/^*'-]\w", text[end : end + 2])
        if not before and not after:
            found.append(start)
        start = text.find(words, start + 1)
    return found


def _plain(text: str) -> str:
    return " ".join(bare(text).replace("$", "").split())


def _folded(text: str) -> str:
    return _plain(text).casefold()
