"""Worked examples: the same problems, in each strategy's format, within the limits there are."""

from __future__ import annotations

import json
import re

import pytest

from core_cases import Table
from parley.errors import ConfigError
from parley.examples import examples
from parley.protocols import Strategy
from parley.strategies.artifact import Artifact
from parley.strategies.concise import Concise
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.strategies.pact import Pact
from parley.strategies.summary import Summary
from parley.templates import template
from parley.topologies.split_evidence import SplitEvidence
from parley.types import Segment

STRATEGIES: tuple[Strategy, ...] = (
    Full(),
    Concise(),
    Conclusion(),
    Summary(),
    Summary(by="call"),
    Artifact(),
    Pact(),
)
STORED = json.loads(template("examples_split_evidence.json"))


def shown(
    strategy: Strategy, shots: int, *, prompted: bool = False, answers: bool | None = None
) -> tuple[Segment, ...]:
    """The examples of messages, those of answers, or both, one after the other."""
    kinds = (False, True) if answers is None else (answers,)
    topology = SplitEvidence()
    return tuple(
        piece
        for kind in kinds
        for piece in examples(topology, strategy, shots=shots, prompted=prompted, answers=kind)
    )


def said(strategy: Strategy, *, prompted: bool) -> list[str]:
    """What the examples have the model write."""
    pieces = shown(strategy, len(STORED), prompted=prompted)
    return [piece.text for piece in pieces if piece.role == "assistant"]


def read(strategy: Strategy, *, prompted: bool) -> str:
    """What the examples have the model read."""
    pieces = shown(strategy, len(STORED), prompted=prompted)
    return "".join(piece.text for piece in pieces if piece.role == "user")


def test_no_shots_no_examples() -> None:
    assert shown(Full(), 0) == ()


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(ConfigError, match=f"0 to {len(STORED)}"):
        shown(Full(), len(STORED) + 1)
    table = Table(plan=())
    assert examples(table, Full(), shots=0, prompted=False, answers=True) == ()
    with pytest.raises(ConfigError, match="0 to 0"):
        examples(table, Full(), shots=1, prompted=False, answers=True)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fewer_shots_are_the_first_of_more(strategy: Strategy) -> None:
    for answers, pairs in ((False, 4), (True, 2)):
        two = shown(strategy, 2, answers=answers)
        assert two == shown(strategy, 4, answers=answers)[: len(two)]
        assert {piece.part for piece in two} == {"examples"}
        assert [piece.role for piece in two] == ["user", "assistant"] * pairs
        assert two == shown(strategy, 2, answers=answers), "the same for every seat and turn"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_thinking_is_shown_where_the_arm_thinks(strategy: Strategy) -> None:
    for text in said(strategy, prompted=True):
        assert text.startswith("Thought: ") is strategy.thinks
        assert text.count("<think>") == text.count("</think>") <= 1
    assert "<think>" not in read(strategy, prompted=True), "tags are never heard"
    assert "<think>" not in "".join(said(strategy, prompted=False))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_reasoning_is_heard_of_full_alone(strategy: Strategy) -> None:
    heard = read(strategy, prompted=True)
    for one in STORED:
        for turn in one["turns"]:
            assert (turn["reasoning"] in heard) is isinstance(strategy, Full)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_both_facts_are_heard_before_each_answer(strategy: Strategy) -> None:
    """What an answer needs must reach the answering seat in every format."""
    asked = [p.text for p in shown(strategy, len(STORED), answers=True) if p.role == "user"]
    for one, text in zip(STORED, asked, strict=True):
        history = text[text.index("Message from") :]
        assert history.count("Message from") == 2
        assert all(turn["fact"] in history for turn in one["turns"])
        assert text.count(one["answer"]) >= 1 or one["answer"] in ("yes", "no")


def test_answers_are_written_as_they_are_asked_for() -> None:
    for prompted in (False, True):
        pieces = shown(Full(), len(STORED), prompted=prompted, answers=True)
        answers = [piece.text for piece in pieces if piece.role == "assistant"]
        lines = [re.findall(r"^Answer: (.+)$", text, re.MULTILINE) for text in answers]
        assert lines == [[one["answer"]] for one in STORED]


def test_a_summary_by_call_is_heard_as_a_summary() -> None:
    assert read(Summary(by="call"), prompted=False) == read(Summary(), prompted=False)
    assert said(Summary(by="call"), prompted=False) == said(Full(), prompted=False)


def test_the_answers_stand_in_no_share_alone_and_no_shot_is_a_twin() -> None:
    assert len({one["question"] for one in STORED}) == len(STORED)
    for one in STORED:
        assert [turn["seat"] for turn in one["turns"]] == [0, 1]
        for turn, share in zip(one["turns"], one["shares"], strict=True):
            titles = dict(share)
            assert titles[turn["evidence"]] == turn["fact"]
