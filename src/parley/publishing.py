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


def part_message(output: Completion, span: tuple[int, int] | None, fallback: Fallback) -> Message:
    """Publishes one stretch of the visible text; falls back where nothing stands there."""
    start, end = span or (0, 0)
    if output.truncated_in_thinking or not output.visible[start:end].strip():
        return fall_back(output, fallback, "unparsed")
    status: Status = "truncated" if output.finish == "length" else "ok"
    kept = (Span(output=0, source="visible", start=start, end=end),)
    return Message(text=output.visible[start:end].strip(), status=status, kept=kept)


def record_message(
    output: Completion,
    data: Mapping[str, str],
    spans: Sequence[tuple[int, int]],
    status: Status = "ok",
    *,
    labels: bool = True,
) -> Message:
    """Publishes fields, one a line, with or without labels. `spans` say where the values stand.

    Written just as it is sent, the labels are published too; else only the values are.
    """
    if output.truncated_in_thinking:
        return Message(text="", status="truncated")
    text = "\n".join(f"{name}: {value}" if labels else value for name, value in data.items())
    if output.visible.strip() == text:
        spans = [(0, len(output.visible))]
    if output.finish == "length" and status == "ok":
        status = "truncated"
    kept = tuple(
        Span(output=0, source="visible", start=a, end=b) for a, b in sorted(set(spans)) if a < b
    )
    return Message(text=text, status=status, data=data, kept=kept)


def fall_back(output: Completion, fallback: Fallback, status: Status) -> Message:
    """The declared policy for an output without the wanted part. Reasoning is never sent.

    An output cut in its reasoning has no visible text, so both policies send nothing.
    """
    if output.truncated_in_thinking:
        return Message(text="", status="truncated")
    if fallback == "empty" or not output.visible.strip():
        return Message(text="", status=status)
    return replace(visible_message(output), status=status)
