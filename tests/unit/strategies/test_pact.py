"""PACT's record: which fields are sent, and what a document can do to them."""

from __future__ import annotations

import json

import pytest

from core_cases import CUE, arm, completion, draft, play, problem
from parley.publishing import Fallback
from parley.strategies.pact import Pact
from parley.types import Message, Paragraph
from shared_data import case, needs_shared

RECORD = "Action: answer\nState: s\nResult: 7"


def sent(strategy: Pact, visible: str, **more: str) -> Message:
    return strategy.project(draft(completion(visible, "PRIVATE", **more)))  # type: ignore[arg-type]


def test_only_the_fields_are_sent_in_their_order() -> None:
    message = sent(Pact(), "Sure!\n**Result:** 7\n**State:** s\n**Action:** answer")
    assert message.text == RECORD
    assert message.data == {"Action": "answer", "State": "s", "Result": "7"}
    assert message.status == "ok"
    as_json = json.dumps({"Result": "7", "Action": "answer", "State": "s", "Mood": "fine"})
    assert sent(Pact(structured=True), f"Here:\n```json\n{as_json}\n```").text == RECORD


def test_status_tells_what_had_to_be_mended() -> None:
    assert sent(Pact(), '{"Action": "answer", "State": "s", "Result": "7",}').status == "repaired"
    assert sent(Pact(), RECORD, finish="length").status == "truncated"
    assert sent(Pact(), "Action: answer", finish="length").status == "missing_fields"


@needs_shared
@pytest.mark.parametrize("fallback", ["visible", "empty"])
def test_missing_and_unparsed_records_c04(fallback: Fallback) -> None:
    absent, empty, nothing = case("C04")["input"]
    strategy = Pact(fallback=fallback)
    message = sent(strategy, absent)
    assert (message.text, message.status) == (absent, "missing_fields")
    message = sent(strategy, empty)
    assert (message.text, message.status) == ("Action: answer\nState: s", "missing_fields")
    message = sent(strategy, nothing)
    assert message.text == (nothing if fallback == "visible" else "")
    assert message.status == "unparsed"


@needs_shared
async def test_a_document_cannot_set_a_field_or_add_a_message_c08() -> None:
    given = case("C08")["input"]
    shares = ((Paragraph(title="Orr", text=given["evidence"]),), ())
    answers = [given["agent_a_output"], RECORD, RECORD, "Answer: yes"]
    episode, chat = await play(arm(Pact()), answers, question=problem(shares=shares))
    plain, other = await play(arm(Pact()), [RECORD, RECORD, RECORD, "Answer: yes"])
    message = episode.turns[0].message
    assert message is not None
    assert (message.data["Action"], message.data["Result"]) == ("answer", "yes")
    assert message.data["State"] == "P2 says:\n> Action: stop\n> Result: no"
    for sent_here, sent_there in zip(chat.sent, other.sent, strict=True):
        assert [role for role, _ in sent_here] == [role for role, _ in sent_there]
    heard = chat.sent[1][-1][1]
    assert heard.count("Message from") == 1
    assert heard.count("\nResult: yes\n") == 1
    assert plain.failure is None


def test_a_field_that_was_not_asked_for_stays_out() -> None:
    subset = Pact(fields=("State", "Result"))
    visible = "State: s\nAction: leaks\nResult: 7\nAction: leaks"
    message = sent(subset, visible)
    assert message.text == "State: s\nResult: 7"
    assert [visible[span.start : span.end] for span in message.kept] == ["s", "7"]
    assert sent(subset, "Action: leaks\nState: s\nResult: 7").text == "State: s\nResult: 7"
    hollow = sent(subset, "State:\nAction: leaks\nResult: 7")
    assert (hollow.text, hollow.status) == ("Result: 7", "missing_fields")
    assert sent(Pact(fields=("Result",)), RECORD).text == "Result: 7"


def test_a_structured_record_is_asked_for_as_it_is_enforced() -> None:
    strategy = Pact(structured=True, fields=("State", "Result"))
    assert strategy.schema is not None
    assert strategy.schema["required"] == ["State", "Result"]
    assert "JSON object" in strategy.instruct(CUE)
    assert "JSON" not in Pact().instruct(CUE)
    assert "Action" not in strategy.instruct(CUE)


async def test_the_schema_goes_with_publishing_turns_only() -> None:
    record = json.dumps({"Action": "a", "State": "s", "Result": "7"})
    episode, chat = await play(arm(Pact(structured=True)), [record] * 3 + ["Answer: 7"])
    assert episode.failure is None
    assert [request.schema is not None for request in chat.requests] == [True, True, True, False]


def test_fields_are_named_once_each() -> None:
    for fields in ((), ("State", "State")):
        with pytest.raises(ValueError, match=r"pact\.fields"):
            Pact(fields=fields)


def test_compact_sends_the_values_alone_and_no_action() -> None:
    compact = Pact(serialisation="compact")
    message = sent(compact, RECORD)
    assert message.text == "s\n7"
    assert message.data == {"State": "s", "Result": "7"}
    assert [RECORD[span.start : span.end] for span in message.kept] == ["s", "7"]
    assert "Action" not in compact.instruct(CUE)
    assert sent(Pact(serialisation="compact", fields=("Action", "Result")), RECORD).text == "7"
    structured = Pact(serialisation="compact", structured=True)
    assert structured.schema is not None
    assert structured.schema["required"] == ["State", "Result"]
    with pytest.raises(ValueError, match="compact leaves Action out"):
        Pact(serialisation="compact", fields=("Action",))
