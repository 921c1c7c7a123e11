"""`engine=transformers` on the real thing: seeds, sampling, thinking, a study, death.

It runs in the environment that scripts/make_vllm_env.sh makes: vLLM needs all that it needs.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from command_line import parley, start
from parley.engines.transformers import Transformers
from parley.errors import ContextOverflow
from parley.ledger import check
from parley.protocols import Model
from parley.store import find_arms, read_episodes
from parley.types import Completion, Request, Sampling
from vllm_cpu import PYTHON, SMOLLM2, TINY_QWEN3, YAML, at_home_in

NEEDED = [PYTHON, *(Path(model.name) / "config.json" for model in (SMOLLM2, TINY_QWEN3))]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(path.exists() for path in NEEDED),
        reason="no environment with transformers, or no models: run scripts/make_vllm_env.sh",
    ),
]
# Its threads wait for each other by spinning: on a busy machine two are many times slower than one.
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
HOT = Sampling(temperature=0.9, top_p=0.95, max_tokens=12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A model that `parley serve` holds."""

    model: Model
    home: Path
    process: int

    @property
    def engine(self) -> Transformers:
        """An engine that finds the server; one that starts its own would fail."""
        return Transformers(environment=ENVIRONMENT, registry=str(self.home / "engines"))

    @property
    def overrides(self) -> tuple[str, ...]:
        return overrides(self.model, self.home)


def overrides(model: Model, home: Path) -> tuple[str, ...]:
    return (
        "engine=transformers",
        *(f"engine.environment.{name}='{value}'" for name, value in ENVIRONMENT.items()),
        f"engine.registry={home / 'engines'}",
        f"model={YAML[model.label]}",
        f"model.name={model.name}",
        f"model.label={model.label}",
        f"model.context={model.context}",
    )


@contextmanager
def held(model: Model, home: Path) -> Iterator[Held]:
    """`parley serve`; whatever way it ends, nothing that it started is left."""
    words = (*overrides(model, home), f"engine.python={PYTHON}")
    with start("serve", *words, at=home, env={"HOME": str(home)}) as process:
        try:
            assert process.stdout is not None
            while not (line := process.stdout.readline()).startswith("serving"):
                assert line, process.communicate()[1]
            assert at_home_in(home) >= 3  # the command, the guard and the server
            yield Held(model=model, home=home, process=process.pid)
        finally:
            process.terminate()
            process.communicate(timeout=60)
    limit = time.monotonic() + 30
    while at_home_in(home) and time.monotonic() < limit:
        time.sleep(0.1)
    assert at_home_in(home) == 0


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    with held(SMOLLM2, tmp_path_factory.mktemp("smollm2")) as server:
        yield server


@pytest.fixture(scope="module")
def qwen3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    with held(TINY_QWEN3, tmp_path_factory.mktemp("qwen3")) as server:
        yield server


def request(text: str = "Name a town.\n", **changes: Any) -> Request:
    settings: dict[str, Any] = {
        "messages": (("system", "Be brief.\n"), ("user", text)),
        "sampling": HOT,
        "seed": 11,
        "thinking": False,
    }
    return Request(**{**settings, **changes})


def told(got: Completion) -> str:
    return got.reasoning + got.visible


async def test_seeds_hold_for_calls_that_are_made_at_the_same_time(smollm2: Held) -> None:
    asked = [request(seed=seed) for seed in range(4)]
    async with smollm2.engine.open(SMOLLM2) as chat:
        alone = [told(await chat.complete(one)) for one in asked]
        together = await asyncio.gather(*map(chat.complete, [*asked, *asked]))
    assert len(set(alone)) == 4
    assert [told(got) for got in together] == alone * 2
    for got in together:
        assert not got.usage.estimated
        assert got.pieces is None
        assert got.flags == ()
        assert 0 < got.usage.completion <= 12
        assert got.finish == ("length" if got.usage.completion == 12 else "stop")


async def test_all_of_the_sampling_is_heeded(smollm2: Held) -> None:
    """By default it would be greedy at any temperature, and keep 50 candidates."""
    async with smollm2.engine.open(SMOLLM2) as chat:

        async def said(**sampling: Any) -> set[str]:
            drawn = Sampling(**{"temperature": 1.5, "max_tokens": 6, **sampling})
            asked = (request(seed=seed, sampling=drawn) for seed in range(3))
            return {told(await chat.complete(one)) for one in asked}

        greedy = await said(temperature=0.0)
        assert len(greedy) == 1
        for narrow in ({"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}):
            assert await said(**narrow) == greedy, narrow
        assert len(await said()) == 3
        # So hot that all tokens are alike, were there not only 50 of them.
        wild = await said(temperature=1e6)
        assert wild == await said(temperature=1e6, top_k=0)
        assert wild.isdisjoint(await said(temperature=1e6, top_k=50))


async def test_the_parts_of_a_prompt_are_counted_and_overflow_is_seen_before_the_call(
    smollm2: Held,
) -> None:
    asked = request("A town is near.\nIt is small.\n")
    async with smollm2.engine.open(SMOLLM2) as chat:
        got = await chat.complete(asked)
        counts = await chat.count([text for _, text in asked.messages])
        template = await chat.template_tokens(asked)
        assert counts is not None
        assert template is not None
        assert sum(counts) + template == got.usage.prompt
        halves = await chat.count(["A town is near.\n", "It is small.\n"])
        assert halves is not None
        assert sum(halves) == counts[1]
        with pytest.raises(ContextOverflow):
            await chat.complete(request("a b " * 1100 + "\n"))


def test_a_study_runs_to_its_end_and_its_tokens_add_up(smollm2: Held, tmp_path: Path) -> None:
    run = ("run", "-m", "strategy=full,pact", *smollm2.overrides, "limit=1")
    done = parley(
        *run, "sampling.max_tokens=16", at=tmp_path, env={"HOME": str(tmp_path)}, limit_s=300
    )
    assert done.code == 0, done.said
    episodes = [one for arm in find_arms(tmp_path / "outputs") for one in read_episodes(arm)]
    assert [len(one.turns) for one in episodes] == [4, 4]
    for call in (call for one in episodes for turn in one.turns for call in turn.calls):
        assert not call.usage.estimated
        assert check(call.tokens, call.usage)
        assert call.tokens.estimated  # the output's parts: there are no token ids
        assert call.tokens.prompt["template"] > 0
        assert call.flags == ()
    assert all(one.failure is None and one.score is not None for one in episodes)
    results = tmp_path / "outputs" / "default" / "report" / "results.csv"
    assert results.read_text().count("transformers") >= 2
    again = parley(*run, "sampling.max_tokens=16", at=tmp_path, env={"HOME": str(tmp_path)})
    assert "0 episodes to run" in again.out, again.said


async def test_a_second_run_on_a_held_server_is_told_to_wait(smollm2: Held, tmp_path: Path) -> None:
    async with smollm2.engine.open(SMOLLM2):
        done = await asyncio.to_thread(
            parley, "run", *smollm2.overrides, "limit=1", at=tmp_path, env={"HOME": str(tmp_path)}
        )
    assert done.code != 0
    assert "another run uses the server" in done.err
    assert "Traceback" not in done.said


async def test_thinking_is_switched_on_and_off(qwen3: Held) -> None:
    long = Sampling(temperature=0.7, top_k=20, max_tokens=256)
    async with qwen3.engine.open(TINY_QWEN3) as chat:
        asked = [request(seed=seed, sampling=long, thinking=True) for seed in range(8)]
        thought = [await chat.complete(one) for one in asked]
        asked = [request(seed=seed, sampling=long, thinking=False) for seed in range(8)]
        silent = [await chat.complete(one) for one in asked]
        sizes = [await chat.template_tokens(request(thinking=on)) for on in (True, False)]
    assert sum(bool(got.reasoning) for got in thought) >= 6
    assert [got.reasoning for got in silent] == [""] * 8
    for got in (*thought, *silent):
        assert got.flags == ()
        assert not got.truncated_in_thinking
        assert "think>" not in told(got)
    # The empty block: <think>, a blank line, </think>, a blank line.
    assert sizes[0] is not None
    assert sizes[1] == sizes[0] + 4


def test_a_native_reasoner_runs_a_study_with_and_without_thinking(
    qwen3: Held, tmp_path: Path
) -> None:
    done = parley(
        *("run", "-m", "strategy=conclusion,concise", *qwen3.overrides, "limit=1"),
        *("sampling.max_tokens=64", "sampling.floor_tokens=16"),
        at=tmp_path,
        env={"HOME": str(tmp_path)},
        limit_s=300,
    )
    assert done.code == 0, done.said
    thoughts = {
        thinking: [
            bool(call.reasoning)
            for arm in find_arms(tmp_path / "outputs")
            for one in read_episodes(arm)
            for turn in one.turns
            for call in turn.calls
            if call.thinking is thinking
        ]
        for thinking in (True, False)
    }
    assert any(thoughts[True])
    assert len(thoughts[False]) == 4
    assert not any(thoughts[False])


def test_the_server_dies_with_its_parent(tmp_path: Path) -> None:
    with held(SMOLLM2, tmp_path) as server:
        os.kill(server.process, 9)


def test_a_folder_without_a_model_is_told_with_the_servers_log(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    words = [word for word in overrides(SMOLLM2, tmp_path) if not word.startswith("model.name")]
    done = parley(
        *("run", *words, f"model.name={tmp_path / 'empty'}", f"engine.python={PYTHON}", "limit=1"),
        at=tmp_path,
        env={"HOME": str(tmp_path)},
    )
    assert done.code != 0
    assert "transformers ended while it started" in done.err
    assert "check model.name" in done.err
    assert at_home_in(tmp_path) == 0
