"""Reasoning told apart from visible text; the reported cases of kind B are the truth."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.parsing import Split, final_answer, split_output, split_reasoning
from shared_data import case, needs_shared


def split_case(item: dict[str, Any]) -> Split:
    return split_reasoning(
        item["text"],
        finish=item.get("finish_reason", "stop"),
        opened=bool(item.get("think_in_prompt", False)),
    )


@needs_shared
def test_only_the_closing_tag_b01() -> None:
    for opened in (True, False):
        split = split_reasoning(case("B01")["input"], opened=opened)
        assert split.reasoning == "Count the rows, so 12."
        assert split.visible == "Answer: 12"
        assert not split.truncated_in_thinking


@needs_shared
def test_cut_in_thinking_b02() -> None:
    tagged, bare = case("B02")["input"]
    for item, reasoning in ((tagged, "First we note"), (bare, "First we note that the sum")):
        split = split_case(item)
        assert split == Split(reasoning=reasoning, visible="", truncated_in_thinking=True)


@needs_shared
def test_tags_in_code_are_text_b03() -> None:
    text = case("B03")["input"]
    assert split_reasoning(text) == Split(reasoning="", visible=text, truncated_in_thinking=False)


@needs_shared
def test_several_blocks_b05() -> None:
    several, unclosed, upper = case("B05")["input"]
    split = split_reasoning(several)
    assert (split.reasoning, split.visible) == ("a\n\nb", "Part one. Part two.")
    split = split_case(unclosed)
    assert (split.reasoning, split.visible) == ("hmm, maybe", "Sure.")
    assert split.truncated_in_thinking
    split = split_reasoning(upper)
    assert (split.reasoning, split.visible) == ("a", "ok")


@needs_shared
def test_server_field_or_tags_b06() -> None:
    for item in case("B06")["input"]:
        field = item.get("reasoning") or item.get("reasoning_content") or ""
        split = split_reasoning(item["content"], reasoning=field)
        assert (split.reasoning, split.visible) == ("R", "4")


@needs_shared
def test_soft_switch_b08() -> None:
    empty, ignored = case("B08")["input"]
    assert split_case(empty) == Split(
        reasoning="", visible="Answer: B", truncated_in_thinking=False
    )
    split = split_case(ignored)
    assert (split.reasoning, split.visible) == ("well...", "Answer: B")


@needs_shared
def test_boxed_in_reasoning_is_not_visible_a06() -> None:
    closed, cut, plain = case("A06")["input"]
    assert split_reasoning(closed).visible == "Final: \\boxed{18}"
    assert split_case(cut) == Split(
        reasoning="so \\boxed{81} looks right, let me re-ch",
        visible="",
        truncated_in_thinking=True,
    )
    assert split_reasoning(plain).visible == "Final: 18"


@needs_shared
def test_empty_and_unfinished_visible_text_a05() -> None:
    for output in case("A05")["input"]["outputs"]:
        item = {"text": output or ""} if not isinstance(output, dict) else output
        split = split_case(item)
        assert split.visible == item["text"]
        assert not split.truncated_in_thinking


@needs_shared
def test_no_content_but_reasoning_d05() -> None:
    item = case("D05")["input"]
    split = split_reasoning(
        item["content"] or "", reasoning=item["reasoning"], finish=item["finish_reason"]
    )
    assert split == Split(reasoning="...", visible="", truncated_in_thinking=True)


@pytest.mark.parametrize(
    ("text", "options", "reasoning", "visible"),
    [
        # Both names, spaces in the tag, nested and doubled tags.
        ("<Thinking>a</thinking >ok", {}, "a", "ok"),
        ("<think>a <think>b</think> c</think>ok", {}, "a\n\nb\n\nc", "ok"),
        ("<think>a</think></think>ok", {}, "a", "ok"),
        ("<think>I must not write <think> again</think>ok", {}, "I must not write\n\nagain", "ok"),
        ("Is <thinker> a tag? <b>No</b>", {}, "", "Is <thinker> a tag? <b>No</b>"),
        # The template opened, and the model opens again.
        ("<think>a</think>ok", {"opened": True}, "a", "ok"),
        # The template opened and the model ended without a tag: it did not think.
        ("Answer: 4", {"opened": True}, "", "Answer: 4"),
        ("first", {"opened": True, "finish": "repetition"}, "first", ""),
        # A parser on the server took the reasoning out: what is left is visible, cut or not.
        ("Answer: 4", {"opened": True, "reasoning": "R", "finish": "length"}, "R", "Answer: 4"),
        ("<think>R</think>4", {"reasoning": "R"}, "R", "4"),
        ("<think>b</think>4", {"reasoning": "a"}, "a\n\nb", "4"),
        # Code inside the thinking hides nothing that is not code.
        ("<think>the `</think>` tag</think>ok", {}, "the `</think>` tag", "ok"),
        ("<think>run\n```\nx = 1\n</think>\nok", {}, "run\n```\nx = 1", "ok"),
        ("<think>run\n```\nx\n</think>\nSee\n```\ny\n```", {}, "run\n```\nx", "See\n```\ny\n```"),
        ("<think>a ` b</think>use `x`", {}, "a ` b", "use `x`"),
        ("run\n```\nx = 1\n</think>\nok", {}, "run\n```\nx = 1", "ok"),
        ("```\n</think>\n```\nAnswer: 4", {}, "", "```\n</think>\n```\nAnswer: 4"),
        ("~~~xml\n<think>\n~~~\nok", {}, "", "~~~xml\n<think>\n~~~\nok"),
        ("ok\n```\n<think> cut", {"finish": "length"}, "", "ok\n```\n<think> cut"),
        ("``a ` <think> `` ok", {}, "", "``a ` <think> `` ok"),
        ("", {}, "", ""),
        ("<think></think>", {"finish": "length"}, "", ""),
    ],
)
def test_rules(text: str, options: dict[str, Any], reasoning: str, visible: str) -> None:
    split = split_reasoning(text, **options)
    assert (split.reasoning, split.visible) == (reasoning, visible)


def test_truncation_needs_a_cut_inside_thinking() -> None:
    assert split_reasoning("<think>a", finish="length").truncated_in_thinking
    assert not split_reasoning("<think>a", finish="stop").truncated_in_thinking
    assert not split_reasoning("<think>a</think>b", finish="length").truncated_in_thinking
    assert not split_reasoning("b", finish="length").truncated_in_thinking
    assert split_reasoning("", finish="length", opened=True).truncated_in_thinking
    assert not split_reasoning("", finish="stop", reasoning="R").truncated_in_thinking


PIECES = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "<THINKING>", "</thinking>", "`", "```", "~~~", "\n", " ", "a",
         "Answer: 4", "`<think>`", "```\n</think>\n```\n", "é", "\u2028", "{", "}"]
    ),
    max_size=14,
).map("".join)  # fmt: skip
TAG = re.compile(r"</?think(?:ing)?\s*>", re.IGNORECASE)


def solid(text: str) -> str:
    return "".join(text.split())


@given(
    text=st.one_of(st.text(), PIECES),
    reasoning=st.one_of(st.just(""), st.text(max_size=8)),
    finish=st.sampled_from(["stop", "length", "repetition", ""]),
    opened=st.booleans(),
)
def test_total_and_stable(text: str, reasoning: str, finish: str, opened: bool) -> None:
    split = split_reasoning(text, reasoning=reasoning, finish=finish, opened=opened)
    assert split.visible == split.visible.strip()
    assert split.reasoning == split.reasoning.strip()
    if split.truncated_in_thinking:
        assert finish != "stop"


@given(
    pieces=st.lists(
        st.sampled_from(
            ["<think>", "</think>", "<Thinking>", "</THINKING>", "a ", "b\n", " c", "é"]
        ),
        max_size=12,
    ),
    finish=st.sampled_from(["stop", "length"]),
    opened=st.booleans(),
)  # fmt: skip
def test_nothing_is_lost(pieces: list[str], finish: str, opened: bool) -> None:
    text = "".join(pieces)
    split = split_reasoning(text, finish=finish, opened=opened)
    assert not TAG.search(split.reasoning + " " + split.visible)
    kept = sorted(solid(split.reasoning) + solid(split.visible))
    assert kept == sorted(solid(TAG.sub("", text)))


@given(before=st.text("ab \n", max_size=9), visible=st.text("cd \n", max_size=9))
def test_closing_tag_alone_decides(before: str, visible: str) -> None:
    split = split_reasoning(f"{before}</think>{visible}", opened=True)
    assert (split.reasoning, split.visible) == (before.strip(), visible.strip())


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer: 12", "12"),
        ("Answer seems to be B.\n\nAnswer: B", "B"),
        ("Answer: A ... on reflection.\nAnswer: C", "C"),
        ("**Answer:** 12", "12"),
        ("**Answer: 12**", "12"),
        ("**Final Answer**: **12**", "12"),
        ("### Final answer\n\n12\nbecause", "12"),
        ("## Answer: yes", "yes"),
        ("- *Answer*: 12", "12"),
        ("Answer：东京", "东京"),
        ("1. Answer: 12\n", "12"),
        ("answer:12", "12"),
        ("Answer: 12\nThat is all.", "12"),
        ("Answer:\r\n12\r\n", "12"),
        ("> Answer: 12", None),
        ("The Answer: 12", None),
        ("Answer 12", None),
        ("Answered: 12", None),
        ("Answer:", None),
        ("Answer: 5\nAnswer:", None),
        ("", None),
        ("Answer: **Paris** in France", "**Paris** in France"),
    ],
)
def test_final_answer(text: str, answer: str | None) -> None:
    assert final_answer(text) == answer


@given(st.text())
def test_final_answer_is_total(text: str) -> None:
    for candidate in (text, f"Answer: {text}"):
        answer = final_answer(candidate)
        assert answer is None or (answer and "\n" not in answer)


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ("Thought: I see.\nFact: it is red.", "stop", ("I see.", "Fact: it is red.", False)),
        ("**Thought:** I see.\nok", "stop", ("I see.", "ok", False)),
        ("No label.\nThought: late", "stop", ("", "No label.\nThought: late", False)),
        ("Thought: it was cut in the mid", "length", ("it was cut in the mid", "", True)),
        ("Thought: nothing else", "stop", ("nothing else", "", False)),
        ("", "stop", ("", "", False)),
    ],
)
def test_a_prompted_model_thinks_in_a_labelled_first_line(
    text: str, finish: str, expected: tuple[str, str, bool]
) -> None:
    split = split_output(text, prompted=True, finish=finish)
    assert (split.reasoning, split.visible, split.truncated_in_thinking) == expected


def test_a_native_model_may_write_the_word_thought() -> None:
    assert split_output("Thought: x\ny", prompted=False).visible == "Thought: x\ny"


def test_think_tags_of_a_prompted_model_are_reasoning_too() -> None:
    split = split_output("<think>a</think>Thought: b", prompted=True)
    assert (split.reasoning, split.visible) == ("a", "Thought: b")
