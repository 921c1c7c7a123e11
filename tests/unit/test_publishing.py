"""Publishing stretches of a raw output: what is sent, why, and which characters of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_cases import completion
from parley.publishing import Fallback, fall_back, part_message, record_message, visible_message
from parley.types import Completion, Message, Span

POLICIES: tuple[Fallback, ...] = ("visible", "empty")


def cut(visible: str = "") -> Completion:
    """Cut short while it was still thinking."""
    return completion(visible, "PRIVATE", finish="length", truncated=True)


def whole(output: Completion) -> tuple[Span, ...]:
    return (Span(output=0, source="visible", start=0, end=len(output.visible)),)


def test_all_visible_text() -> None:
    output = completion("It is 7.", "PRIVATE")
    assert visible_message(output) == Message(text="It is 7.", kept=whole(output))
    second = visible_message(output, number=1)
    assert [span.output for span in second.kept] == [1]


def test_what_is_wrong_with_a_visible_text_is_said() -> None:
    assert visible_message(completion("It is", finish="length")).status == "truncated"
    assert visible_message(completion(" \n")) == Message(text="", status="unparsed")
    assert visible_message(cut("Sure.")) == Message(text="", status="truncated")


@pytest.mark.parametrize("fallback", POLICIES)
def test_an_output_cut_in_thinking_sends_nothing(fallback: Fallback) -> None:
    for output in (cut(), cut("Sure.")):
        nothing = Message(text="", status="truncated")
        assert fall_back(output, fallback, "unparsed") == nothing
        assert part_message(output, None, fallback) == nothing
        assert part_message(output, (0, 5), fallback) == nothing
        assert record_message(output, {"State": "Sure."}, [(0, 5)]) == nothing


def test_the_policy_decides_what_is_sent_without_the_wanted_part() -> None:
    output = completion("no labels", "PRIVATE")
    assert fall_back(output, "empty", "unparsed") == Message(text="", status="unparsed")
    sent = Message(text="no labels", status="unparsed", kept=whole(output))
    assert fall_back(output, "visible", "unparsed") == sent
    assert part_message(output, None, "visible") == sent


def test_a_label_with_nothing_behind_it_is_no_part_c04() -> None:
    output = completion("Summary:")
    assert part_message(output, (8, 8), "visible").text == "Summary:"
    assert part_message(output, (8, 8), "visible").status == "unparsed"
    assert part_message(output, (8, 8), "empty") == Message(text="", status="unparsed")


def test_a_part_is_sent_without_what_surrounds_it() -> None:
    output = completion("So.\nSummary: It is 7. ", finish="stop")
    message = part_message(output, (13, 22), "visible")
    assert (message.text, message.status) == ("It is 7.", "ok")
    assert message.kept == (Span(output=0, source="visible", start=13, end=22),)
    short = completion("Summary: It is", finish="length")
    assert part_message(short, (9, 14), "visible").status == "truncated"


def test_a_record_published_as_it_was_written_publishes_its_labels() -> None:
    data = {"State": "s", "Result": "7"}
    as_sent = record_message(completion("State: s\nResult: 7\n"), data, [(7, 8), (17, 18)])
    assert as_sent.text == "State: s\nResult: 7"
    assert [(span.start, span.end) for span in as_sent.kept] == [(0, 19)]
    reworded = record_message(completion("**State:** s\nResult: 7"), data, [(21, 22), (11, 12)])
    assert reworded.text == as_sent.text
    assert [(span.start, span.end) for span in reworded.kept] == [(11, 12), (21, 22)]
    assert (reworded.data, reworded.status) == (data, "ok")


def test_a_records_status() -> None:
    short = completion("State: s\nResult: 7 an", finish="length")
    data = {"State": "s", "Result": "7 an"}
    assert record_message(short, data, []).status == "truncated"
    assert record_message(short, data, [], "missing_fields").status == "missing_fields"
    assert record_message(completion("x"), data, [], "repaired").status == "repaired"


@given(
    st.text(),
    st.text(),
    st.sampled_from(["stop", "length", "repetition"]),
    st.booleans(),
    st.sampled_from(POLICIES),
    st.data(),
)
def test_what_is_sent_stands_in_the_visible_text(
    visible: str,
    reasoning: str,
    finish: str,
    truncated: bool,
    fallback: Fallback,
    data: st.DataObject,
) -> None:
    output = completion(visible, reasoning, finish=finish, truncated=truncated)
    start, end = sorted(data.draw(st.integers(0, len(visible))) for _ in range(2))
    for message in (
        visible_message(output),
        fall_back(output, fallback, "unparsed"),
        part_message(output, (start, end), fallback),
    ):
        published = "".join(visible[span.start : span.end] for span in message.kept)
        assert message.text.strip() == published.strip()
        assert bool(message.text) is bool(message.kept)
        assert not (truncated and message.text)
