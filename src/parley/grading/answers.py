"""The answer in the visible text of an answering turn: an integer, the letter of an option, or
free text. Pure and total; linear in the length of the text.

Only what is stated as the answer is read: a box, a line behind an "Answer:" label that begins a
line or a sentence, a sentence "the answer is ...", or a last line that is nothing else. Of boxes
and labels the latest counts. An exclamation mark that ends a line of prose is punctuation; in a box
and in TeX it is a factorial. Never the first capital or the last
number that stands somewhere. Where the output was cut short, its unfinished last line is not read.

| status | meaning |
|---|---|
| ok | read from a box or behind a label |
| no_label | read from a sentence or a bare last line |
| multi_box | boxes with different values: the last one counts |
| option_text | the option's words stood there instead of its letter |
| ambiguous | two options were named: no answer |
| not_integer, not_an_option | the answer stated is neither: no answer |
| truncated, no_answer | nothing was stated; the output was cut short, or not |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from parley.grading.numerals import integer, stated_integer
from parley.grading.options import Named, named_option
from parley.grading.wrappers import spoken
from parley.parsing.labels import labelled
from parley.types import Score

LABELS = ("Answer", "Final answer", "The answer", "The final answer", "Correct answer", "Final")
LONGEST = 4_000
"""Characters of a box or line that are looked at; nobody states an answer in more."""
COMPARED = 50
"""Boxes, counted from the end, that are compared to tell whether all hold the same."""

_BOX = re.compile(r"\\{1,2}(?P<box>[bf]box|boxed)\s*\{|\\[\\{}]|[{}]")
_OPENING = re.compile(r"\\(?:[bf]box|boxed)")
_SAID = re.compile(r"\b(?:answer|option|choice) (?:is|was|would be|should be|must be)\b:?", re.I)
_SENTENCE = re.compile(r"(?<=[.!?]) ")
_INLINE = re.compile(
    r"(?<=[.!?]) (?=[*_]{0,3}(?:the )?(?:(?:final|correct) )?answer ?[*_]{0,3}[:：])", re.IGNORECASE
)
_DISPLAY = re.compile(r"\A(?:\$\$|\\\[)\s*\n\s*")
_BLANKS = re.compile(r"[ \t\r\f\v]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What was read, None where no answer can be told, and why it is what it is."""

    value: str | None
    status: str = "ok"


def integer_answer(text: str, *, truncated: bool = False) -> Extracted:
    """The integer stated last, in a box that is balanced and not blank or behind a label; without
    one, alone in the last line, or in the last sentence that says it.

    The value is written in digits without leading zeros. Commas, spaces and their TeX forms are
    read as grouping only between groups of three digits; any other list is not an integer.
    """

    def named(words: str, whole: bool) -> Named:
        value = integer(words) if whole else stated_integer(words)
        return value, "not_integer" if value is None else "ok"

    return _answer(text, truncated, named)


def letter_answer(text: str, options: Sequence[str], *, truncated: bool = False) -> Extracted:
    """The letter stated last, in a box or behind a label; without one, alone in the last line, or
    in the last sentence that says it. `options` are the options' texts in the order of A, B, ...

    Words instead of a letter count where exactly one option is named, the longest that fits.
    """

    def named(words: str, whole: bool) -> Named:
        return named_option(words, options, whole=whole)

    return _answer(text, truncated, named)


def _answer(text: str, truncated: bool, named: Callable[[str, bool], Named]) -> Extracted:
    """What `named` makes of the words that are stated, or of the whole of a last line.

    Where it can make nothing of them, it is asked for what follows "the answer is" in them: "A and
    B are wrong, so the answer is C".
    """
    readable = _readable(text)
    stated, boxed, marked = _stated(readable, truncated)
    if not stated and marked:
        return _nothing(truncated)
    if stated:
        value, status = named(stated, False)
        if value is None and (said := _said(stated)):
            value, status = max(named(said, False), (value, status), key=lambda one: bool(one[0]))
        others = {named(inner, False)[0] for inner in boxed[-COMPARED:]}
        several = status == "ok" and bool(others - {value, None})
        return Extracted(value=value, status="multi_box" if several else status)
    found = _nothing(truncated)
    for words, whole in _unlabelled(_finished(readable, truncated)):
        value, status = named(words, whole)
        if value:
            return Extracted(value=value, status="no_label" if status == "ok" else status)
        if status == "ambiguous":
            found = Extracted(value=None, status=status)
    return found


def free_answer(
    text: str, *, truncated: bool = False, prose: Callable[[str], str] = str
) -> Extracted:
    """All that stands behind the last label, without a code fence or a box around it; else the
    last box; else the last line. An output that was cut short has no free answer unless it is
    boxed: nobody can tell what was still to come. `prose` is applied to what was not in a box."""
    boxed = [inner for _, inner in boxes(text)]
    marks = [] if truncated else labelled(_readable(text), LABELS)
    if marks and marks[-1].value:
        value = _unfenced(marks[-1].value)
        inner = boxes(value) if "boxed" in value else []
        return Extracted(value=inner[-1][1] if inner else prose(value) or value)
    if boxed:
        return Extracted(value=boxed[-1], status="multi_box" if len(set(boxed)) > 1 else "ok")
    if truncated or marks:
        return _nothing(truncated)
    last = _last_line(text)
    return Extracted(value=prose(last) or last, status="no_label") if last else _nothing(truncated)


def stated_words(text: str, *, truncated: bool = False) -> str:
    """The words in the last box or behind the last label, whichever is later, or what follows "the
    answer is": what a text names as its answer, of whatever kind. Empty where it names none."""
    readable = _readable(text)
    words, _, marked = _stated(readable, truncated)
    return words or ("" if marked else _said(_finished(readable, truncated)))


def accuracy(found: Extracted, gold: str) -> Score:
    """1 where what was extracted is the gold answer, character for character; else 0."""
    right = found.value is not None and found.value == gold
    return Score(metrics={"accuracy": float(right)}, extracted=found.value, status=found.status)


def boxes(text: str) -> list[tuple[int, str]]:
    """(place, content) of every balanced box that is not blank, the outermost of nested ones."""
    first = _OPENING.search(text)
    if not first:
        return []
    opened: list[int] = []
    closed: list[tuple[int, int, int]] = []
    starts: list[int] = []
    for match in _BOX.finditer(text, max(0, first.start() - 1)):
        token = match[0]
        if match["box"] or token == "{":
            opened.append(match.end() if match["box"] else -1)
            starts.append(match.start())
        elif token == "}" and opened:
            inside, start = opened.pop(), starts.pop()
            if inside >= 0:
                while closed and closed[-1][0] > start:
                    closed.pop()
                closed.append((start, inside, match.start()))
    contents = ((start, text[inside:end].strip()) for start, inside, end in closed)
    return [(start, inner) for start, inner in contents if inner]


def _stated(text: str, truncated: bool) -> tuple[str, list[str], bool]:
    """The words in the last box or behind the last label, whichever is later (a box behind the
    label is unwrapped); the contents of all boxes; whether there is a label."""
    boxed = boxes(text)
    place, stated = boxed[-1] if boxed else (-1, "")
    marks = labelled(_finished(text, truncated), LABELS)
    if marks and marks[-1].value and place < marks[-1].span[0]:
        value = marks[-1].value
        stated = _unfenced(value) if value.startswith("```") else spoken(_first_line(value))
        stated = "" if stated.startswith("```") else stated
    return stated, [inner for _, inner in boxed], bool(marks)


def _unlabelled(text: str) -> Iterator[tuple[str, bool]]:
    """The last line, which must be an answer as a whole; then what follows the last "the answer
    is" of the text, up to its full stop."""
    if last := _last_line(text):
        yield spoken(last), True
    if said := _said(text):
        yield said, False


def _said(text: str) -> str:
    """What follows the last "the answer is" of the text, up to its full stop."""
    ends = [said.end() for said in _SAID.finditer(text)]
    rest = text[ends[-1] : ends[-1] + LONGEST].partition("\n")[0] if ends else ""
    return _SENTENCE.split(rest.strip(), maxsplit=1)[0].rstrip("!")


def _finished(text: str, truncated: bool) -> str:
    """The lines and sentences that came to their end."""
    if not truncated:
        return text
    return text[: max(text.rfind("\n"), text.rfind(". ") + 1, 0)]


def _readable(text: str) -> str:
    """The text with blanks counted once, and a label that begins a sentence on a line of its own,
    unless the line is quoted."""
    lines = _BLANKS.sub(" ", text).split("\n")
    return "\n".join(
        line if line.lstrip().startswith(">") else _INLINE.sub("\n", line) for line in lines
    )


def _first_line(value: str) -> str:
    """The first line, within a displayed formula the first of that."""
    return _DISPLAY.sub("", value, count=1).partition("\n")[0].strip()[:LONGEST]


def _last_line(text: str) -> str:
    return _first_line(text.rstrip().rpartition("\n")[2])


def _unfenced(value: str) -> str:
    lines = value.split("\n")
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return value


def _nothing(truncated: bool) -> Extracted:
    return Extracted(value=None, status="truncated" if truncated else "no_answer")
