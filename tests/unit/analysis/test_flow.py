"""Who re-read what, how prompts grow, and what a prefix cache could have served."""

from __future__ import annotations

from typing import Any

import pytest

from parley.analysis.flow import summed
from records import call, episode, line, turn

SEGMENTS = (
    ("system", "system", "You help.\n", None),
    ("question", "user", "Question: where?\n", None),
    ("evidence", "user", "The mill of A.\n", None),
    ("history", "user", "", 0),
    ("cue", "user", "Speak.\n", None),
)


def _episode(problem: str = "p1", **changes: Any) -> dict[str, Any]:
    """Turn 1 hears turn 0, in 24 more tokens than its own prompt begins with."""
    first = call(prompt=(0, 1, 2, 4), cached=0, **changes)
    second = call(prompt=(0, 1, 2, 3, 4), history={0: 24}, cached=450, **changes)
    return line(episode(problem, segments=SEGMENTS, turns=(turn(0, first), turn(1, second))))


def test_edges_and_turns_by_hand() -> None:
    found = summed([_episode("p1"), _episode("p2")])
    assert found.episodes == 2
    assert found.seats == ("Agent A", "Agent B")
    assert found.edges == {("Agent B", "Agent A"): 48}
    assert {turn: at.prompt / at.calls for turn, at in found.turns.items()} == {0: 501, 1: 525}
    assert [at.history for at in found.turns.values()] == [0, 48]
    assert found.cached == 900


def test_what_a_cache_could_have_served_by_hand() -> None:
    """Of turn 0 nothing is known; of turn 1 all before its history: system 30, question 20,
    evidence 400, and the headers of both messages, two thirds of the template's 5."""
    found = summed([_episode()])
    assert found.prompt == 501 + 525
    assert found.cacheable == pytest.approx(450 + 5 * 2 / 3)


def test_another_problem_shares_what_it_begins_with_but_no_message() -> None:
    one, two = _episode("p1"), _episode("p2")
    alone = summed([one]).cacheable
    both = summed([one, two]).cacheable
    first = 450 + 46 + 5 * 2 / 3  # turn 0 again, its cue and the instruction's share with it
    assert both == pytest.approx(alone + first - 40 + alone)


def test_a_message_that_a_channel_changed_is_another_one() -> None:
    same = _episode("p1")
    changed = _episode("p1")
    changed["turns"][1]["heard"] = [[0, "something else"]]
    assert summed([same, changed]).cacheable < summed([same, same]).cacheable


def test_reused_calls_are_in_no_share_but_in_the_prompts() -> None:
    found = summed([_episode(reused=True)])
    assert (found.prompt, found.cached, found.cacheable) == (0, 0, 0)
    assert found.turns[0].prompt == 501


def test_no_episode() -> None:
    found = summed([])
    assert (found.episodes, found.seats, dict(found.edges), dict(found.turns)) == (0, (), {}, {})
