"""PACT: a public action-state record of Action, State and Result (arXiv 2606.05304)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from parley.parsing import parse_record
from parley.prompt import fill
from parley.publishing import Fallback, fall_back
from parley.types import Cue, Demo, Draft, Message, Span, Status

Field = Literal["Action", "State", "Result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pact:
    """Only the record's fields enter the shared history, one labelled line each.

    The paper's released code merely strips the reasoning and forwards the rest. Here the record
    is parsed, so that text around the fields is really left out and a malformed record is seen.
    """

    thinks: ClassVar[bool] = True
    max_asks: ClassVar[int] = 0

    fields: tuple[Field, ...] = ("Action", "State", "Result")
    """The fields that are asked for and sent, in this order; a subset for the field ablation."""
    structured: bool = False
    """Whether the engine's structured output enforces the record as JSON. Off: the paper prompts
    only, and some servers apply a schema to the reasoning as well."""
    fallback: Fallback = "visible"
    """What is sent when no field can be read. A record with some of its fields sends those."""
    answer_thinks: bool = True
    """Whether the answering turn reasons."""

    def __post_init__(self) -> None:
        if not self.fields or len(set(self.fields)) < len(self.fields):
            raise ValueError("pact.fields names at least one of Action, State, Result, each once")

    @property
    def schema(self) -> Mapping[str, Any] | None:
        if not self.structured:
            return None
        return {
            "type": "object",
            "properties": {name: {"type": "string"} for name in self.fields},
            "required": list(self.fields),
            "additionalProperties": False,
        }

    def instruct(self, cue: Cue) -> str:
        lines = [f"pact_{name.lower()}" for name in self.fields]
        return "\n".join(fill(name) for name in ("speak_pact", *lines))

    def project(self, draft: Draft) -> Message:
        output = draft.outputs[0]
        record = parse_record(output.visible, self.fields)
        data: dict[str, str] = {
            name: record.data[name] for name in self.fields if record.data.get(name)
        }
        if not data:
            return fall_back(output, self.fallback, "unparsed")
        status: Status = record.status
        if output.finish == "length" and status == "ok":
            status = "truncated"
        text = "\n".join(f"{name}: {value}" for name, value in data.items())
        # Written just as it is sent, the labels are published too; else only the values are.
        as_sent = output.visible.strip() == text
        spans = [(0, len(output.visible))] if as_sent else sorted(set(record.spans))
        kept = tuple(Span(output=0, source="visible", start=a, end=b) for a, b in spans)
        return Message(text=text, status=status, data=data, kept=kept)

    def example(self, demo: Demo, cue: Cue) -> str:
        values = {"Action": demo.need, "State": demo.fact, "Result": demo.result}
        return "\n".join(f"{name}: {values[name]}" for name in self.fields)
