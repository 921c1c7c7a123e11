"""Pictures: something is drawn, nothing is covered, nothing is dropped without a word."""

from __future__ import annotations

import random
import warnings
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.image import imread

from parley.analysis import frontier, token_bars
from parley.analysis.frames import load, plain_rows
from parley.analysis.placing import Obstacles, arrange, overlaps
from parley.analysis.plots import frontier as write_frontier
from parley.analysis.plots import ledger as write_ledger
from parley.analysis.tables import results
from records import episode, sample_episodes, write_arm


def _study(path: Path, arms: int, n: int = 6) -> pd.DataFrame:
    for index in range(arms):
        size, score = 1 + index * 0.3, 0.3 + 0.05 * (index % 5)
        made = sample_episodes(f"arm{index}", n, size=size, score=score)
        write_arm(path / "s", f"strategy_{index}", made)
    return results(load(path))


def _texts(figure: Figure) -> str:
    own = [text.get_text() for text in figure.texts]
    for axis in figure.axes:
        own += [axis.get_title(loc="left"), *(text.get_text() for text in axis.texts)]
    return "\n".join(own)


def test_files_are_pictures_of_something(tmp_path: Path) -> None:
    table = _study(tmp_path, 3)
    for write in (write_frontier, write_ledger):
        png, pdf = write(table, tmp_path / "out" / write.__name__)
        pixels = imread(png)[..., :3]
        assert pixels.shape[1] > 1000
        assert 0.01 < float((pixels < 0.9).any(axis=2).mean()) < 0.6
        assert len(np.unique((pixels * 15).astype(int) @ (1, 16, 256))) > 10
        assert pdf.read_bytes().startswith(b"%PDF")
    assert len(list((tmp_path / "out").iterdir())) == 4


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    table = _study(tmp_path, 3)
    first = [path.read_bytes() for path in write_frontier(table, tmp_path / "a")]
    assert first == [path.read_bytes() for path in write_frontier(table, tmp_path / "b")]


@pytest.mark.parametrize("arms", [1, 6, 12])
def test_labels_do_not_overlap(tmp_path: Path, arms: int) -> None:
    figure = frontier.draw(plain_rows(_study(tmp_path, arms)))
    axis = figure.axes[0]
    labels = [text for text in axis.texts if text.get_text().strip()]
    assert len(labels) == arms
    assert overlaps(labels) == []
    frame = axis.get_window_extent()
    for label in labels:
        box = label.get_window_extent()
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
        assert frame.y0 <= box.y0 <= box.y1 <= frame.y1


def test_words_of_the_frame_do_not_overlap_and_stay_inside(tmp_path: Path) -> None:
    rows = plain_rows(_study(tmp_path, 6))
    for draw in (frontier.draw, token_bars.draw):
        figure = draw(rows)
        figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in figure.texts]
        boxes += [legend.get_window_extent() for legend in figure.legends]
        assert not any(one.overlaps(two) for one, two in combinations(boxes, 2))
        whole = figure.bbox
        assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in boxes)
        axis_box = figure.axes[0].get_tightbbox()
        assert axis_box is not None
        assert not any(axis_box.overlaps(box) for box in boxes)


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 12), st.integers(0, 10_000))
def test_arranged_boxes_never_overlap(count: int, seed: int) -> None:
    chance = random.Random(seed)
    points = [(chance.uniform(100, 400), chance.uniform(80, 250)) for _ in range(count)]
    markers = [(x - 6, y - 6, x + 6, y + 6) for x, y in points]
    around = Obstacles(frame=(0, 0, 540, 320), markers=markers)
    boxes = arrange(points, [(chance.uniform(30, 110), 11) for _ in points], around)
    for one, two in combinations([*boxes], 2):
        apart = one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
        assert apart


def test_frontier_says_its_n_its_settings_and_what_is_small(tmp_path: Path) -> None:
    text = _texts(frontier.draw(plain_rows(_study(tmp_path, 2))))
    for words in ("n = 6 problems", "Small n (6)", "shots 2", "answer short", "smollm2-135m"):
        assert words in text
    assert "95% bootstrap" in text


def test_frontier_of_many_problems_does_not_warn(tmp_path: Path) -> None:
    assert "Small n" not in _texts(frontier.draw(plain_rows(_study(tmp_path, 2, n=30))))


def test_arms_without_a_point_are_named(tmp_path: Path) -> None:
    _study(tmp_path, 2)
    write_arm(tmp_path / "s", "empty", [], problems=4)
    bad = [episode("p1", metrics={"em": 1.0, "f1": float("nan")})]
    write_arm(tmp_path / "s", "unscored", bad)
    table = results(load(tmp_path))
    text = _texts(frontier.draw(plain_rows(table)))
    assert "empty: not drawn, no finished episode" in text
    assert "unscored: not drawn, 1 of 1 episodes have no f1" in text
    assert "empty: not drawn" in _texts(token_bars.draw(plain_rows(table)))


def test_one_problem_and_equal_points_are_drawn(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_arm(tmp_path / "s", name, [episode("p1", metrics={"em": 0.0, "f1": 0.0})])
    figure = frontier.draw(plain_rows(results(load(tmp_path))))
    labels = [text for text in figure.axes[0].texts if text.get_text()]
    assert [text.get_text() for text in labels] == ["a", "b", "c"]
    assert overlaps(labels) == []


def test_nothing_recorded_still_gives_a_figure(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "empty", [], problems=4)
    table = results(load(tmp_path))
    for rows in (plain_rows(table), []):
        assert "no arm has a point" in _texts(frontier.draw(rows))
        assert "no finished episode" in _texts(token_bars.draw(rows))


def test_facets_by_benchmark_and_model_share_axes_per_benchmark(tmp_path: Path) -> None:
    for benchmark in ("hotpotqa", "two_wiki"):
        for model, size in (("8b", 1.0), ("14b", 3.0)):
            made = sample_episodes(model + benchmark, 4, size=size)
            write_arm(
                tmp_path / "s", f"{benchmark}-{model}", made, benchmark=benchmark, model=model
            )
    axes = frontier.draw(plain_rows(results(load(tmp_path)))).axes
    titles = [axis.get_title(loc="left") for axis in axes]
    assert [title.split("   ")[0] for title in titles] == [
        "hotpotqa · 8b",
        "hotpotqa · 14b",
        "two_wiki · 8b",
        "two_wiki · 14b",
    ]
    assert axes[0].get_xlim() == axes[1].get_xlim() != axes[2].get_xlim()


def test_front_steps_up_and_to_the_right(tmp_path: Path) -> None:
    rows = plain_rows(_study(tmp_path, 6))
    front = frontier.front_line(rows, 1e6)
    for (x1, y1), (x2, y2) in pairwise(front):
        assert (x1 == x2 and y1 < y2) or (x1 < x2 and y1 == y2)


def test_bars_add_up_to_the_total(tmp_path: Path) -> None:
    rows = plain_rows(_study(tmp_path, 3))
    for row in rows:
        *parts, rest = token_bars.split(row)
        assert sum(parts) == pytest.approx(row["tokens_total"])
        assert rest == pytest.approx(0, abs=1e-6)
    less = {**rows[0], "tokens_evidence": 0.0, "estimated": 1.0}
    assert token_bars.split(less)[-1] == pytest.approx(rows[0]["tokens_evidence"])
    assert "not attributed" in _texts(token_bars.draw([less]))


def test_drawing_sets_nothing_global(tmp_path: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_frontier(_study(tmp_path, 2), tmp_path / "f")
    assert dict(matplotlib.rcParams) == before
