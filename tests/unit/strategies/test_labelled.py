"""Conclusion, summary, artifact and full: which part of an output becomes the message."""

from __future__ import annotations

import pytest

from core_cases import CUE, completion, draft
from parley.protocols import Strategy
from parley.publishing import Fallback
from parley.strategies.artifact import Artifact
from parley.strategies.concise import Concise
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.strategies.summary import Summary
from parley.types import Ask, Message, Span


def sent(strategy: Strategy, visible: str, reasoning: str = "PRIVATE") -> Message:
    message = strategy.project(draft(completion(visible, reasoning)))
    assert isinstance(message, Message)
    return message


def stretches(message: Message, visible: str) -> list[str]:
    return [visible[span.start : span.end] for span in message.kept]


def test_full_sends_reasoning_and_visible_text_as_text() -> None:
    message = sent(Full(), "It is 7.", "So\n\nseven.")
    assert message.text == "So\n\nseven.\nIt is 7."
    assert message.kept == (
        Span(output=0, source="reasoning", start=0, end=10),
        Span(output=0, source="visible", start=0, end=8),
    )
    assert sent(Full(), "", "So").text == "So"
    assert sent(Full(), "", "") == Message(text="", status="unparsed")


def test_without_thinking_full_is_concise() -> None:
    assert sent(Full(thinks=False), "It is 7.", "") == sent(Concise(), "It is 7.", "")
    assert Full(thinks=False).instruct(CUE) == Concise().instruct(CUE)


def test_conclusion_has_the_words_of_full_unless_it_is_final() -> None:
    assert Conclusion().instruct(CUE) == Full().instruct(CUE)
    assert Conclusion(portion="final").instruct(CUE) != Full().instruct(CUE)
    assert sent(Conclusion(), "It is 7.").text == "It is 7."


@pytest.mark.parametrize(
    ("strategy", "label"),
    [(Conclusion(portion="final"), "Conclusion"), (Summary(), "Summary"), (Artifact(), "Fact")],
)
def test_the_last_labelled_part_is_sent(strategy: Strategy, label: str) -> None:
    visible = f"{label}: no\nWords.\n**{label}:** It is 7."
    message = sent(strategy, visible)
    assert (message.text, message.status) == ("It is 7.", "ok")
    assert stretches(message, visible) == ["It is 7."]
    other = sent(strategy, "It is 7.")
    assert (other.text, other.status) == ("It is 7.", "unparsed")
    for empty in (f"{label}:", f"Words.\n{label}: \n"):
        message = sent(strategy, empty)
        assert (message.text, message.status) == (empty, "unparsed"), "no '' as if it were one"


@pytest.mark.parametrize("fallback", ["visible", "empty"])
def test_the_fallback_is_declared(fallback: Fallback) -> None:
    text = "no labels" if fallback == "visible" else ""
    for strategy in (
        Conclusion(portion="final", fallback=fallback),
        Summary(fallback=fallback),
        Artifact(fallback=fallback),
        Artifact(fallback=fallback, evidence=True),
    ):
        message = sent(strategy, "no labels")
        assert (message.text, message.status) == (text, "unparsed")


def test_a_summary_by_call_asks_once() -> None:
    strategy = Summary(by="call")
    speech = completion("A long draft.", "PRIVATE")
    ask = strategy.project(draft(speech))
    assert isinstance(ask, Ask)
    assert (ask.kind, ask.thinking, strategy.max_asks) == ("summary", False, 1)
    message = strategy.project(draft(speech, completion("Short.")))
    kept = (Span(output=1, source="visible", start=0, end=6),)
    assert message == Message(text="Short.", kept=kept)
    silent = strategy.project(draft(speech, completion("", finish="length")))
    assert silent == Message(text="", status="unparsed")


def test_a_draft_without_text_is_not_summed_up() -> None:
    strategy = Summary(by="call")
    cut = completion("", "PRIVATE", finish="length", truncated=True)
    assert strategy.project(draft(cut)) == Message(text="", status="truncated")
    assert strategy.project(draft(completion("", "P"))) == Message(text="", status="unparsed")


VISIBLE = "Well.\nFact: Ann wrote Orr.\nEvidence: Orr\nCandidate: Ann\nAnswer: Ann"


def test_an_artifact_is_the_product_alone() -> None:
    message = sent(Artifact(), VISIBLE)
    assert (message.text, message.data) == ("Ann wrote Orr.", {"Fact": "Ann wrote Orr."})
    assert stretches(message, VISIBLE) == ["Ann wrote Orr."]


def test_an_artifact_with_more_is_labelled() -> None:
    both = Artifact(evidence=True, candidate=True)
    message = sent(both, VISIBLE)
    assert message.text == "Fact: Ann wrote Orr.\nEvidence: Orr\nCandidate: Ann"
    assert message.data == {"Fact": "Ann wrote Orr.", "Evidence": "Orr", "Candidate": "Ann"}
    assert stretches(message, VISIBLE) == ["Ann wrote Orr.", "Orr", "Ann"]
    assert sent(Artifact(candidate=True), VISIBLE).text == "Fact: Ann wrote Orr.\nCandidate: Ann"
    alone = sent(both, "Fact: Ann wrote Orr.")
    assert (alone.text, alone.status) == ("Fact: Ann wrote Orr.", "missing_fields")
    assert sent(both, "Evidence: Orr").status == "unparsed"


def test_the_label_is_the_seats() -> None:
    assert '"Fact:"' in Artifact().instruct(CUE)
    assert Artifact(evidence=True).instruct(CUE).count("\n") == 1
