"""What went wrong, by arm, as shares that a reader can recompute."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from parley.analysis import conduct, conduct_plots
from parley.analysis.conduct import TROUBLES, troubles
from parley.analysis.flow import summed
from parley.analysis.opening import Opened, open_study
from records import call, episode, failed, turn, write_arm


@pytest.fixture
def study(tmp_path: Path) -> Opened:
    cut = dataclasses.replace(call(visible="Answer: b"), finish="length")
    answers = (
        turn(0, call(visible="Answer: a"), status="repaired"),
        turn(1, call(visible="Answer: b"), answers=True),
    )
    records = [
        episode("p1", turns=answers),
        episode("p2", turns=(turn(0, cut, status="truncated"), answers[1])),
        failed("p3", "ContextOverflow"),
        failed("p4", "EngineError"),
    ]
    write_arm(tmp_path / "s", "full", records)
    write_arm(tmp_path / "s", "begun", [], problems=3)
    return open_study(tmp_path / "s")


def test_shares_are_of_episodes_messages_and_what_can_be_compared(study: Opened) -> None:
    place = study.names.index("full")
    found = dict(
        zip(
            (each.name for each in TROUBLES),
            troubles(study.rows[place], study.flows[place]),
            strict=True,
        )
    )
    assert found["failed"] == 0.5
    assert found["overflow"] == 0.25
    assert found["cut short"] == 0.25
    assert found["repaired"] == 0.5
    assert found["cut"] == 0.5
    assert found["rejected"] == 0
    assert found["disagreed"] == 1.0


def test_an_arm_without_episodes_has_no_share(study: Opened) -> None:
    row = study.rows[study.names.index("begun")]
    assert all(map(math.isnan, troubles(row, summed(()))))


def test_the_table_has_a_score_beside_what_occurred(study: Opened) -> None:
    found = conduct.table(study.rows, study.flows)
    assert list(found.columns[:2]) == ["n", "score"]
    assert "rejected" not in found.columns
    assert found.loc["full", "overflow"] == 0.25


def test_every_trouble_is_a_column_of_the_results(study: Opened) -> None:
    for each in TROUBLES:
        assert not each.column or each.column in study.table.columns, each


def test_the_picture_has_every_share_and_the_score(study: Opened) -> None:
    figure = conduct_plots.draw(study.rows, study.flows)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert {"50", "25", "100", "50.0", "–"} <= set(said)
    assert {each.name for each in TROUBLES} <= set(said)


def test_a_picture_of_nothing_is_one() -> None:
    assert conduct_plots.draw([], []).axes[0].texts[-1].get_text() == "no finished episode yet"
