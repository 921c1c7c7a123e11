"""Artifact only: the role's work product, without action, state or preamble."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from parley.parsing import section
from parley.prompt import fill
from parley.publishing import Fallback, fall_back, part_message, record_message
from parley.types import Cue, Demo, Draft, Message, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """Only what the role is there to produce: with split evidence, the surfaced fact.

    It is sent without its label; beside evidence or a candidate each has a labelled line.
    """

    thinks: ClassVar[bool] = True
    max_asks: ClassVar[int] = 0
    schema: ClassVar[None] = None

    evidence: bool = False
    """Also the source that the product rests on; off, since that is what PACT adds as State."""
    candidate: bool = False
    """Also a candidate answer; off, since one shown upstream attracts the later answer."""
    fallback: Fallback = "visible"
    """What is sent when the product is not headed by its label."""
    answer_thinks: bool = True
    """Whether the answering turn reasons."""

    def _labels(self, cue: Cue) -> tuple[str, ...]:
        extra = (("Evidence", self.evidence), ("Candidate", self.candidate))
        return (cue.seat.label, *(label for label, wanted in extra if wanted))

    def instruct(self, cue: Cue) -> str:
        lines = [fill("speak_artifact", product=cue.seat.product, label=cue.seat.label)]
        lines += [fill("speak_artifact_evidence")] if self.evidence else []
        lines += [fill("speak_artifact_candidate")] if self.candidate else []
        return "\n".join(lines)

    def project(self, draft: Draft) -> Message:
        output, labels = draft.outputs[0], self._labels(draft.cue)
        stops = (*labels, "Evidence", "Candidate", "Answer")
        spans = [section(output.visible, label, stops) or (0, 0) for label in labels]
        values = [output.visible[start:end] for start, end in spans]
        data = {label: value for label, value in zip(labels, values, strict=True) if value}
        if not values[0] or output.truncated_in_thinking:
            return fall_back(output, self.fallback, "unparsed")
        if len(labels) == 1:
            return replace(part_message(output, spans[0], self.fallback), data=data)
        written = [(start, end) for start, end in spans if start < end]
        status: Status = "ok" if len(data) == len(labels) else "missing_fields"
        return record_message(output, data, written, status)

    def example(self, demo: Demo, cue: Cue) -> str:
        values = {cue.seat.label: demo.fact, "Evidence": demo.evidence, "Candidate": demo.answer}
        return "\n".join(f"{label}: {values[label] or 'unknown'}" for label in self._labels(cue))
