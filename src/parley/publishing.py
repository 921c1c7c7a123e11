"""What strategies share: publishing stretches of a raw output, and what is sent without any.

Pure. A strategy decides which stretches; these functions turn them into a message whose `kept`
spans tell the ledger which tokens were published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from parley.types import Completion, Message, Span, Status

Fallback = Literal["visible", "empty"]
"""What is sent when the wanted part of an output is missing: the whole visible text, or nothing."""


def visible_message(output: Completion, *, number: int = 0, status: Status = "ok") -> Message:
    """Publishes all visible text. Cut in thinking, or empty, it is `truncated` or `unparsed`."""
    if output.truncated_in_thinking:
        return Message(text="", status="truncated")
    if not output.visible.strip():
        return Message(text="", status="unparsed")
    if output.finish == "length" and status == "ok":
        status = "truncated"
    span = Span(output=number, source="visible", start=0, end=len(output.visible))
    return Message(text=output.visible, status=status, kept=(span,))


def part_message(
    output: Completion, spans: Sequence[tuple[int, int]], *, number: int = 0, joiner: str = "\n"
) -> Message:
    """Publishes the given stretches of the visible text, in order; at least one is needed."""
    text = joiner.join(output.visible[start:end].strip() for start, end in spans)
    status: Status = "truncated" if output.finish == "length" else "ok"
    kept = tuple(Span(output=number, source="visible", start=a, end=b) for a, b in spans)
    return Message(text=text, status=status, kept=kept)


def fall_back(output: Completion, fallback: Fallback, status: Status) -> Message:
    """The declared policy for an output without the wanted part. Reasoning is never sent.

    An output cut in its reasoning has no visible text, so both policies send nothing.
    """
    if output.truncated_in_thinking:
        return Message(text="", status="truncated")
    if fallback == "empty" or not output.visible.strip():
        return Message(text="", status=status)
    return replace(visible_message(output), status=status)


def with_data(message: Message, data: Mapping[str, str]) -> Message:
    """The same message with its fields attached."""
    return replace(message, data=data)
