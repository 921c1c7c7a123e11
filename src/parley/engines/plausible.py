"""Replies in the shape that a prompt asks for, drawn by the request's seed: no model behind them.

Good enough to run a whole study through: labelled lines where labels are asked for, a think block
where thinking is, facts copied from the prompt's own paragraphs. The answers are guesses.
"""

from __future__ import annotations

import re
from random import Random

import orjson

from parley.types import Request

_PARAGRAPH = re.compile(r"^\[([^\]\n]+)\] (.+)$", re.MULTILINE)
_ASKED = re.compile(r'"([A-Z][a-z]+):"|^([A-Z][a-z]+): (?:what|the) ', re.MULTILINE)
_TAIL = 1200
"""Characters at the prompt's end in which its instruction stands."""
_EARLY = 0.3
"""Share of turns that answer although they only may."""


def plausible(request: Request) -> str:
    """The raw output of a made-up seat; the same for the same request."""
    rng = Random(request.seed)
    text = request.messages[-1][1]
    found = _PARAGRAPH.findall(text) or [("nothing", "I have no paragraph about this.")]
    title, fact = rng.choice(found)
    guess = rng.choice([title, rng.choice(found)[0], "yes", "no"])
    values = {"Answer": guess, "Action": f"Check {title}.", "Evidence": title, "Candidate": guess}
    if request.schema is not None:
        names = request.schema.get("properties", {})
        shown = orjson.dumps({name: values.get(name, fact) for name in names}).decode()
    else:
        labels = _labels(text[-_TAIL:], rng)
        lines = [f"{label}: {values.get(label, fact)}" for label in labels]
        free = [] if labels and "Write only" in text[-_TAIL:] else [fact]
        shown = "\n".join([*free, *lines])
    if not request.thinking:
        return shown
    return f"<think>\nThe paragraph {title} says something. {fact}\n</think>\n\n{shown}"


def _labels(tail: str, rng: Random) -> list[str]:
    """The labels asked for, once each and in order."""
    labels = list(dict.fromkeys(quoted or line for quoted, line in _ASKED.findall(tail)))
    if "Answer" in labels and "final answer" not in tail and rng.random() > _EARLY:
        labels.remove("Answer")
    return labels
