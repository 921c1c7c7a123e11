"""Rows of one episode."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.errors import StoreError
from parley.metrics import FATES, PARTS, STATUSES, edge_rows, episode_row, turn_rows
from records import call, conversation, episode, failed, line, turn


def test_parts_and_fates_sum_to_the_wholes() -> None:
    row = episode_row(line(episode()))
    assert sum(_int(row[f"tokens_{part}"]) for part in PARTS) == row["tokens_prompt"]
    assert sum(_int(row[f"tokens_{fate}"]) for fate in FATES) == row["tokens_completion"]
    assert row["tokens_total"] == _int(row["tokens_prompt"]) + _int(row["tokens_completion"])
    assert row["tokens_uncached"] == _int(row["tokens_total"]) - _int(row["tokens_cached"])


def test_a_call_by_hand() -> None:
    spoken = call(
        history={0: 12, 1: 30},
        reasoning=7,
        published=20,
        published_reasoning=5,
        discarded=3,
        control=2,
        waste=11,
    )
    row = episode_row(line(episode(turns=(turn(0, spoken),))))
    assert row["tokens_prompt"] == 501 + 42
    assert row["tokens_completion"] == row["tokens_output"] == 32
    assert row["tokens_reread"] == row["tokens_history"] == 42
    assert row["tokens_reasoning"] == 12
    assert row["tokens_private"] == 7
    assert row["tokens_waste"] == 11
    assert row["tokens_examples"] == 0


def test_ids_stay_text() -> None:
    assert episode_row(line(episode("0073")))["problem"] == "0073"


def test_failed_episode_scores_zero_in_every_declared_metric() -> None:
    row = episode_row(line(failed("p1")), metrics=("em", "f1"))
    assert (row["failed"], row["em"], row["f1"]) == (True, 0.0, 0.0)
    assert (row["error"], row["status"], row["tokens_total"]) == ("TransportError", "failed", 0)


def test_failed_episode_keeps_the_tokens_it_spent() -> None:
    row = episode_row(line(failed("p1", "ContextOverflow", turns=conversation(turns=2))))
    assert row["overflow"] is True
    assert _int(row["tokens_total"]) > 1000


def test_a_metric_that_is_absent_or_not_a_number_is_none() -> None:
    record = line(episode(metrics={"em": float("nan"), "f1_squad": 0.5}))
    record["score"]["metrics"]["f1_squad"] = "0.5"
    row = episode_row(record, metrics=("em", "f1"))
    assert row["em"] is None
    assert row["f1"] is None
    assert row["f1_squad"] is None


def test_a_metric_never_hides_another_column() -> None:
    with pytest.raises(StoreError, match="'calls'"):
        episode_row(line(episode(metrics={"calls": 0.5})))


def test_reused_calls_count_tokens_but_neither_latency_nor_cache() -> None:
    fresh, reused = call(cached=100, latency=0.5), call(cached=90, latency=9.0, reused=True)
    row = episode_row(line(episode(turns=(turn(0, fresh), turn(1, reused)))))
    assert (row["reused"], row["tokens_cached"], row["latency_s"]) == (1, 100, 0.5)
    assert row["tokens_total"] == 2 * (fresh.usage.prompt + fresh.usage.completion)


def test_statuses_asks_and_truncation_are_counted() -> None:
    asked = call(kind="summary", number=1, finish="length", truncated_in_thinking=True)
    turns = (turn(0, call()), turn(1, call(), asked, status="repaired"), turn(2, call()))
    row = episode_row(line(episode(turns=turns)))
    assert (row["turns"], row["calls"], row["asks"], row["messages"]) == (3, 4, 1, 3)
    assert (row["messages_ok"], row["messages_repaired"]) == (2, 1)
    assert sum(_int(row[f"messages_{status}"]) for status in STATUSES) == 3
    assert row["truncated"] is True
    assert row["truncated_in_thinking"] is True


def test_estimates_are_flagged_wherever_they_arise() -> None:
    plain = call()
    tokens = call(estimated=True)
    usage = dataclasses.replace(plain, usage=dataclasses.replace(plain.usage, estimated=True))
    for spoken, flagged in ((plain, False), (tokens, True), (usage, True)):
        row = episode_row(line(episode(turns=(turn(0, spoken),))))
        assert row["estimated"] is flagged


def test_turn_rows_sum_to_the_episode() -> None:
    record = line(episode())
    rows = list(turn_rows(record))
    assert [row["seat"] for row in rows] == ["agent_a", "agent_b", "agent_a", "agent_b"]
    assert [row["answers"] for row in rows] == [False, False, False, True]
    total = sum(_int(row["tokens_total"]) for row in rows)
    assert total == episode_row(record)["tokens_total"]


def test_measures_of_a_turn_are_columns() -> None:
    spoken = turn(0, call(), measures={"facts": 2.0})
    assert next(turn_rows(line(episode(turns=(spoken,)))))["measure_facts"] == 2.0


def test_edges_say_who_made_whom_read_again() -> None:
    first = turn(0, call())
    second = turn(1, call(history={0: 20}), call(kind="repair", number=1, history={0: 20, 1: 9}))
    rows = list(edge_rows(line(episode(turns=(first, second)))))
    assert [(r["source"], r["seat"], r["tokens"]) for r in rows] == [
        ("agent_a", "agent_b", 40),
        ("agent_b", "agent_b", 9),
    ]


@given(st.lists(st.integers(0, 500), min_size=1, max_size=6), st.integers(0, 300))
def test_edges_sum_to_the_history(sizes: list[int], control: int) -> None:
    turns = tuple(
        turn(i, call(history=dict(enumerate(sizes[:i])), control=control))
        for i in range(len(sizes))
    )
    record = line(episode(turns=turns))
    assert sum(_int(r["tokens"]) for r in edge_rows(record)) == episode_row(record)["tokens_reread"]


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value
