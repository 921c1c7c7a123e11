"""What holds for every strategy: totality, no leak of reasoning, and the reported cases."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_cases import CUE, completion, draft
from parley.parsing import split_reasoning
from parley.protocols import Strategy
from parley.strategies.artifact import Artifact
from parley.strategies.concise import Concise
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.strategies.pact import Pact
from parley.strategies.summary import Summary
from parley.types import Ask, Completion, Demo, Message
from shared_data import case, needs_shared

ALL: Mapping[str, Strategy] = {
    "full": Full(),
    "concise": Concise(),
    "conclusion": Conclusion(),
    "conclusion_final": Conclusion(portion="final"),
    "conclusion_empty": Conclusion(portion="final", fallback="empty"),
    "summary": Summary(),
    "summary_empty": Summary(fallback="empty"),
    "summary_call": Summary(by="call"),
    "artifact": Artifact(),
    "artifact_all": Artifact(evidence=True, candidate=True),
    "artifact_empty": Artifact(fallback="empty"),
    "pact": Pact(),
    "pact_subset": Pact(fields=("Result", "State")),
    "pact_empty": Pact(fallback="empty"),
    "pact_structured": Pact(structured=True),
}
PROJECTIONS = [name for name in ALL if name != "full"]
LABELS = ("Action", "State", "Result", "Fact", "Evidence", "Candidate", "Summary", "Conclusion")
LINES = [f"{label}:" for label in (*LABELS, "Answer")]
TEXT = st.lists(
    st.sampled_from([*LINES, "**Fact:** ", "x", " ", "\n", "{", '"State": "s"', "}"])
).map("".join)
DEMO = Demo(
    reasoning="PRIVATE",
    fact="Ann wrote Orr.",
    evidence="Orr",
    need="Tell me where Ann was born.",
    result="The author is Ann.",
    answer="Ann",
)


def projected(strategy: Strategy, *outputs: Completion) -> Message:
    """The message; an ask is answered once."""
    message = strategy.project(draft(*outputs))
    if isinstance(message, Ask):
        message = strategy.project(draft(*outputs, completion("A short summary.")))
    assert isinstance(message, Message)
    return message


@pytest.mark.parametrize("name", ALL)
@given(TEXT | st.text(), st.sampled_from(["stop", "length"]))
def test_any_output_gives_a_message(name: str, visible: str, finish: str) -> None:
    strategy = ALL[name]
    message = projected(strategy, completion(visible, "PRIVATE", finish=finish))
    assert name == "full" or "PRIVATE" not in message.text
    assert message.text or message.status != "ok"
    assert bool(message.text.strip()) is bool(message.kept)
    if message.kept and name not in ("full", "summary_call"):
        ends = [span.end for span in message.kept]
        assert max(ends) <= len(visible)
        assert {span.source for span in message.kept} == {"visible"}
    again = projected(strategy, completion(visible, "PRIVATE", finish=finish))
    assert again == message


@needs_shared
@pytest.mark.parametrize("name", PROJECTIONS)
def test_truncated_thinking_is_never_published_b02(name: str) -> None:
    for one in case("B02")["input"]:
        opened = one.get("think_in_prompt", False)
        split = split_reasoning(one["text"], finish=one["finish_reason"], opened=opened)
        output = completion(
            split.visible, split.reasoning, finish="length", truncated=split.truncated_in_thinking
        )
        assert output.truncated_in_thinking
        message = ALL[name].project(draft(output))
        assert message == Message(text="", status="truncated")


def test_full_sends_truncated_thinking_and_says_so() -> None:
    output = completion("", "First we note", finish="length", truncated=True)
    message = projected(Full(), output)
    assert (message.text, message.status) == ("First we note", "truncated")


@pytest.mark.parametrize("name", ALL)
def test_an_example_is_read_back_by_its_own_strategy(name: str) -> None:
    strategy = ALL[name]
    written = strategy.example(DEMO, CUE)
    message = projected(strategy, completion(written))
    assert message.status == "ok"
    assert "PRIVATE" not in written + message.text


@pytest.mark.parametrize("name", ALL)
def test_instructions_are_whole(name: str) -> None:
    words = ALL[name].instruct(CUE)
    assert words
    assert "$" not in words
    assert "\n\n" not in words


def test_settings() -> None:
    thinking = {name: (s.thinks, s.answer_thinks) for name, s in ALL.items()}
    assert thinking.pop("concise") == (False, False)
    assert set(thinking.values()) == {(True, True)}
    asking = {name for name, s in ALL.items() if s.max_asks}
    assert asking == {"summary_call"}
    assert {name for name, s in ALL.items() if s.schema} == {"pact_structured"}
