"""Whether the agents of an episode end with the same answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parley.grading.answers import letter_answer, stated_words
from parley.grading.voting import vote

NAMED = ("nswer", "NSWER", "boxed", "fbox", "bbox")
"""What stands in a text that names something its answer."""
Record = Mapping[str, Any]


def disagreement(episode: Record) -> bool | None:
    """Whether two seats name different answers in what each of them wrote last, compared as
    votes are: an option by its letter. None where fewer than two seats name one, so that there is
    nothing to compare."""
    last = {turn["seat"]: turn["calls"][0] for turn in episode["turns"]}
    named = [call for call in last.values() if any(sign in call["visible"] for sign in NAMED)]
    if len(named) < 2:
        return None
    votes = [one for call in named if (one := vote(_stated(call, episode["options"])))]
    return len(set(votes)) > 1 if len(votes) > 1 else None


def _stated(call: Record, options: Sequence[str]) -> str | None:
    text, cut = call["visible"], call["finish"] == "length"
    if options:
        return letter_answer(text, options, truncated=cut).value
    return stated_words(text, truncated=cut)
