"""The majority of several answers.

A vote is what a turn's visible text states as its answer, read as the graders of
`parley.grading.answers` read it: in a box, behind a label, after "the answer is". Votes are the
same when `comparable` makes the same of them; "(C) gold" and "C" are the same where another vote is
the letter alone. A turn that states no answer has no vote; nor has the unfinished last line of a
turn that was cut short. The words of an option and its letter are two votes: nobody here knows the
options.

Ties: of the answers with the most votes, the one given by the earliest turn wins. Where nobody
votes, the first turn stands, and the benchmark reads it as it reads any answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from parley.grading import normalise
from parley.grading.answers import stated_answer
from parley.grading.options import unprefixed
from parley.grading.wrappers import integer
from parley.schedule import answered
from parley.types import Answer, Turn

_LETTERED = re.compile(r"[(\[*]{0,3}(?P<letter>[A-Z])(?:[)\].:,*]+| +[-–—])\s")
_SIGNS = re.compile(r"[\d\\^=+*/<>−-]")
_LOOSE = re.compile(r"(?<=\W) | (?=\W)")
_STYLE = re.compile(r"\\(?:text|math)(?:bf|rm|it|sf|tt)?(?![A-Za-z])")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]{2,}")


def comparable(value: str) -> str | None:
    """An answer in the form in which answers are the same; None where nothing is left of it.

    Quotes, Markdown and TeX around all of it fall away: "\\text{B}" is "b". Integers are digits
    without leading zeros and grouping. A formula or another number only loses white space beside
    its signs: what stands between its digits matters. Words are normalised as
    `parley.grading.normalise` does; those that are articles ("A") count by their letters.
    """
    text = unprefixed(value) or value
    if (whole := integer(text)) is not None:
        return whole
    text = _STYLE.sub("", text)
    if _SIGNS.search(text) and not _WORD.search(_COMMAND.sub("", text)):
        return _LOOSE.sub("", " ".join(text.split()))
    return normalise(text) or "".join(filter(str.isalnum, text.lower())) or None


def votes_of(texts: Sequence[str | None]) -> list[str | None]:
    """Stated answers as votes: comparable, and a letter with words behind it as the letter where
    another vote is that letter alone."""
    votes = [None if text is None else comparable(text) for text in texts]
    letters = {vote for vote in votes if vote and len(vote) == 1 and vote.isalpha()}
    for place, text in enumerate(texts):
        led = _LETTERED.match(unprefixed(text)) if text and letters else None
        if led and led["letter"].lower() in letters:
            votes[place] = led["letter"].lower()
    return votes


def majority(turns: Sequence[Turn]) -> Answer:
    """The visible text of the earliest of the turns whose answer has the most votes."""
    votes = votes_of([_stated(turn) for turn in turns])
    counted = Counter(vote for vote in votes if vote is not None)
    if not counted:
        return answered(turns[0], "no vote: first turn")
    # Counter keeps the order of first votes, and max the first of equals.
    winner = max(counted, key=counted.__getitem__)
    tied = list(counted.values()).count(counted[winner]) > 1
    return answered(turns[votes.index(winner)], "tied vote: earliest" if tied else "majority vote")


def _stated(turn: Turn) -> str | None:
    answer = answered(turn, "")
    return stated_answer(answer.text, truncated=answer.truncated)
