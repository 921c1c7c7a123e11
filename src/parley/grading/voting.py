"""The majority of several answers.

A vote is what the benchmark's own grader reads in a turn (`Turn.extracted`), by the same rules and
with the same problem at hand: an option's words are a vote for its letter, and where a bare last
line is graded it is voted for. A turn in which the grader reads nothing has no vote, nor has one
whose answer is ambiguous or of the wrong kind. majority@k of an arm's samples goes by the same
rule. Votes are the same when `comparable` makes the same of them.

Ties: of the answers with the most votes, the one given by the earliest turn wins. Where nobody
votes, the first turn stands, and the benchmark reads it as it reads any answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from parley.grading import normalise
from parley.grading.numerals import integer
from parley.grading.wrappers import unled
from parley.schedule import answered
from parley.types import Answer, Turn

_SIGNS = re.compile(r"[\d\\^=+*/<>−-]")
_LOOSE = re.compile(r"(?<=\W) | (?=\W)")
_STYLE = re.compile(r"\\(?:text|math)(?:bf|rm|it|sf|tt)?(?![A-Za-z])")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]{2,}")


def comparable(value: str) -> str | None:
    """An answer in the form in which answers are the same; None where nothing is left of it.

    Quotes, Markdown, TeX and "the answer is" around all of it fall away: "\\text{B}" is "b".
    Integers are digits without leading zeros and grouping. A formula or another number only loses
    white space beside its signs: what stands between its digits matters. Words are normalised as
    `parley.grading.normalise` does; those that are articles ("A") count by their letters.
    """
    text = unled(value) or value
    if (whole := integer(text)) is not None:
        return whole
    text = _STYLE.sub("", text)
    if _SIGNS.search(text) and not _WORD.search(_COMMAND.sub("", text)):
        return _LOOSE.sub("", " ".join(text.split()))
    return normalise(text) or "".join(filter(str.isalnum, text.lower())) or None


def vote(extracted: str | None) -> str | None:
    """The vote of an answer that a grader read, or did not."""
    return comparable(extracted) if extracted else None


def majority(turns: Sequence[Turn]) -> Answer:
    """The visible text of the earliest of the turns whose answer has the most votes."""
    votes = [vote(turn.extracted) for turn in turns]
    counted = Counter(one for one in votes if one is not None)
    if not counted:
        return answered(turns[0], "no vote: first turn")
    # Counter keeps the order of first votes, and max the first of equals.
    winner = max(counted, key=counted.__getitem__)
    tied = list(counted.values()).count(counted[winner]) > 1
    return answered(turns[votes.index(winner)], "tied vote: earliest" if tied else "majority vote")
