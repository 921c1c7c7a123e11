"""Conversations as a terminal shows them."""

from __future__ import annotations

import dataclasses
import io
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console, RenderableType

from parley.analysis.transcript import inert, render
from parley.types import Answer, Call, Episode, Message, Score, Span
from records import call, episode, failed, line, turn

THOUGHT = "\n".join(f"thought number {index}" for index in range(20))


def _shown(what: RenderableType, width: int = 100, *, colour: bool = False) -> str:
    console = Console(width=width, file=io.StringIO(), record=True, force_terminal=colour)
    console.print(what)
    return console.export_text(styles=colour)


def _rendered(record: Episode, **options: Any) -> str:
    return _shown(render(line(record), width=100, **options))


def _spoken(visible: str, **changes: Any) -> Call:
    return call(visible=visible, **changes)


def test_a_conversation_reads_from_question_to_score() -> None:
    text = _rendered(episode())
    order = [
        "question: Where is the mill",
        "gold: Northmill | North Mill",
        "turn 0 · Agent A",
        "turn 3 · Agent B · round 3 · answers",
        "answered by: turn 3",
        "answer: Northmill",
        "score: em 1.000",
        "all tokens:",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)


def test_options_are_shown_with_their_letters() -> None:
    text = _rendered(replace(episode(), kind="", options=("gills", "[b]lungs[/b]")))
    options = text[text.index("options:") : text.index("gold:")]
    assert re.sub(r"\s+", " ", options).strip() == "options: A. gills B. [b]lungs[/b]"
    assert " ·  · " not in text


def test_an_answer_in_thinking_is_shown_as_not_counted() -> None:
    score = Score(metrics={"em": 0.0}, extracted=None, status="truncated", answer_in_thinking="81")
    assert "not counted: 81 · truncated" in _rendered(replace(episode(), score=score))


def test_tokens_of_a_turn_are_given_by_part() -> None:
    spoken = call(history={0: 12}, reasoning=7, published=20, discarded=3, control=2)
    text = " ".join(_rendered(episode(turns=(turn(0, call()), turn(1, spoken)))).split())
    assert "545 = prompt 513" in text
    assert "history 12" in text
    assert "completion 32 (private reasoning 7, published 20, discarded 3, control 2)" in text


def test_reasoning_is_folded_and_unfolded() -> None:
    thinking = dataclasses.replace(call(), reasoning=THOUGHT)
    record = episode(turns=(turn(0, thinking),))
    folded, whole = _rendered(record), _rendered(record, full=True)
    assert "thought number 5" in folded
    assert "thought number 6" not in folded
    assert "14 lines more" in folded
    assert "thought number 19" in whole


def test_a_message_is_shown_as_sent_with_its_status() -> None:
    visible = "STATE: the mill is old. RESULT: Northmill"
    message = Message(
        text="the mill is old",
        status="repaired",
        kept=(Span(output=0, source="visible", start=7, end=22),),
    )
    record = episode(turns=(turn(0, _spoken(visible), message=message),))
    assert "published (repaired): the mill is old" in _rendered(record)
    coloured = _shown(render(line(record), width=100), colour=True)
    assert "\x1b[32mthe mill is old\x1b[0m. RESULT" in coloured


def test_a_message_like_the_visible_text_is_not_repeated() -> None:
    text = _rendered(episode(turns=(turn(0, _spoken("Only once, please.")),)))
    assert text.count("Only once, please.") == 1
    assert "published (ok): the visible text, as written" in text


def test_a_message_that_holds_everything_is_not_repeated() -> None:
    spoken = call()
    message = Message(text=f"{spoken.reasoning}\n{spoken.visible}")
    text = _rendered(episode(turns=(turn(0, spoken, message=message),)))
    assert "published (ok): the reasoning and the visible text, as written" in text


def test_what_a_channel_changed_is_shown() -> None:
    heard = ((0, None), (1, "something else"))
    turns = (turn(0, call()), turn(1, call()), turn(2, call(), heard=heard))
    text = _rendered(episode(turns=turns))
    assert "turn 0 (Agent A), dropped by the channel" in text
    assert "turn 1 (Agent B), as: something else" in text


def test_truncation_flags_and_asks_are_shown() -> None:
    asked = call(kind="summary", number=1, finish="length", flags=("odd",))
    text = _rendered(episode(turns=(turn(0, call(), asked),)))
    assert "ask: summary" in text
    assert "finish: length, odd" in text


def test_a_failed_episode_says_why() -> None:
    text = _rendered(failed("p1", "ContextOverflow"))
    assert "failed: ContextOverflow: it broke" in text
    assert "score" not in text


def test_an_unread_answer_and_its_rule_are_shown() -> None:
    answer = Answer(text="hm", turn=3, rule="majority of three")
    assert "answered by: turn 3 · majority of three" in _rendered(episode(answer=answer))


def test_evidence_is_shown_per_seat_when_all_is_asked_for() -> None:
    segments = (
        ("evidence", "user", "Paragraph of A.\n", None),
        ("evidence", "user", "Paragraph of B.\n", None),
    )
    turns = (turn(0, call(prompt=(0,))), turn(1, call(prompt=(1,))))
    record = episode(turns=turns, segments=segments)
    assert "evidence of Agent A: Paragraph of A." in _rendered(record, full=True)
    assert "evidence of Agent B: Paragraph of B." in _rendered(record, full=True)
    assert "Paragraph" not in _rendered(record)


@pytest.mark.parametrize("evil", ["\x1b[31mred", "a\rb", "\x9b2J", "left\u202eright", "\x07"])
def test_control_characters_never_reach_the_terminal(evil: str) -> None:
    record = episode(turns=(turn(0, _spoken(f"{evil} [bold]x[/bold]")),), question=evil)
    text = _rendered(record)
    assert not any(sign in text for sign in "\x1b\r\x9b\u202e\x07")
    assert "[bold]x[/bold]" in text
    assert len(inert(evil)) == len(evil)
