"""An answer that stands only in the reasoning: noted, shown, counted, never credited."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from core_cases import arm, play, problem
from parley.benchmarks.aime import Aime
from parley.benchmarks.hotpotqa import HotpotQA
from parley.commands.rescore import grade
from parley.grading.thinking import noted
from parley.metrics import episode_row
from parley.protocols import Benchmark
from parley.strategies.full import Full
from parley.topologies.single import Single
from parley.types import Score
from records import episode as recorded
from records import line
from shared_data import case


async def test_a06_an_answer_in_thinking_is_noted_and_earns_nothing() -> None:
    whole, cut, bare_one = case("A06")["input"]
    scores = []
    for text, most in ((whole, 64), (cut["text"], 7), (bare_one, 64)):
        given_arm = arm(Full(), benchmark=Aime(), topology=Single(), max_tokens=most)
        episode, _ = await play(given_arm, [text], question=problem(answers=("81",)))
        assert episode.score is not None
        scores.append(episode.score)
        assert grade(line(episode), Aime()) == episode.score, "rescoring notes it, too"
    assert [score.extracted for score in scores] == ["18", None, "18"]
    assert [score.answer_in_thinking for score in scores] == [None, "81", None]
    assert scores[1].status == "truncated"
    assert {score.metrics["accuracy"] for score in scores} == {0}


@pytest.mark.parametrize(
    ("benchmark", "visible", "reasoning", "thought"),
    [
        (Aime(), "I do not know.", "Answer: 81", "81"),
        (Aime(), "Answer: 7", "\\boxed{81}", None),
        (Aime(), "I do not know.", "maybe 81\n81", None),
        (Aime(), "", "", None),
        (HotpotQA(), "", "Answer: Oak Falls", "Oak Falls"),
        (HotpotQA(), "", "It may be Oak Falls", None),
    ],
)
def test_only_a_box_or_a_label_where_nothing_else_was_read(
    benchmark: Benchmark, visible: str, reasoning: str, thought: str | None
) -> None:
    question = problem(answers=("81",))
    score = benchmark.grade(question, visible)
    found = noted(score, benchmark, question, reasoning, truncated=False)
    assert found == replace(score, answer_in_thinking=thought)


@given(st.text(), st.sampled_from(["", "\\boxed{81}", "Answer: 81", "The answer is 81."]))
def test_reasoning_never_changes_the_credit(visible: str, reasoning: str) -> None:
    question = problem(answers=("81",))
    score = Aime().grade(question, visible)
    found = noted(score, Aime(), question, reasoning, truncated=False)
    assert replace(found, answer_in_thinking=None) == score


def test_a_table_counts_it_as_a_flag() -> None:
    score = Score(metrics={}, extracted=None, status="truncated", answer_in_thinking="81")
    assert episode_row(line(replace(recorded(), score=score)))["flags"] == "answer_in_thinking"
    assert episode_row(line(recorded()))["flags"] is None


def test_a_record_without_it_is_read_all_the_same() -> None:
    older: dict[str, Any] = {"metrics": {"em": 0.0}, "extracted": None, "status": "truncated"}
    assert TypeAdapter(Score).validate_python(older).answer_in_thinking is None
    row = line(recorded())
    row["score"] = older
    assert episode_row(row)["flags"] is None
