from __future__ import annotations

import socket

import pytest

from fake_server import CHAT, MODELS, Answer, FakeServer, answer, chat, models
from parley.engines.probe import probe
from parley.engines.remote import Remote
from parley.errors import EngineError
from parley.protocols import Model
from parley.types import Request, Sampling

MODEL = Model(name="Qwen/Qwen3-8B", label="qwen3-8b", context=4096)
REQUEST = Request(
    messages=(("user", "Hi.\n"),), sampling=Sampling(temperature=0.0), seed=1, thinking=True
)


async def refused(engine: Remote, model: Model = MODEL) -> str:
    with pytest.raises(EngineError) as caught:
        async with engine.open(model):
            raise AssertionError("it opened")
    return str(caught.value)


async def test_it_connects_and_speaks_the_servers_dialect() -> None:
    async with FakeServer() as server:
        server.on(CHAT, chat("hello"))
        for owner, asks in (
            ("vllm", {"return_token_ids"}),
            ("llamacpp", {"return_tokens", "verbose"}),
            ("openai", set()),
        ):
            server.on(MODELS, models(MODEL.name, owner=owner))
            async with Remote(urls=(server.url,), api_key="k-123").open(MODEL) as chat_:
                assert (await chat_.complete(REQUEST)).visible == "hello"
                assert chat_.model == MODEL.name
            sent = server.bodies(CHAT)[-1]
            known = {"return_token_ids", "return_tokens", "verbose"}
            assert sent.keys() & known == asks
        assert {seen.headers["Authorization"] for seen in server.seen} == {"Bearer k-123"}


async def test_a_dialect_can_be_set() -> None:
    async with FakeServer() as server:
        server.on(MODELS, models(MODEL.name, owner="vllm"))
        server.on(CHAT, chat())
        async with Remote(urls=(server.url,), dialect="openai").open(MODEL) as chat_:
            await chat_.complete(REQUEST)
        assert "return_token_ids" not in server.bodies(CHAT)[0]


async def test_a_model_under_another_name() -> None:
    async with FakeServer() as server:
        server.on(MODELS, models("local-qwen"))
        server.on(CHAT, chat())
        async with Remote(urls=(server.url,), served_model="local-qwen").open(MODEL) as chat_:
            await chat_.complete(REQUEST)
            assert chat_.model == MODEL.name
        assert server.bodies(CHAT)[0]["model"] == "local-qwen"


async def test_an_alias_is_a_name() -> None:
    body = {"data": [{"id": "/path/a.gguf", "aliases": [MODEL.name], "owned_by": "llamacpp"}]}
    async with FakeServer() as server:
        server.on(MODELS, answer(body))
        assert (await probe(server.url)).names == ("/path/a.gguf", MODEL.name)
        async with Remote(urls=(server.url,)).open(MODEL):
            pass


async def test_a_wrong_model_lists_what_is_served() -> None:
    async with FakeServer() as right, FakeServer() as wrong:
        right.on(MODELS, models(MODEL.name))
        wrong.on(MODELS, models("a-model", "b-model"))
        said = await refused(Remote(urls=(right.url, wrong.url)))
    assert wrong.url in said
    assert "'Qwen/Qwen3-8B'" in said
    assert "a-model, b-model" in said


async def test_an_unreachable_server() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{holder.getsockname()[1]}"
    said = await refused(Remote(urls=(url.replace("//", "//me:hunter2@"),)))
    assert url in said
    assert "hunter2" not in said
    assert "next:" in said


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (answer({"error": {"message": "bad key k-123"}}, status=401), "API key"),
        (answer({"detail": "Not Found"}, status=404), "HTTP 404"),
        (answer(b"<html>hello</html>"), "OpenAI protocol"),
        (answer({"data": "?"}), "OpenAI protocol"),
        (answer({"data": []}), "does not serve"),
    ],
)
async def test_what_is_no_such_server(reply: Answer, words: str) -> None:
    async with FakeServer() as server:
        server.on(MODELS, reply)
        said = await refused(Remote(urls=(server.url,), api_key="k-123"))
    assert words in said
    assert "k-123" not in said


async def test_no_server_at_all() -> None:
    assert "engine.urls" in await refused(Remote())


def test_secrets_are_in_no_printout() -> None:
    shown = repr(Remote(urls=("http://me:hunter2@h",), api_key="k-123"))
    assert "hunter2" not in shown
    assert "k-123" not in shown
