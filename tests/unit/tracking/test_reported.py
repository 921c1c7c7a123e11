"""What the tracker reads of a study's report."""

from __future__ import annotations

from pathlib import Path

from parley.analysis.report import write_report
from parley.tracking.reported import COLUMNS, TEXTS, facets, line, points, reported
from parley.tracking.wandb_study import frontier_keys, study_summary
from tracking_cases import STUDY, episode, manifest, write_arm


def study(folder: Path) -> Path:
    for name, f1 in (("full", 1.0), ("pact", 0.5)):
        told = manifest(f"arm-{name}", name)
        tokens = 300 if name == "full" else 100
        rows = [episode(f"arm-{name}", f"p{number}", f1, tokens) for number in range(3)]
        write_arm(folder / STUDY / f"arm-{name}", told, rows)
    write_report(folder / STUDY)
    return folder / STUDY


def test_every_column_of_the_table_is_one_that_the_report_writes(tmp_path: Path) -> None:
    found = points(study(tmp_path))
    assert [point["name"] for point in found] == ["pact", "full"]
    header = (tmp_path / STUDY / "report" / "frontier.csv").read_text().split("\n")[0].split(",")
    assert set(COLUMNS) <= set(header)
    cells = dict(zip(COLUMNS, line(found[0]), strict=True))
    assert (cells["score"], cells["front"], cells["tokens_total"]) == (0.5, 1, 215)
    assert cells["score_low"] == cells["score_high"] == 0.5
    assert all(isinstance(cells[name], str) == (name in TEXTS) for name in COLUMNS)


def test_an_arm_has_its_intervals_unless_the_report_is_of_another_time(tmp_path: Path) -> None:
    folder = study(tmp_path) / "arm-full"
    name, numbers = reported(folder, 3)
    assert name == "full"
    assert (numbers["score"], numbers["score_low"], numbers["front"]) == (1, 1, 1)
    assert (numbers["tokens/total"], numbers["tokens/prompt"]) == (615, 600)
    assert reported(folder, 4) == ("", {})
    assert reported(tmp_path / STUDY / "absent", 3) == ("", {})


def test_without_a_report_there_are_no_points(tmp_path: Path) -> None:
    assert points(tmp_path) == []
    assert study_summary(tmp_path) == {"study/arms": 0, "study/episodes": 0}


def test_the_numbers_of_a_study_have_names_of_their_own(tmp_path: Path) -> None:
    found = study_summary(study(tmp_path))
    assert found == {
        "study/arms": 2,
        "study/episodes": 6,
        "study/front of fictional, tiny": "pact, full",
    }


def test_arms_without_a_score_are_on_no_frontier_and_models_have_their_own() -> None:
    group: dict[str, str | float] = {"benchmark": "b", "model": "m", "tokens_total": 1.0}
    found = facets([{**group, "score": 1.0}, group, {**group, "model": "n", "score": 0.0}])
    assert {name: len(members) for name, members in found.items()} == {"b, m": 1, "b, n": 1}
    assert frontier_keys(found) == {"b, m": "frontier/b, m", "b, n": "frontier/b, n"}
    assert frontier_keys(["b, m"]) == {"b, m": "frontier"}
