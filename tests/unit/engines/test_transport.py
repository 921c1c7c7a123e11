from __future__ import annotations

import asyncio
import socket
import time
import traceback
from typing import Any

import pytest

from fake_server import CHAT, FakeServer, answer, chat, reset
from parley.engines.address import Address
from parley.engines.client import Client
from parley.engines.transport import Backoff
from parley.errors import (
    ContextOverflow,
    EngineError,
    ParleyError,
    RequestRefused,
    TransportError,
)
from parley.protocols import Model
from parley.types import Completion, Request, Sampling
from shared_data import case

MODEL = Model(name="m", label="m", context=4096, reasoning="prompted")
REQUEST = Request(
    messages=(("user", "Hi.\n"),),
    sampling=Sampling(temperature=0.0),
    seed=1,
    thinking=False,
)
QUICK = Backoff(first_s=0.01, most_s=0.02)


async def complete(*urls: str, **settings: Any) -> Completion:
    async with Client(urls, model=MODEL, **{"backoff": QUICK, "attempts": 4, **settings}) as client:
        return await client.complete(REQUEST)


async def failing(url: str, **settings: Any) -> ParleyError:
    with pytest.raises(ParleyError) as caught:
        await complete(url, **settings)
    return caught.value


def dead_url() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


async def test_what_may_pass_is_repeated_until_it_passes() -> None:
    async with FakeServer() as server:
        server.on(
            CHAT,
            reset(),
            reset(sent=50),
            answer({"error": "busy"}, status=503),
            answer(b"<html>proxy</html>"),
            answer({"choices": []}),
            answer({"error": {"message": "engine died", "code": 500}}),
            chat("at last"),
        )
        got = await complete(server.url, attempts=7)
    assert (got.visible, got.attempts) == ("at last", 7)


async def test_attempts_are_bounded_and_the_last_failure_is_told() -> None:
    async with FakeServer() as server:
        server.on(CHAT, answer({"error": {"message": "out of memory"}}, status=500))
        error = await failing(server.url, attempts=3)
        assert len(server.seen) == 3
    assert isinstance(error, TransportError)
    assert "3 attempts" in str(error)
    assert "out of memory" in str(error)
    assert "next:" in str(error)


async def test_an_unreachable_server_is_one_clear_error() -> None:
    url = dead_url()
    error = await failing(url, attempts=2)
    assert isinstance(error, TransportError)
    assert url in str(error)


async def test_silence_is_a_timeout_and_repeated() -> None:
    async with FakeServer() as server:
        server.on(CHAT, chat(delay_s=2.0), chat("second"))
        got = await complete(server.url, timeout_s=0.2)
    assert (got.visible, got.attempts) == ("second", 2)
    assert got.latency < 0.2


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"message": "temperature must be non-negative"}}, RequestRefused),
        (401, {"error": {"message": "no key"}}, RequestRefused),
        (404, {"error": {"message": "The model `m` does not exist"}}, RequestRefused),
        (307, {}, RequestRefused),
        (200, {"error": {"message": "no such thing", "code": 404}}, RequestRefused),
        (501, {}, TransportError),
        (400, {"object": "error", "message": "maximum context length is 3"}, ContextOverflow),
        (
            200,
            {"object": "error", "message": "maximum context length", "code": 400},
            ContextOverflow,
        ),
    ],
)
async def test_what_repeating_cannot_cure_is_asked_once(
    status: int, body: object, kind: type[ParleyError]
) -> None:
    async with FakeServer() as server:
        server.on(CHAT, answer(body, status=status))
        error = await failing(server.url)
        assert len(server.seen) == 1
    assert type(error) is kind


async def test_d01_an_overflow_is_never_repeated() -> None:
    for body in case("D01")["input"]:
        async with FakeServer() as server:
            server.on(CHAT, answer(body, status=400))
            assert isinstance(await failing(server.url), ContextOverflow)
            assert len(server.seen) == 1


async def test_d02_a_wait_that_is_asked_for_is_kept_and_an_hour_is_not() -> None:
    waits = []
    for text in case("D02")["input"]:
        status = 503 if text.startswith("503") else 429
        _, _, value = text.partition("Retry-After: ")
        headers = {"Retry-After": value} if value else {}
        async with FakeServer() as server:
            server.on(CHAT, answer({"error": "busy"}, status=status, headers=headers), chat())
            started = time.perf_counter()
            if value == "3600":
                error = await failing(server.url)
                assert isinstance(error, TransportError)
                assert "3600 s" in str(error)
                assert len(server.seen) == 1
            else:
                got = await complete(server.url)
                assert (got.attempts, got.usage.completion) == (2, 3)
            waits.append(time.perf_counter() - started)
    asked, *own = waits
    assert 2.0 <= asked < 3.0
    assert max(own) < 1.0


async def test_own_waits_grow_and_are_never_zero() -> None:
    backoff = Backoff(first_s=1.0, most_s=8.0)
    for failures, ceiling in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (9, 8.0), (5000, 8.0)):
        waits = [backoff.wait(failures) for _ in range(50)]
        assert ceiling / 2 <= min(waits)
        assert max(waits) <= ceiling
        assert len(set(waits)) > 1, "jittered, so that clients do not come back together"


async def test_d11_a_broken_attempt_leaves_no_text_and_its_tokens_are_waste() -> None:
    spent = {"prompt_tokens": 0, "completion_tokens": 300}
    usage = {"prompt_tokens": 20, "completion_tokens": 410}
    async with FakeServer() as server:
        server.on(
            CHAT,
            reset(sent=300),
            answer({"error": "engine died", "usage": spent}, status=500),
            chat("the second", usage=usage),
        )
        async with Client((server.url,), model=MODEL, backoff=QUICK) as client:
            got = await client.complete(REQUEST)
            assert client.waste == 300
    assert (got.visible, got.usage.completion, got.waste) == ("the second", 410, 300)


async def test_waste_of_a_call_that_fails_for_good_is_kept() -> None:
    body = {"error": "died", "usage": {"prompt_tokens": 5, "completion_tokens": 5}}
    async with FakeServer() as server:
        server.on(CHAT, answer(body, status=500))
        async with Client((server.url,), model=MODEL, attempts=3, backoff=QUICK) as client:
            with pytest.raises(TransportError):
                await client.complete(REQUEST)
            assert client.waste == 30


async def test_a_cancelled_call_is_cancelled_not_repeated() -> None:
    async with FakeServer() as server:
        server.on(CHAT, chat(delay_s=5.0))
        async with Client((server.url,), model=MODEL) as client:
            call = asyncio.ensure_future(client.complete(REQUEST))
            await asyncio.sleep(0.1)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        assert len(server.seen) == 1


@pytest.mark.parametrize("status", [200, 400, 401, 500])
async def test_secrets_are_sent_and_never_told(status: int) -> None:
    key, password = "plain-key-0123", "pass:w@rd"
    shown = []
    async with FakeServer() as server:
        server.on(CHAT, answer({"error": {"message": f"wrong: {key}"}}, status=status))
        error = await failing(server.url, api_key=key)
        assert server.seen[-1].headers["Authorization"] == f"Bearer {key}"
        shown += ["".join(traceback.format_exception(error)), repr(error)]
        server.on(CHAT, answer({"error": {"message": f"wrong: {password}"}}, status=status))
        url = server.url.replace("http://", "http://me:pass%3Aw%40rd@") + "/v1?api-version=3"
        error = await failing(url)
        assert server.seen[-1].headers["Authorization"].startswith("Basic ")
        assert server.seen[-1].query == "api-version=3"
        shown += ["".join(traceback.format_exception(error)), repr(error)]
    for text in shown:
        assert key not in text
        assert password not in text
        assert "pass%3Aw%40rd" not in text


@pytest.mark.parametrize("base", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"])
def test_base_addresses_are_normalised(base: str) -> None:
    assert str(Address(base).to("v1/models")) == "http://h:1/v1/models"
    assert str(Address(base).to("tokenize")) == "http://h:1/tokenize"


def test_a_path_before_v1_is_kept() -> None:
    address = Address("https://h/openai/v1")
    assert str(address.to("v1/models")) == "https://h/openai/v1/models"
    assert address.shown == "https://h/openai"


@pytest.mark.parametrize("bad", ["", "host:8000", "ftp://h", "http://", "http://me:secret@", "h"])
def test_a_bad_address_is_one_clear_error(bad: str) -> None:
    with pytest.raises(EngineError) as caught:
        Address(bad)
    assert "secret" not in str(caught.value)
    assert "allowed:" in str(caught.value)
