"""Episodes without a model: exact prompts, and a hash that changes with their words alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from core_cases import Table, Tiny, arm, play, problem
from parley.errors import ConfigError
from parley.rehearsal import PLACEHOLDER, prompt_hash, prompts, rehearse
from parley.strategies.concise import Concise
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.strategies.summary import Summary
from parley.types import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Other(Tiny):
    """Asks for the answer in other words."""

    def answer_format(self, problem: Problem) -> str:
        return "Answer at last."


async def test_prompts_are_those_of_a_run() -> None:
    for strategy in (Concise(), Conclusion(), Summary(by="call")):
        given = arm(strategy, shots=1)
        _, talked = await play(given, lambda request: PLACEHOLDER)
        assert prompts(given, problem()) == talked.sent


def test_the_hash_changes_with_words_not_with_data_or_seed() -> None:
    given = arm(Full(), benchmark=Tiny())
    known = prompt_hash(given)
    assert prompt_hash(replace(given, seed=7, limit=3)) == known
    changed = (
        replace(given, benchmark=Other()),
        replace(given, strategy=Summary()),
        replace(given, shots=1),
        replace(given, topology=Table(plan=(((0, False),), ((1, True),)))),
    )
    assert len({known, *map(prompt_hash, changed)}) == 5


def test_settings_that_would_fail_every_episode_are_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="shots=9"):
        prompt_hash(arm(Full(), shots=9))


def test_another_failure_is_left_to_the_run() -> None:
    episode = rehearse(arm(Full(), context=64), problem(question="Where " * 500))
    assert episode.failure is not None
    assert episode.failure.error == "ContextOverflow"
