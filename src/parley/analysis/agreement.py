"""Whether the agents of an episode end with the same answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parley.grading.answers import stated_answer
from parley.grading.voting import votes_of

NAMED = ("nswer", "NSWER", "boxed", "fbox", "bbox")
"""What stands in a text that names something its answer."""
Record = Mapping[str, Any]


def disagreement(episode: Record) -> bool | None:
    """Whether two seats name different answers in what each of them wrote last, read as votes are;
    None where fewer than two seats name one, so that there is nothing to compare."""
    last = {turn["seat"]: turn["calls"][0] for turn in episode["turns"]}
    named = [call for call in last.values() if any(sign in call["visible"] for sign in NAMED)]
    if len(named) < 2:
        return None
    stated = (stated_answer(c["visible"], truncated=c["finish"] == "length") for c in named)
    votes = [vote for vote in votes_of(list(stated)) if vote is not None]
    return len(set(votes)) > 1 if len(votes) > 1 else None
