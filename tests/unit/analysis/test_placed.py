"""Arms placed by any score and cost; what the pictures and sentences of that say."""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from parley.analysis import (
    budget_areas,
    conduct_plots,
    disagreement,
    disagreement_plots,
    flow_plots,
    frontier,
    scale,
    token_bars,
)
from parley.analysis.costs import choose
from parley.analysis.flow import flow
from parley.analysis.frames import load, plain_rows
from parley.analysis.opening import open_study
from parley.analysis.placed import Placed, place, reading
from parley.analysis.stats import wilson
from parley.analysis.style import PRINT, SCREEN, Look
from parley.analysis.tables import results
from parley.errors import ConfigError
from records import call, episode, failed, sample_episodes, turn, write_arm

NAMES = ("full", "pact", "summary")


def _study(path: Path, models: tuple[str, ...] = ("qwen3-8b",), n: int = 8) -> Path:
    for model in models:
        for index, name in enumerate(NAMES):
            made = sample_episodes(name + model, n, score=0.3 + 0.1 * index, size=1 + index)
            write_arm(path / "s", f"{name}-{model}", made, strategy=name, model=model)
    return path / "s"


def _place(path: Path, **options: Any) -> Placed:
    frames = load(path)
    return place(frames, results(frames), **options)


def test_the_default_is_the_results_table(tmp_path: Path) -> None:
    study = _study(tmp_path)
    for row in _place(study).rows:
        for end in ("", "_low", "_high"):
            own = "tokens_total" if not end else f"tokens{end}"
            assert row[f"cost{end}"] == pytest.approx(row[own])
        assert 0 <= row["front_chance"] <= 1
        assert row["front_chance"] > 0 or not row["front"]


def test_another_score_and_cost_have_their_own_front(tmp_path: Path) -> None:
    """The cheap arm writes more, the other one reads more."""
    one = [episode(f"p{i}", turns=(turn(0, call(reasoning=900)),)) for i in range(3)]
    two = [episode(f"p{i}", turns=(turn(0, call(history={0: 2000})),)) for i in range(3)]
    write_arm(tmp_path / "s", "writes", one)
    write_arm(tmp_path / "s", "reads", two)
    by_cost = {}
    for kind in ("total", "output"):
        placed = _place(tmp_path, metric="em", cost=choose(kind))
        by_cost[kind] = {row["label"]: row["front"] for row in placed.rows}
        assert placed.facets[0].chances == tuple(
            float(by_cost[kind][label]) for label in placed.facets[0].labels
        )
    assert by_cost["total"] == {"writes": True, "reads": False}
    assert by_cost["output"] == {"writes": False, "reads": True}


def test_chances_are_over_the_problems_all_hold_and_points_over_the_arms_own(
    tmp_path: Path,
) -> None:
    write_arm(tmp_path / "s", "a", sample_episodes("a", 8))
    write_arm(tmp_path / "s", "b", sample_episodes("b", 5))
    placed = _place(tmp_path)
    assert placed.facets[0].drawn.n == 5
    assert {row["label"]: row["n"] for row in placed.rows} == {"a": 8, "b": 5}
    assert "5 problems held by all" in reading(placed)[0]


def test_arms_without_a_point_are_named_with_the_reason(tmp_path: Path) -> None:
    _study(tmp_path)
    reused = [episode(f"{i:04d}", turns=(turn(0, call(reused=True)),)) for i in range(8)]
    write_arm(tmp_path / "s", "again", reused, model="qwen3-8b")
    write_arm(tmp_path / "s", "empty", [], problems=4, model="qwen3-8b")
    cost = choose("latency")
    placed = _place(tmp_path, cost=cost)
    text = _texts(frontier.draw(placed.rows, cost=cost))
    assert "again: not drawn, 8 of 8 episodes have no such cost" in text
    assert "empty: not drawn, no finished episode" in text
    again = next(row for row in placed.rows if row["label"] == "again")
    assert math.isnan(again["front_chance"])
    assert not again["front"]
    assert "again" not in " ".join(reading(placed))


def test_a_failed_arm_counts_with_zero(tmp_path: Path) -> None:
    _study(tmp_path)
    write_arm(tmp_path / "s", "bad", [failed(f"{i:04d}") for i in range(8)], model="qwen3-8b")
    placed = _place(tmp_path)
    bad = next(row for row in placed.rows if row["label"] == "bad")
    assert (bad["score"], bad["cost"], bad["errors"]) == (0.0, 0.0, 8)
    assert "bad: 8 of 8 failed, counted as 0" in _texts(frontier.draw(placed.rows))


def test_one_problem_and_none_in_common(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "a", sample_episodes("a", 1))
    placed = _place(tmp_path)
    assert any("one problem says nothing of chances" in line for line in reading(placed))
    budget_areas.draw(placed)
    write_arm(tmp_path / "s", "b", [episode("other")])
    placed = _place(tmp_path)
    assert placed.facets[0].drawn.n == 0
    assert reading(placed) == []
    budget_areas.draw(placed)
    frontier.draw(placed.rows)


def test_an_unknown_score_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no arm has a metric 'bleu'"):
        _place(_study(tmp_path), metric="bleu")


def test_readings_say_what_to_use_and_how_sure(tmp_path: Path) -> None:
    placed = _place(_study(tmp_path, n=20))
    cheap = min(row["cost"] for row in placed.rows)
    said = reading(placed, [cheap / 2, 1e6])
    assert "reference point: score 0 at" in said[0]
    assert said[1].endswith("no arm fits.")
    assert "best in" in said[2]
    facet, best = next(iter(placed.readings([1e6])))
    assert best.chosen is not None
    assert facet.labels[best.chosen] in said[2]


def _texts(figure: Figure) -> str:
    own = [text.get_text() for text in figure.texts]
    for axis in figure.axes:
        own += [axis.get_title(loc="left"), *(text.get_text() for text in axis.texts)]
    return "\n".join(own)


def _figures(path: Path, look: Look) -> dict[str, Figure]:
    frames = load(path)
    table = results(frames)
    placed = place(frames, table)
    rows = plain_rows(table)
    folders = {row["arm"]: row["folder"] for row in frames.arm_rows()}
    flows = [flow(Path(folders[row["arm"]])) for row in rows]
    return {
        "frontier": frontier.draw(placed.rows, look=look),
        "budget": budget_areas.draw(placed, look=look),
        "scale": scale.draw(placed.rows, look=look),
        "ledger": token_bars.draw(rows, look=look),
        "rereading": flow_plots.rereading(flows, rows, look=look),
        "growth": flow_plots.growth(flows, rows, look=look),
        "conduct": conduct_plots.draw(rows, flows, look=look),
        **_disagreements(path, look),
    }


def _disagreements(path: Path, look: Look) -> dict[str, Figure]:
    study = open_study(path)
    found = disagreement.pairs(study, among=study.names[0])
    first, second = (found[0].first, found[0].second) if found else ("a", "b")
    apart = disagreement.between(study, first, second) if found else []
    return {
        "matrix": disagreement_plots.matrix(found, study.names, look=look),
        "gaps": disagreement_plots.gaps(apart, first, second, look=look),
    }


@pytest.mark.parametrize("look", [SCREEN, PRINT], ids=["screen", "print"])
@pytest.mark.parametrize("models", [("qwen3-8b",), ("qwen3-8b", "qwen3-14b", "qwen3-32b")])
def test_words_do_not_overlap_and_stay_inside(
    tmp_path: Path, look: Look, models: tuple[str, ...]
) -> None:
    for name, figure in _figures(_study(tmp_path, models), look).items():
        figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in figure.texts]
        boxes += [legend.get_window_extent() for legend in figure.legends]
        for one, two in combinations(boxes, 2):
            assert not one.overlaps(two), name
        shown = [box for axis in figure.axes if axis.axison and (box := axis.get_tightbbox())]
        for one, two in combinations(shown, 2):
            assert not one.overlaps(two), name
        whole = figure.bbox
        for box in [*boxes, *shown]:
            assert whole.x0 - 1 <= box.x0 <= box.x1 <= whole.x1 + 1, name
            assert whole.y0 - 1 <= box.y0 <= box.y1 <= whole.y1 + 1, name
        if not look.head:
            texts = [*figure.texts, *(text for axis in figure.axes for text in axis.texts)]
            assert all(float(text.get_fontsize()) >= 7 for text in texts)
            assert figure.get_size_inches()[0] <= 7.0


def test_print_style_has_no_heading_but_the_same_points(tmp_path: Path) -> None:
    study = _study(tmp_path)
    screen, printed = (_figures(study, look)["frontier"] for look in (SCREEN, PRINT))
    assert "quality against cost" in _texts(screen)
    assert "quality against cost" not in _texts(printed)
    assert printed.get_size_inches()[0] == 3.4
    assert {t.get_text() for t in screen.axes[0].texts} == {
        t.get_text() for t in printed.axes[0].texts
    }


def test_scale_is_for_several_models_only(tmp_path: Path) -> None:
    assert not scale.several(_place(_study(tmp_path)).rows)
    rows = _place(_study(tmp_path, ("qwen3-14b", "qwen3-8b"))).rows
    assert scale.several(rows)
    axis = scale.draw(rows).axes[0]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["qwen3-8b", "qwen3-14b"]


def test_regions_lie_around_their_points(tmp_path: Path) -> None:
    figure = frontier.draw(_place(_study(tmp_path, n=30)).rows)
    axis = figure.axes[0]
    points = [line for line in axis.lines if line.get_marker() == "o"]
    assert len(axis.patches) == len(points) == 3
    for patch, line in zip(axis.patches, points, strict=True):
        corners = np.asarray(patch.get_path().vertices)
        (x,), (y,) = (np.asarray(data, dtype=float) for data in line.get_data())
        assert corners[:, 0].min() < x < corners[:, 0].max()
        assert corners[:, 1].min() < y < corners[:, 1].max()


def test_a_rows_own_cost_does_not_change_the_results(tmp_path: Path) -> None:
    frames = load(_study(tmp_path))
    table = results(frames)
    before = table.to_csv()
    place(frames, table, metric="em", cost=choose("output"))
    assert table.to_csv() == before


def test_records_without_speaking_calls_are_drawn_empty(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "bad", [failed("p1"), failed("p2")])
    for look in (SCREEN, dataclasses.replace(PRINT)):
        figures = _figures(tmp_path, look)
        for name in ("rereading", "growth"):
            assert "no finished episode yet" in _texts(figures[name])


def test_an_accuracy_has_wilsons_interval_on_the_chosen_axis(tmp_path: Path) -> None:
    made = [episode(f"p{i}", metrics={"em": 0.0, "f1": 0.5}) for i in range(12)]
    write_arm(tmp_path / "s", "full", made)
    (row,) = _place(tmp_path, metric="em").rows
    assert (row["score"], row["score_low"]) == pytest.approx((0.0, 0.0))
    assert row["score_high"] == pytest.approx(wilson([0.0] * 12).high)
    text = _texts(frontier.draw([row]))
    assert "Wilson" in text


def test_a_barely_begun_arm_decides_nothing(tmp_path: Path) -> None:
    study = _study(tmp_path, n=8)
    begun = [episode(f"{i:04d}", metrics={"em": 1.0, "f1": 1.0}) for i in range(2)]
    problems = [one.problem for one in sample_episodes("full", 8)]
    begun = [dataclasses.replace(one, problem=p) for one, p in zip(begun, problems, strict=False)]
    write_arm(study, "begun", begun, problems=8, model="qwen3-8b")
    placed = _place(study)
    (facet,) = placed.facets
    assert (facet.left_out, facet.drawn.n) == (("begun",), 8)
    assert "nothing is of begun" in reading(placed)[-1]
    assert not any("begun (" in line for line in reading(placed, [1e9]))


def test_an_arm_that_completed_nothing_is_chosen_nowhere(tmp_path: Path) -> None:
    study = _study(tmp_path, n=4)
    lost = [failed(one.problem) for one in sample_episodes("full", 4)]
    write_arm(study, "dead", lost, model="qwen3-8b")
    placed = _place(study)
    (facet,) = placed.facets
    assert "dead" not in facet.labels
    assert [row["front"] for row in placed.rows if row["label"] == "dead"] == [False]
    table = results(load(study))
    assert not table[table["label"] == "dead"]["front"].any()


def test_no_front_goes_through_scores_of_two_kinds(tmp_path: Path) -> None:
    names = [f"p{i}" for i in range(4)]
    right = [episode(name, metrics={"accuracy": 1.0}) for name in names]
    write_arm(tmp_path / "s", "full", [episode(n, metrics={"f1": 0.9}) for n in names], metric="f1")
    write_arm(tmp_path / "s", "pact", right, metric="accuracy", metrics=("accuracy",))
    placed = _place(tmp_path / "s")
    (facet,) = placed.facets
    assert sum(not math.isnan(chance) for chance in facet.chances) == 1
    assert {row["metric"] for row in placed.rows} == {facet.metric}
    assert sum(row["front"] for row in placed.rows) == 1
    assert sum(map(bool, results(load(tmp_path / "s"))["front"])) == 1
