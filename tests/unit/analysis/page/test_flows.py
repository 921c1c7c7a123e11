"""Tokens by turn and by edge sum to what the episodes' rows say."""

from __future__ import annotations

import pytest

from parley.analysis.page.flows import Flow
from parley.metrics import edge_rows, episode_row
from records import call, episode, line, sample_episodes, turn


def test_turns_and_edges_sum_to_the_rows() -> None:
    records = [line(record) for record in sample_episodes("full", 5)]
    flow = Flow()
    for record in records:
        flow.add(record)
    means = flow.means()
    total = sum(int(str(episode_row(record)["tokens_total"])) for record in records)
    assert sum(sum(each["parts"]) for each in means["turns"]) == pytest.approx(total / 5, abs=2)
    reread = sum(int(str(edge["tokens"])) for record in records for edge in edge_rows(record))
    assert sum(tokens for _, _, tokens in means["edges"]) == pytest.approx(reread / 5, abs=1)
    assert [each["turn"] for each in means["turns"]] == [0, 1, 2, 3]
    assert {(reader, source) for reader, source, _ in means["edges"]} == {
        ("Agent A", "Agent A"),
        ("Agent A", "Agent B"),
        ("Agent B", "Agent A"),
        ("Agent B", "Agent B"),
    }


def test_a_seat_that_reads_itself_is_an_edge() -> None:
    flow = Flow()
    flow.add(line(episode(turns=(turn(0, call()), turn(2, call(history={0: 9}))))))
    assert flow.means()["edges"] == [["Agent A", "Agent A", 9]]


def test_nothing_added_has_no_means() -> None:
    assert Flow().means() == {"turns": [], "edges": []}
