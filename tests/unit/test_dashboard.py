"""The saved view of a study: made without a connection, and what its server would be told."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from parley.analysis.report import write_report
from parley.dashboard import SAVED, Facts, build, facts, save, spec
from parley.errors import ConfigError, ParleyError, StoreError
from parley.tracking.reported import points
from parley.tracking.rows import CHARTED, Progress, run_config, summary
from parley.tracking.wandb_study import frontier_keys
from tracking_cases import STUDY, episode, manifest, write_arm

pytest.importorskip("wandb_workspaces", reason="the extra 'wandb' is not installed")

KNOWN = Facts(
    study="pilot",
    folder=Path("nowhere"),
    choices=tuple({"strategy": name, "model": "tiny", "seed": 42} for name in ("full", "pact")),
    facets=("fictional, tiny",),
)


def made(known: Facts = KNOWN) -> dict[str, Any]:
    view = orjson.loads(spec(build(known, entity="team", project="parley")))
    section: dict[str, Any] = view["section"]
    return section


def panels(known: Facts = KNOWN) -> dict[str, list[dict[str, Any]]]:
    """Configs of all panels by their kind."""
    found: dict[str, list[dict[str, Any]]] = {}
    for section in made(known)["panelBankConfig"]["sections"]:
        for panel in section["panels"]:
            found.setdefault(panel["viewType"], []).append(panel["config"])
    return found


def test_the_first_panel_is_score_against_tokens_and_needs_no_click() -> None:
    sections = made()["panelBankConfig"]["sections"]
    assert [section["isOpen"] for section in sections] == [True] * 4
    first = sections[0]["panels"][0]
    assert first["viewType"] == "Scatter Plot"
    assert first["config"]["xAxis"] == "summary:tokens/total"
    assert first["config"]["yAxis"] == "summary:score"


def test_the_view_holds_what_a_reader_compares() -> None:
    found = panels()
    bars = [config["metrics"] for config in found["Bar Chart"]]
    assert bars[:4] == [["score"], ["tokens/total"], ["truncated"], ["messages/ok"]]
    columns = [one["accessor"] for one in found["Parallel Coordinates Plot"][0]["columns"]]
    assert columns == ["config:strategy.value", "summary:tokens/total", "summary:score"]
    assert found["Run Comparer"] == [{"diffOnly": "split"}]
    lines = [(config["xAxis"], config["metrics"]) for config in found["Run History Line Plot"]]
    assert lines[0] == ("running/tokens_spent", ["running/score_by_tokens"])
    assert ("episode", ["running/score"]) in lines
    text = spec(build(KNOWN, entity="team", project="parley")).decode()
    assert '"episodes"' in text
    assert '"results"' in text


def test_the_frontier_is_the_chart_that_the_studys_run_logs() -> None:
    (one,) = panels()["Vega2"]
    assert one["panelDefId"] == "wandb/scatter/v0"
    assert one["fieldSettings"] == {"x": "tokens per problem", "y": "score"}
    assert "frontier_table" in str(one["userQuery"])
    two = panels(replace(KNOWN, facets=("hotpotqa, small", "hotpotqa, large")))["Vega2"]
    keys = frontier_keys(("hotpotqa, small", "hotpotqa, large")).values()
    assert [f"{key}_table" in str(one["userQuery"]) for key, one in zip(keys, two, strict=True)]
    assert "Vega2" not in panels(replace(KNOWN, facets=()))


def test_only_runs_of_the_study_are_shown_the_best_first() -> None:
    (runs,) = made()["runSets"]
    (only,) = runs["filters"]["filters"]
    assert (only["key"], only["op"], only["value"]) == (
        {"section": "run", "name": "group"},
        "=",
        "pilot",
    )
    (key,) = runs["sort"]["keys"]
    assert (key["key"]["name"], key["ascending"]) == ("score", False)


def test_axes_are_the_choices_in_which_arms_differ() -> None:
    assert KNOWN.axes == ["strategy"]
    choices = [{**one, "seed": seed} for one in KNOWN.choices for seed in (42, 43)]
    assert replace(KNOWN, choices=tuple(choices)).axes == ["strategy", "seed"]


def test_a_study_of_many_arms_shows_them_all() -> None:
    many = replace(KNOWN, choices=KNOWN.choices * 12)
    assert panels(many)["Bar Chart"][0]["limit"] == 25
    assert made(many)["settings"]["maxRuns"] == 25


def test_everything_shown_is_sent_under_that_name(tmp_path: Path) -> None:
    """The names in the view are those that arms have in W&B, from records to panels."""
    arms = {name: manifest(f"arm-{name}", name) for name in ("full", "pact")}
    for name, told in arms.items():
        rows = [episode(f"arm-{name}", f"p{number}", 0.5) for number in range(3)]
        write_arm(tmp_path / STUDY / f"arm-{name}", told, rows)
    write_report(tmp_path / STUDY)
    known = facts(tmp_path / STUDY)
    progress = Progress(metric="f1", metrics=("em", "f1"))
    records = [point_record("arm-full", number) for number in range(3)]
    charted = [progress.add(record) for record in records][-1]
    numbers = summary([(str(r["problem"]), progress.row(r)[1]) for r in records], progress.metrics)
    sent = {*charted, *numbers, "score_low", "score_high", "front"}
    config = run_config(arms["full"])
    found = panels(known)
    shown = {name for config in found["Bar Chart"] for name in config["metrics"]}
    shown |= {name for config in found["Run History Line Plot"] for name in config["metrics"]}
    shown |= {config["xAxis"] for config in found["Run History Line Plot"]}
    pinned = made(known)["runSets"][0]["runFeed"]["columnOrder"]
    shown |= {name.partition(":")[2] for name in pinned if name.startswith("summary:")}
    assert shown <= sent
    assert set(CHARTED) <= sent
    assert set(known.axes) <= set(config)
    assert known.facets == ("fictional, tiny",)
    assert {point["name"] for point in points(tmp_path / STUDY)} == {"full", "pact"}


def point_record(arm: str, number: int) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(episode(arm, f"p{number}", 0.5))


def test_what_was_sent_says_where_the_view_belongs(tmp_path: Path) -> None:
    told = manifest("arm-full", "full")
    url = "https://wandb.example.org/team/pilots/runs/0123"
    told["tracking"] = {"runs": {"arm-full": {"id": "0123", "url": url}}}
    write_arm(tmp_path / STUDY / "arm-full", told, [])
    known = facts(tmp_path / STUDY / "arm-full")
    assert (known.entity, known.project) == ("team", "pilots")
    assert (known.study, known.folder) == (STUDY, tmp_path / STUDY)


def test_one_view_is_of_one_study(tmp_path: Path) -> None:
    for study in ("a", "b"):
        write_arm(tmp_path / study / "arm-full", manifest("arm-full", "full"), [])
    with pytest.raises(ConfigError, match="several studies") as told:
        facts(tmp_path)
    assert "a, b" in str(told.value)
    with pytest.raises(StoreError):
        facts(tmp_path / "nowhere")


@dataclass
class View:
    """A workspace on a server that may be out of reach."""

    name: str = "pilot"
    entity: str = "team"
    project: str = "parley"
    url: str = "https://wandb.example.org/team/parley?nw=new"
    sections: list[str] = field(default_factory=lambda: ["fresh"])
    settings: str = "fresh"
    runset_settings: str = "fresh"
    reachable: bool = True
    saved: int = 0

    def save(self) -> None:
        if not self.reachable:
            raise ConnectionError("no route to http://me:hunter2@host")
        self.saved += 1


def test_saving_again_replaces_the_view_of_the_study(tmp_path: Path) -> None:
    first = View()
    assert save(first, tmp_path) == (first.url, False)
    there = View(url="https://wandb.example.org/team/parley?nw=old", sections=["stale"])
    asked: list[str] = []

    def load(url: str) -> View:
        asked.append(url)
        return there

    second = View()
    assert save(second, tmp_path, load=load) == (there.url, True)
    assert (asked, second.saved, there.saved) == ([first.url], 0, 1)
    assert (there.sections, there.settings, there.runset_settings) == (["fresh"], "fresh", "fresh")


def test_a_view_that_is_gone_or_of_another_project_is_saved_anew(tmp_path: Path) -> None:
    def gone(url: str) -> View:
        raise ValueError(f"no view {url}")

    assert save(View(), tmp_path, load=gone) == (View.url, False)
    assert save(View(), tmp_path, load=gone) == (View.url, False)
    assert save(View(project="other"), tmp_path, load=lambda url: View()) == (View.url, False)
    (tmp_path / SAVED).write_text("{", encoding="utf-8")
    assert save(View(), tmp_path, load=lambda url: View()) == (View.url, False)


def test_a_server_out_of_reach_is_told_with_what_to_do_next(tmp_path: Path) -> None:
    with pytest.raises(ParleyError, match="did not take the view of team/parley") as told:
        save(View(reachable=False), tmp_path)
    assert "hunter2" not in str(told.value)
    assert "parley upload" in str(told.value)
    assert not (tmp_path / SAVED).exists()
