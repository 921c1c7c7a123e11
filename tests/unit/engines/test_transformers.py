"""`engine=transformers` without the real thing: its command, its refusals, its client."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from fake_server import CHAT, Answer, FakeServer, Seen, answer, chat
from parley.engines import registry
from parley.engines.client import Client
from parley.engines.transformers import Transformers, pinned, serves
from parley.engines.transport import Backoff
from parley.errors import (
    ConfigError,
    ContextOverflow,
    EngineError,
    MissingExtra,
    ParleyError,
    RequestRefused,
)
from parley.protocols import Model
from parley.types import Request, Sampling

QWEN = Model(name="Qwen/Qwen3-8B", label="qwen3-8b", context=40960, revision="abc123")
PLAIN = Model(name="folder/smollm2", label="s", context=2048, reasoning="prompted")
COMPLETIONS = "/v1/completions"
QUICK = Backoff(first_s=0.01, most_s=0.02)


def request(text: str = "Hi.\n", **changes: Any) -> Request:
    settings: dict[str, Any] = {
        "messages": (("user", text),),
        "sampling": Sampling(temperature=0.6, max_tokens=64),
        "seed": 7,
        "thinking": False,
    }
    return Request(**{**settings, **changes})


def client(server: FakeServer, model: Model = PLAIN, **changes: Any) -> Client:
    settings: dict[str, Any] = {"dialect": "transformers", "connections": 1, "backoff": QUICK}
    return Client((server.url,), model=model, **{**settings, **changes})


def holding(name: str) -> Answer:
    """What the real one says when it is asked for another model than it holds."""
    return answer({"detail": f"Server is pinned to '{name}'; requested ''."}, status=400)


def test_the_model_is_loaded_at_the_start_under_its_pinned_name() -> None:
    command = Transformers(python="/opt/python").command(QWEN, 8123)
    assert command == [
        *("/opt/python", "-P", "-m", "transformers.cli.transformers", "serve"),
        *("Qwen/Qwen3-8B@abc123", "--host", "127.0.0.1", "--port", "8123"),
    ]
    plain = Transformers(args={"dtype": "bfloat16", "compile": True}).command(PLAIN, 1)
    assert plain[0] == sys.executable
    assert plain[5] == "folder/smollm2"
    assert plain[-3:] == ["--dtype", "bfloat16", "--compile"]


def test_a_name_that_it_would_read_as_a_revision_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"run@2/model"):
        pinned(Model(name="run@2/model", label="m", context=2048))


@pytest.mark.parametrize(
    "name", ["port", "force-model", "default_seed", "reasoning", "chat_template_kwargs"]
)
def test_an_argument_that_is_set_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Transformers(args={name: 1})


@pytest.mark.parametrize("name", ["continuous_batching", "continuous-batching", "cb_block_size"])
def test_batching_is_refused_because_of_seeds_and_sampling(name: str) -> None:
    with pytest.raises(ConfigError, match="temperature, and none its own seed"):
        Transformers(args={name: True})


def test_a_secret_in_the_environment_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match="HF_TOKEN"):
        Transformers(environment={"HF_TOKEN": "hf_abc"})


async def opened(engine: Transformers, model: Model = PLAIN) -> ParleyError:
    with pytest.raises(ParleyError) as caught:
        async with engine.open(model):
            raise AssertionError("it opened")
    return caught.value


async def test_an_interpreter_without_transformers_is_a_missing_extra() -> None:
    pytest.importorskip("xllamacpp")  # marks the environment of the tests, which has none
    error = await opened(Transformers(python=sys.executable))
    assert isinstance(error, MissingExtra)
    assert "'transformers' is not installed" in str(error)
    assert "parley-harness[transformers]" in str(error)


async def test_a_server_that_ends_at_once_is_told_with_its_log(tmp_path: Path) -> None:
    """A stand-in for an interpreter: it has everything, and its server dies."""
    stand_in = tmp_path / "python"
    stand_in.write_text('#!/bin/sh\n[ "$2" = -c ] && exit 0\necho "no such model: $*"; exit 3\n')
    os.chmod(stand_in, 0o755)
    error = await opened(Transformers(python=str(stand_in), log_folder=str(tmp_path / "logs")))
    assert isinstance(error, EngineError)
    assert "no such model: -P -m transformers.cli.transformers serve folder/smollm2" in str(error)
    assert "transformers is 5.19 or later" in str(error)


async def test_a_held_server_is_known_by_its_refusal() -> None:
    async with FakeServer() as server:
        server.on(CHAT, holding("folder/smollm2"))
        assert await serves(server.url, "folder/smollm2")
        assert not await serves(server.url, "smollm2")
        assert server.bodies()[0] == {"model": "", "messages": []}
        server.on(CHAT, answer({"detail": "Not Found: 'folder/smollm2'"}, status=404))
        assert not await serves(server.url, "folder/smollm2")
        url = server.url
    with pytest.raises(EngineError):
        await serves(url, "folder/smollm2")


async def test_a_held_server_is_used_by_one_run_at_a_time(tmp_path: Path) -> None:
    engine = Transformers(python="/no/such/python", registry=str(tmp_path))
    async with FakeServer() as server:

        def reply(seen: Seen) -> Answer:
            return chat("hello") if seen.body["model"] else holding("Qwen/Qwen3-8B@abc123")

        server.on(CHAT, reply)
        registry.publish(str(tmp_path), registry.key(engine, QWEN), server.url, os.getpid())
        async with engine.open(QWEN) as found:
            assert (await found.complete(request())).visible == "hello"
            assert found.model == "Qwen/Qwen3-8B@abc123"
            error = await opened(engine, QWEN)
            assert isinstance(error, EngineError)
            assert "each other's seeds" in str(error)
        async with engine.open(QWEN) as found:
            assert (await found.complete(request())).visible == "hello"


async def test_calls_go_one_at_a_time_each_with_its_seed_and_its_sampling() -> None:
    sampling = Sampling(temperature=0.7, top_p=0.9, top_k=-1, min_p=0.1, max_tokens=9)
    async with FakeServer() as server:
        server.on(CHAT, chat(delay_s=0.02))
        async with client(server, QWEN, served=pinned(QWEN)) as one:
            asked = [request(seed=i, sampling=sampling, thinking=bool(i % 2)) for i in range(6)]
            await asyncio.gather(*map(one.complete, asked))
        assert server.most_at_once == 1
    for seed, sent in enumerate(server.bodies()):
        generation = orjson.loads(sent.pop("generation_config"))
        assert generation == {"do_sample": True, "top_k": 0, "min_p": 0.1}
        assert sent == {
            "model": "Qwen/Qwen3-8B@abc123",
            "messages": [{"role": "user", "content": "Hi.\n"}],
            "temperature": 0.7,
            "top_p": 0.9,
            "max_tokens": 9,
            "seed": seed,
            "chat_template_kwargs": {"enable_thinking": bool(seed % 2)},
        }


async def test_a_schema_is_refused_before_anything_is_sent() -> None:
    async with FakeServer() as server, client(server) as one:
        with pytest.raises(RequestRefused, match="ignores a schema"):
            await one.complete(request(schema={"type": "object"}))
        assert server.seen == []


def reading(seen: Seen) -> Answer:
    """Counts words, and one token that stands before every prompt."""
    size = 1 + len(seen.body["prompt"].split())
    return answer({"choices": [{"text": "x"}], "usage": {"prompt_tokens": size}})


async def test_texts_are_counted_without_what_the_tokenizer_adds() -> None:
    async with FakeServer() as server:
        server.on(COMPLETIONS, reading)
        server.on(CHAT, chat(usage={"prompt_tokens": 12, "completion_tokens": 1}))
        async with client(server) as one:
            assert await one.count(["a b c\n", "d\n", "a b c\n"]) == (3, 1, 3)
            assert await one.template_tokens(request()) == 12 - 1
        sent = server.bodies(COMPLETIONS)
    assert {(body["max_tokens"], body["temperature"]) for body in sent} == {(1, 0.0)}
    # Two texts, the two lines that tell what is added, and the line of the template's calibration.
    assert len(sent) == 5


async def test_a_release_without_completions_counts_nothing_and_is_asked_once() -> None:
    async with FakeServer() as server, client(server) as one:
        for _ in range(3):
            assert await one.count(["a b\n"]) is None
        assert len(server.bodies(COMPLETIONS)) <= 3


async def test_an_output_past_the_context_is_an_overflow_and_its_tokens_are_waste() -> None:
    async with FakeServer() as server:
        server.on(CHAT, chat(usage={"prompt_tokens": 2000, "completion_tokens": 49}))
        async with client(server) as one:
            with pytest.raises(ContextOverflow, match="2049 of 2048"):
                await one.complete(request())
            assert one.waste == 2049
        server.on(CHAT, chat(usage={"prompt_tokens": 2000, "completion_tokens": 48}))
        async with client(server) as one:
            assert (await one.complete(request())).usage.prompt == 2000


async def test_what_follows_a_call_that_was_given_up_is_flagged() -> None:
    async with FakeServer() as server:
        server.on(CHAT, chat(), chat(delay_s=0.5), chat())
        async with client(server, timeout_s=0.2) as one:
            got = [await one.complete(request()) for _ in range(3)]
    assert [one.flags for one in got] == [(), ("seed_not_kept",), ("seed_not_kept",)]
    assert [one.attempts for one in got] == [1, 2, 1]


async def test_a_server_error_leaves_the_seed_alone() -> None:
    async with FakeServer() as server:
        server.on(CHAT, answer(b"Internal Server Error", status=500), chat())
        async with client(server) as one:
            got = await one.complete(request())
    assert (got.flags, got.attempts) == ((), 2)


async def test_text_that_became_a_tool_call_is_flagged() -> None:
    """Its parser takes it out of the content; usage still counts it."""
    call = {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    async with FakeServer() as server:
        server.on(CHAT, chat("B", finish="tool_calls", message=call))
        async with client(server) as one:
            got = await one.complete(request())
    assert (got.visible, got.flags) == ("B", ("text_taken_for_tool_call",))


async def test_a_template_that_does_not_switch_thinking_off_is_flagged() -> None:
    async with FakeServer() as server:
        server.on(CHAT, chat("4", message={"reasoning_content": "hm"}))
        async with client(server, QWEN) as one:
            got = await one.complete(request(thinking=False))
    assert (got.reasoning, got.visible, got.flags) == ("hm", "4", ("thinking_not_disabled",))
