"""Reasoning told apart from visible text. Total: every text gives a result.

The other readers of model text are found here too: `parse_record`, `section`, `final_answer`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from parley.parsing.labels import final_answer, section
from parley.parsing.records import Record, parse_record

__all__ = ["Record", "Split", "final_answer", "parse_record", "section", "split_reasoning"]

_TAG = re.compile(r"<(?P<shut>/?)think(?:ing)?\s*>", re.IGNORECASE)
_ALONE = re.compile(r"^[ \t]*</think(?:ing)?\s*>[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_SCAN = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$|(?P<ticks>`+)|<(?P<shut>/?)think(?:ing)?\s*>",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A raw output told apart. `truncated_in_thinking`: it was cut before its thinking ended."""

    reasoning: str
    visible: str
    truncated_in_thinking: bool


_THOUGHT = re.compile(r"\s*(?:\*\*)?Thought:(?:\*\*)?(?P<thought>[^\n]*)", re.IGNORECASE)


def split_reasoning(
    text: str, *, reasoning: str = "", finish: str = "stop", opened: bool = False
) -> Split:
    """Tells the reasoning in `text` from its visible part.

    `text` is the content field and `reasoning` the server's own reasoning field, if it has one.
    `opened`: the chat template already wrote the opening tag, at the end of the prompt.

    What stands before a closing tag was thought, whether or not its opening tag is there; so was
    what follows an opening tag that nothing closes. Tags in back-ticks or code fences are text.
    A text that never closes what the template opened is reasoning where it was cut (`finish`
    other than "stop") and visible where the model ended it by itself: it did not think.
    """
    cut = finish != "stop"
    field = reasoning.strip()
    thinking = opened and not field
    tags = list(_tags(text, thinking)) if "<" in text else []
    if not cut and (_open(tags) or (thinking and not tags)):
        # The model ended by itself, so an unbalanced back-tick may hide the tag that closed.
        hidden = [m for m in _TAG.finditer(text, tags[-1].end() if tags else 0) if m["shut"]]
        tags += hidden[-1:]
    parts: list[str] = []
    shown: list[str] = []
    start, inside = 0, thinking and (bool(tags) or cut)
    for tag in tags:
        (parts if inside or tag["shut"] else shown).append(text[start : tag.start()])
        start, inside = tag.end(), not tag["shut"]
    (parts if inside else shown).append(text[start:])
    thoughts = [part.strip() for part in parts if part.strip()]
    if field and thoughts != [field]:
        thoughts.insert(0, field)
    visible = "".join(shown).strip()
    unfinished = inside or bool(field and not visible)
    return Split(
        reasoning="\n\n".join(thoughts),
        visible=visible,
        truncated_in_thinking=cut and unfinished,
    )


def split_thought(text: str, *, finish: str = "stop") -> Split:
    """Tells apart the reasoning of a model that is asked to think in a first line "Thought: ...".

    Such a model has no think tags of its own: small ones copy a label far better than a tag.
    Without the line all is visible; cut within the line, nothing is.
    """
    found = _THOUGHT.match(text)
    if not found:
        return Split(reasoning="", visible=text.strip(), truncated_in_thinking=False)
    visible = text[found.end() :].strip()
    return Split(
        reasoning=found["thought"].strip(),
        visible=visible,
        truncated_in_thinking=finish != "stop" and not visible,
    )


def split_output(
    text: str,
    *,
    prompted: bool,
    reasoning: str = "",
    finish: str = "stop",
    opened: bool = False,
) -> Split:
    """The way a model reasons decides: by think tags, or `prompted` in a first line."""
    split = split_reasoning(text, reasoning=reasoning, finish=finish, opened=opened)
    return (
        split_thought(split.visible, finish=finish) if prompted and not split.reasoning else split
    )


def _open(tags: list[re.Match[str]]) -> bool:
    return bool(tags) and not tags[-1]["shut"]


def _tags(text: str, thinking: bool) -> Iterator[re.Match[str]]:
    """The think tags that stand outside code, in order."""
    position = 0
    unclosed: set[str] = set()
    while match := _SCAN.search(text, position):
        position = match.end()
        if match["fence"]:
            position = _past_fence(text, match, thinking, unclosed)
        elif match["ticks"]:
            position = _past_ticks(text, match)
        else:
            thinking = not match["shut"]
            yield match


def _past_fence(text: str, fence: re.Match[str], thinking: bool, unclosed: set[str]) -> int:
    """Where the fenced block ends. One that nothing closes hides the rest of a visible text, up to
    a closing tag alone on its line; thinking it hides nothing of."""
    mark = fence["fence"]
    if mark[0] == "`" and "`" in fence["info"]:
        return _past_ticks(text, fence)
    closing = re.compile(rf"^[ \t]*{mark[0]}{{{len(mark)},}}[ \t\r]*$", re.MULTILINE)
    if mark not in unclosed and (found := closing.search(text, fence.end())):
        return found.end()
    unclosed.add(mark)
    if thinking:
        return fence.end("fence")
    alone = _ALONE.search(text, fence.end())
    return alone.start() if alone else len(text)


def _past_ticks(text: str, match: re.Match[str]) -> int:
    """Where inline code ends: the next equal run of back-ticks on the same line."""
    ticks = match["ticks"] or match["fence"]
    start = match.end("ticks") if match["ticks"] else match.end("fence")
    line = text.find("\n", start)
    closing = re.compile(rf"(?<!`){ticks}(?!`)").search(
        text, start, len(text) if line < 0 else line
    )
    return closing.end() if closing else start
