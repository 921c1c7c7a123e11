"""The majority of several answers.

A vote is the value after the last "Answer:" label of a turn's visible text, or the last \\boxed{}
where there is no label. Votes are the same when they agree after `parley.grading.normalise`; one
that normalises to nothing ("A" is an article there) is compared by its letters and digits. A turn
without an answer has no vote.

Ties: of the answers with the most votes, the one given by the earliest turn wins. Where nobody
votes, the first turn stands, and the benchmark reads it as it reads any answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from parley.grading import normalise
from parley.parsing import final_answer
from parley.schedule import answered
from parley.types import Answer, Turn

_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")


def vote_of(text: str) -> str | None:
    """A turn's vote in the form in which votes are compared; None without an answer."""
    said = final_answer(text) or text
    boxed = _BOXED.findall(said)
    if boxed:
        said = boxed[-1]
    elif said is text:
        return None
    return normalise(said) or "".join(filter(str.isalnum, said.lower())) or None


def majority(turns: Sequence[Turn]) -> Answer:
    """The visible text of the earliest of the turns whose answer has the most votes."""
    votes = [vote_of(turn.visible) for turn in turns]
    counted = Counter(vote for vote in votes if vote is not None)
    if not counted:
        return answered(turns[0], "no vote: first turn")
    # Counter keeps the order of first votes, and max the first of equals.
    winner = max(counted, key=counted.__getitem__)
    tied = list(counted.values()).count(counted[winner]) > 1
    return answered(turns[votes.index(winner)], "tied vote: earliest" if tied else "majority vote")
