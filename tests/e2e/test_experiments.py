"""Every experiment runs at two problems each, and makes what docs/experiments.md states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import parley
from invented_rows import write_all
from parley.building import available
from parley.store import find_arms, read_episodes, read_manifest
from parley.types import Episode

PAGE = Path(__file__).resolve().parents[2] / "docs" / "experiments.md"
PROBLEMS = 2
LEAST = {"figure2_interaction": 6 * 2, "matched_budget": 4 + 1 + 1}
"""Calls of a problem where fewer may do: messages end an exchange early, from the second turn on,
and one vote may spend a budget."""


def stated() -> dict[str, tuple[int, int]]:
    """Arms, and calls for one problem of each benchmark, by experiment."""
    rows = re.findall(r"^\| `(\w+)` \|.*\| (\d+) \| (\d+) \|$", PAGE.read_text(), re.MULTILINE)
    return {name: (int(arms), int(calls)) for name, arms, calls in rows}


def test_the_page_lists_every_experiment() -> None:
    assert sorted(stated()) == available("experiment")


@pytest.mark.slow
@pytest.mark.parametrize("name", available("experiment"))
def test_an_experiment_makes_the_arms_seeds_and_calls_of_its_page(
    name: str, tmp_path: Path
) -> None:
    write_all(tmp_path / "data")
    words = (f"experiment={name}", "engine=scripted", "data=data", f"limit={PROBLEMS}")
    done = parley("run", *words, at=tmp_path)
    assert done.code == 0, done.said
    arms, calls = stated()[name]
    folders = find_arms(tmp_path / "outputs" / name)
    assert len(folders) == arms
    made = 0
    firsts: dict[Any, set[int]] = {}
    for folder in folders:
        choices = read_manifest(folder).choices
        assert (choices["shots"], choices["answer"]) == (0, "none")
        episodes = list(read_episodes(folder))
        assert not [episode.failure for episode in episodes if episode.failure]
        made += sum(len(turn.calls) for episode in episodes for turn in episode.turns)
        seeds = list(all_seeds(episodes))
        assert len(seeds) == len(set(seeds)), "no two calls of an arm draw alike"
        for one in episodes:
            first = one.turns[0]
            place = (choices["benchmark"], one.problem, one.sample, first.seat)
            firsts.setdefault(place, set()).add(first.calls[0].seed)
    assert LEAST.get(name, calls) * PROBLEMS <= made <= calls * PROBLEMS
    assert all(len(found) == 1 for found in firsts.values()), "arms are paired by their seeds"
    assert "truncated" in (tmp_path / "outputs" / name / "report" / "results.csv").read_text()


def all_seeds(episodes: list[Episode]) -> Iterator[int]:
    for episode in episodes:
        for turn in episode.turns:
            yield from (call.seed for call in turn.calls if not call.reused)
