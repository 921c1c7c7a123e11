"""Columns of episodes, and the order in which transcripts are kept."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from parley.analysis.frames import load
from parley.analysis.page.overview import overview
from parley.analysis.page.scores import Scores, by_disagreement, scores
from parley.analysis.tables import results
from parley.types import Episode
from records import episode, failed, sample_episodes, write_arm


def _scores(study: Path) -> tuple[Scores, list[dict[str, Any]]]:
    frames = load(study)
    table = results(frames)
    arms = overview("s", frames, table, ())["arms"]
    folders = [str(study / arm["folder"]) for arm in arms]
    return scores(frames.episodes, arms, folders), arms


def _graded(*values: float) -> list[Episode]:
    return [
        episode(f"p{i}", metrics={"em": value, "f1": value, "f1_squad": value})
        for i, value in enumerate(values)
    ]


def test_columns_hold_what_the_episodes_say(tmp_path: Path) -> None:
    records = [*sample_episodes("full", 3, samples=2), failed("p9")]
    write_arm(tmp_path / "s", "full", records, samples=2)
    found, _ = _scores(tmp_path / "s")
    columns = found.arms[0]
    assert [found.problems[place][1] for place in columns["p"]] == [r.problem for r in records]
    assert columns["s"] == [0, 1, 0, 1, 0, 1, 0]
    assert columns["status"] == ["ok"] * 6 + ["failed"]
    assert columns["score_f1"][-1] == 0
    for record, f1 in zip(records[:-1], columns["score_f1"], strict=False):
        assert record.score is not None
        assert math.isclose(f1, record.score.metrics["f1"], abs_tol=1e-5)


def test_a_score_that_is_no_number_stays_missing(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", _graded(1.0, float("nan")))
    found, _ = _scores(tmp_path / "s")
    assert found.arms[0]["score_f1"] == [1, None]


def test_an_arm_without_episodes_keeps_its_place(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", [], problems=3)
    write_arm(tmp_path / "s", "pact", _graded(1.0))
    found, arms = _scores(tmp_path / "s")
    assert [arm["n"] for arm in arms] == [len(columns["p"]) for columns in found.arms]


def test_problems_of_two_benchmarks_with_one_id_are_two(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", _graded(1.0))
    write_arm(tmp_path / "s", "pact", _graded(0.0), benchmark="hotpotqa")
    found, _ = _scores(tmp_path / "s")
    assert found.problems == (("fictional", "p0"), ("hotpotqa", "p0"))


def test_the_most_disputed_come_first_and_every_other_one_is_drawn(tmp_path: Path) -> None:
    n = 60
    write_arm(tmp_path / "s", "full", _graded(*[0.0] * n))
    write_arm(tmp_path / "s", "pact", _graded(*[i / n for i in range(n)]))
    order = by_disagreement(*_scores(tmp_path / "s"))
    assert sorted(order) == list(range(n))
    assert order[0] == n - 1
    disputed = [place for place in order[:20] if place >= n - 10]
    assert len(disputed) >= 9  # one of them may have been drawn
    assert len([place for place in order[:20] if place < n - 12]) >= 6


def test_the_order_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("full", "pact"):
        write_arm(tmp_path / "s", name, sample_episodes(name, 20))
    assert by_disagreement(*_scores(tmp_path / "s")) == by_disagreement(*_scores(tmp_path / "s"))
