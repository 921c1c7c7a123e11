"""PACT: a public action-state record of Action, State and Result (arXiv 2606.05304)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from parley.parsing import parse_record
from parley.parsing.labels import labelled
from parley.prompt import fill
from parley.publishing import Fallback, fall_back, record_message
from parley.types import Cue, Demo, Draft, Message, Status

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
    serialisation: Literal["explicit", "compact"] = "explicit"
    """`explicit`: every field is asked for and sent, each in a line with its label. `compact`: a
    fixed order of roles implies the action, so Action is neither asked for nor sent, and the other
    fields are sent without their labels, one a line, in their order."""
    fallback: Fallback = "visible"
    """What is sent when no field can be read. A record with some of its fields sends those."""
    answer_thinks: bool = True
    """Whether the answering turn reasons."""

    def __post_init__(self) -> None:
        if not self.fields or len(set(self.fields)) < len(self.fields):
            raise ValueError("pact.fields names at least one of Action, State, Result, each once")
        if not self._asked:
            raise ValueError("pact.serialisation=compact leaves Action out: name another field")

    @property
    def _asked(self) -> tuple[Field, ...]:
        """The fields that are asked for and sent."""
        compact = self.serialisation == "compact"
        return tuple(name for name in self.fields if not (compact and name == "Action"))

    @property
    def schema(self) -> Mapping[str, Any] | None:
        if not self.structured:
            return None
        return {
            "type": "object",
            "properties": {name: {"type": "string"} for name in self._asked},
            "required": list(self._asked),
            "additionalProperties": False,
        }

    def instruct(self, cue: Cue) -> str:
        head = "speak_pact_json" if self.structured else "speak_pact"
        return "\n".join(map(fill, (head, *(f"pact_{name.lower()}" for name in self._asked))))

    def project(self, draft: Draft) -> Message:
        output = draft.outputs[0]
        record = parse_record(output.visible, self._asked)
        # A field that was not asked for ends the one above it, so that an ablated field stays out.
        data = {name: self._own(value) for name, value in record.data.items()}
        data = {name: value for name, value in data.items() if value}
        if not data:
            return fall_back(output, self.fallback, "unparsed")
        spans = [(a, a + len(self._own(output.visible[a:b]))) for a, b in record.spans]
        status: Status = record.status if len(data) == len(record.data) else "missing_fields"
        labels = self.serialisation == "explicit"
        return record_message(output, data, spans, status, labels=labels)

    def _own(self, value: str) -> str:
        others = tuple(name for name in get_args(Field) if name not in self._asked)
        found = labelled(value, others) if others else []
        return value[: found[0].start].rstrip() if found else value

    def example(self, demo: Demo, cue: Cue) -> str:
        values = {"Action": demo.need, "State": demo.fact, "Result": demo.result}
        chosen = {name: values[name] for name in self._asked}
        if self.structured:
            return json.dumps(chosen, ensure_ascii=False)
        return "\n".join(f"{name}: {value}" for name, value in chosen.items())
