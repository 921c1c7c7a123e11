"""Full content: reasoning and visible text, all of it, as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parley.prompt import fill
from parley.types import Cue, Demo, Draft, Message, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Full:
    """Forwards everything a seat generated.

    Reasoning is sent as plain text without think tags, so that no chat template and no tokenizer
    drops or reinterprets it.
    """

    max_asks: ClassVar[int] = 0
    schema: ClassVar[None] = None

    thinks: bool = True
    """Whether publishing turns reason; without reasoning this arm equals `concise`."""
    answer_thinks: bool = True
    """Whether the answering turn reasons; true in the paper for every arm but `concise`."""

    def instruct(self, cue: Cue) -> str:
        return fill("speak_free", product=cue.seat.product)

    def project(self, draft: Draft) -> Message:
        output = draft.outputs[0]
        parts = [("reasoning", output.reasoning), ("visible", output.visible)]
        kept = tuple(
            Span(output=0, source=source, start=0, end=len(text))  # type: ignore[arg-type]
            for source, text in parts
            if text.strip()
        )
        text = "\n".join(text.strip() for _, text in parts if text.strip())
        if not text:
            return Message(text="", status="unparsed")
        return Message(
            text=text, status="truncated" if output.finish == "length" else "ok", kept=kept
        )

    def example(self, demo: Demo, cue: Cue) -> str:
        return demo.fact
