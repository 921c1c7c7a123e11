"""On which problems arms disagree, by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from parley.analysis.disagreement import (
    apart,
    between,
    by_problem,
    conversations,
    pairs,
    scores,
)
from parley.analysis.disagreement_plots import brief, gaps, matrix
from parley.analysis.opening import Opened, open_study
from parley.errors import ConfigError
from records import episode, failed, write_arm


def _arm(study: Path, name: str, values: dict[str, float], **choices: Any) -> None:
    records = [
        episode(problem, metrics={"em": value, "f1": value, "f1_squad": value})
        for problem, value in values.items()
    ]
    write_arm(study, name, records, **choices)


@pytest.fixture
def study(tmp_path: Path) -> Opened:
    _arm(tmp_path / "s", "full", {"p1": 1.0, "p2": 0.5, "p3": 0.0, "p4": 0.25})
    _arm(tmp_path / "s", "pact", {"p1": 0.0, "p2": 0.5, "p3": 0.75, "p5": 1.0})
    _arm(tmp_path / "s", "concise", {"p1": 1.0, "p2": 0.5, "p3": 0.0, "p4": 0.25})
    return open_study(tmp_path / "s")


def test_the_widest_gap_comes_first(study: Opened) -> None:
    found = by_problem(study)
    assert [(row["problem"], row["gap"]) for row in found] == [
        ("p1", 1.0),
        ("p3", 0.75),
        ("p2", 0.0),
        ("p4", 0.0),
        ("p5", 0.0),
    ]
    assert "pact" not in found[3]


def test_two_arms_on_what_both_hold(study: Opened) -> None:
    found = apart(study, "full", "pact")
    assert (found.n, found.won, found.lost) == (3, 1, 1)
    assert found.gap == pytest.approx(1.75 / 3)
    assert found.differ == pytest.approx(2 / 3)


def test_pairs_are_those_furthest_apart_first(study: Opened) -> None:
    found = pairs(study)
    assert {found[0].first, found[0].second} & {"pact"}
    assert {found[-1].first, found[-1].second} == {"full", "concise"}
    assert found[-1].gap == 0


def test_arms_of_two_models_are_no_pair(tmp_path: Path) -> None:
    for model in ("8b", "14b"):
        for name in ("full", "pact"):
            values = {"p1": float(name == "full"), "p2": 0.0}
            _arm(tmp_path / "s", f"{name}-{model}", values, strategy=name, model=model)
    study = open_study(tmp_path / "s")
    assert len(pairs(study)) == 2
    assert len(pairs(study, among=study.names[0])) == 1


def test_rows_say_what_each_said(study: Opened) -> None:
    found = between(study, "full", "pact")
    assert [row["problem"] for row in found] == ["p1", "p3", "p2"]
    first = found[0]
    assert (first["full"], first["pact"], first["difference"]) == (1.0, 0.0, 1.0)
    assert first["gold"] == "Northmill | North Mill"
    assert (first["full said"], first["pact status"]) == ("Northmill", "ok")
    assert [row["problem"] for row in between(study, "full", "pact", most=1)] == ["p1"]


def test_text_of_models_is_inert(tmp_path: Path) -> None:
    for name in ("full", "pact"):
        write_arm(tmp_path / "s", name, [episode("p1", question="a\x1b[31m")])
    study = open_study(tmp_path / "s")
    assert between(study, "full", "pact")[0]["question"] == "a␛[31m"


def test_a_failed_one_counts_0_and_one_without_a_number_is_left_out(tmp_path: Path) -> None:
    nothing = {"em": 1.0, "f1": math.nan, "f1_squad": 1.0}
    records = [failed("p1", "ContextOverflow"), episode("p2", metrics=nothing), episode("p3")]
    write_arm(tmp_path / "s", "full", records)
    _arm(tmp_path / "s", "pact", {"p1": 1.0, "p2": 1.0, "p3": 1.0})
    study = open_study(tmp_path / "s")
    assert scores(study, "full") == {"p1": 0.0, "p3": 1.0}
    assert between(study, "full", "pact")[0]["full status"] == "ContextOverflow"
    assert apart(study, "full", "pact").n == 2
    assert [row["problem"] for row in by_problem(study)] == ["p1", "p2", "p3"]


def test_conversations_are_of_one_benchmark(tmp_path: Path) -> None:
    _arm(tmp_path / "s", "full", {"p1": 1.0})
    _arm(tmp_path / "s", "pact", {"p1": 0.0}, benchmark="hotpotqa")
    study = open_study(tmp_path / "s")
    assert list(conversations(study, "p1", study.names)) == [study.names[0]]


def test_an_unknown_name_is_said(study: Opened) -> None:
    with pytest.raises(ConfigError, match="no arm is named 'other'"):
        apart(study, "full", "other")


def test_names_without_what_all_have() -> None:
    assert brief(["full · 8b", "pact · 8b"]) == (["full", "pact"], ["8b"])
    assert brief(["8b", "8b · x"]) == (["8b", "8b · x"], [])
    assert brief([]) == ([], [])


def test_pictures_say_who_is_better(study: Opened) -> None:
    figure = matrix(pairs(study), study.names)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said.count("0 of 4") == 2  # full and concise against each other
    assert len(said) == 6
    figure = gaps(between(study, "full", "pact"), "full", "pact")
    heights = [bar.get_height() for bar in figure.axes[0].patches]  # type: ignore[attr-defined]
    assert heights == [100.0, 0.0, -75.0]


def test_pictures_of_nothing_are_pictures() -> None:
    assert matrix([], []).axes[0].texts[0].get_text() == "no two arms to compare"
    assert gaps([], "a", "b").axes
