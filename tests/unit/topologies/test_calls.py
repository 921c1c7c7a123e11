"""docs/calls.md says how many calls every topology and every arm that ships makes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core_cases import problem
from parley import config
from parley.building import available, build_arm
from parley.rehearsal import rehearse

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "calls.md").read_text(encoding="utf-8")


def table(title: str) -> dict[str, list[str]]:
    """The rows of a section's table by their first cell."""
    section = TEXT.split(f"## {title}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([a-z]\w*) \|(.+)\|$", section, re.MULTILINE)
    cells = {name: [cell.strip() for cell in rest.split("|")] for name, rest in rows}
    return {name: rest for name, rest in cells.items() if rest[0].isdigit()}


@pytest.mark.parametrize(("title", "group"), [("Topologies", "topology"), ("Arms", "arm")])
def test_every_choice_makes_the_calls_that_the_docs_state(title: str, group: str) -> None:
    stated = table(title)
    assert sorted(stated) == available(group)
    for name, cells in stated.items():
        arm = build_arm(config.resolve(config.compose_one([f"{group}={name}", "model=scripted"])))
        episode = rehearse(arm, problem())
        made = sum(len(turn.calls) for turn in episode.turns)
        assert made == arm.topology.max_turns == int(cells[0]), name
        if group == "arm":
            chosen = [arm.choices[key] for key in ("topology", "strategy")]
            assert [str(one).split("(")[0] for one in chosen] == cells[1:], name


@pytest.mark.parametrize(
    ("settings", "calls"),
    [
        (["topology=chain_of_agents", "topology.manager=true"], 3),
        (["topology=debate", "topology.rounds=0"], 4),
        (["topology=self_consistency", "topology.votes=3"], 3),
        (["topology=pipeline", "strategy=summary", "strategy.by=call"], 7),
    ],
)
def test_settings_change_the_calls_as_stated(settings: list[str], calls: int) -> None:
    arm = build_arm(config.resolve(config.compose_one([*settings, "model=scripted"])))
    assert sum(len(turn.calls) for turn in rehearse(arm, problem()).turns) == calls
