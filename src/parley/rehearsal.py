"""Episodes without a model: for previews, plans, and the hash of an arm's prompt texts.

Nothing is invented about what a model would say: every output is the same placeholder, so what
a rehearsal shows are the prompts around it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import orjson

from parley.arm import Arm
from parley.calls import Run
from parley.channels.identity import Identity
from parley.episode import run_episode
from parley.errors import ConfigError, ContextOverflow
from parley.prompt import rebuild
from parley.types import Completion, Episode, Paragraph, Problem, Request, Usage

PLACEHOLDER = "(what this seat writes)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent:
    """A chat that always says the placeholder; tokens are bytes / 4, a rough rule for prose."""

    text: str = PLACEHOLDER

    @property
    def model(self) -> str:
        return "rehearsal"

    async def complete(self, request: Request) -> Completion:
        return Completion(
            reasoning="",
            visible=self.text,
            finish="stop",
            usage=Usage(
                prompt=sum(_tokens(text) for _, text in request.messages),
                completion=_tokens(self.text),
                estimated=True,
            ),
        )

    async def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(_tokens(text) for text in texts)

    async def template_tokens(self, request: Request) -> int:
        return 0


def rehearse(arm: Arm, problem: Problem, text: str = PLACEHOLDER) -> Episode:
    """The arm's episode on this problem, every output being `text`. May run inside a loop.

    Raises ConfigError for what would fail every episode: too many shots, or a mistake in a
    component. An overflow is no such thing: it depends on the problem.
    """
    run = Run(arm=arm, chat=Silent(text=text), recorded=_stand_in(arm, problem, text))
    episode = _finish(run_episode(run, problem, 0))
    failure = episode.failure
    if failure is None or failure.error == ContextOverflow.__name__:
        return episode
    if failure.error == ConfigError.__name__:
        raise ConfigError(failure.message)
    raise ConfigError(
        f"an episode cannot be played: {failure.error}: {failure.message}",
        remedy="mend the strategy, topology, channel or benchmark that raises it",
    )


def prompts(arm: Arm, problem: Problem) -> list[tuple[tuple[str, str], ...]]:
    """The exact messages of every call of a rehearsed episode, in order."""
    episode = rehearse(arm, problem)
    return [
        rebuild(episode, turn, call, arm.model.control)
        for turn in episode.turns
        for call in turn.calls
    ]


def prompt_hash(arm: Arm) -> str:
    """Changes when any word around the data of the arm's prompts changes."""
    shares = tuple((Paragraph(title=f"T{n}", text=f"E{n}."),) for n in range(8))
    problem = Problem(id="rehearsal", question="Q?", answers=("A",), shares=shares)
    texts = orjson.dumps(prompts(arm, problem))
    return hashlib.sha256(texts).hexdigest()[:16]


def _stand_in(arm: Arm, problem: Problem, text: str) -> tuple[Episode, ...]:
    """For an arm that needs a donor, which a rehearsal does not read: the arm itself, unchanneled,
    on a problem like this one."""
    if not arm.needs:
        return ()
    donor = replace(arm, channel=Identity(), needs=())
    return (rehearse(donor, replace(problem, id=f"not {problem.id}"), text),)


def _tokens(text: str) -> int:
    return max(1, round(len(text.encode()) / 4))


def _finish(playing: Coroutine[Any, Any, Episode]) -> Episode:
    """Runs a coroutine to its end, also where a loop is running already, as in a notebook."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, playing).result()
