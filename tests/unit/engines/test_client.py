from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fake_server import CHAT, Answer, FakeServer, Seen, answer, chat
from parley.engines.client import Client
from parley.engines.transport import Backoff
from parley.protocols import Model
from parley.types import Completion, Request, Sampling
from shared_data import case

NATIVE = Model(name="Qwen/Qwen3-8B", label="qwen3-8b", context=4096, revision="abc")
PROMPTED = Model(name="m", label="m", context=4096, reasoning="prompted")
QUICK = Backoff(first_s=0.01, most_s=0.02)


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as started:
        yield started


def request(text: str = "Hi.\n", **changes: Any) -> Request:
    settings: dict[str, Any] = {
        "messages": (("system", "Be brief.\n"), ("user", text)),
        "sampling": Sampling(temperature=0.6, max_tokens=64),
        "seed": 7,
        "thinking": True,
    }
    return Request(**{**settings, **changes})


async def complete(
    server: FakeServer, reply: Answer, *, model: Model = NATIVE, thinking: bool = True
) -> Completion:
    server.on(CHAT, reply)
    async with Client((server.url,), model=model, backoff=QUICK) as client:
        return await client.complete(request(thinking=thinking))


async def test_b06_reasoning_under_either_name_once(server: FakeServer) -> None:
    for message in case("B06")["input"]:
        got = await complete(server, chat(message["content"], message=message))
        assert (got.reasoning, got.visible) == ("R", "4")


async def test_b08_an_empty_block_is_no_thinking_and_a_full_one_is_flagged(
    server: FakeServer,
) -> None:
    empty, full = case("B08")["input"]
    got = await complete(server, chat(empty["text"]), thinking=False)
    assert (got.reasoning, got.visible, got.flags) == ("", "Answer: B", ())
    assert server.bodies()[-1]["chat_template_kwargs"] == {"enable_thinking": False}
    got = await complete(server, chat(full["text"]), thinking=False)
    assert (got.visible, got.flags) == ("Answer: B", ("thinking_not_disabled",))
    assert "well" in got.reasoning


async def test_a_prompted_reasoner_is_never_flagged(server: FakeServer) -> None:
    reply = chat("<think>well</think>Answer: B")
    assert (await complete(server, reply, model=PROMPTED, thinking=False)).flags == ()


async def test_b09_a_false_zero_of_reasoning_tokens_is_no_count(server: FakeServer) -> None:
    found = case("B09")["input"]
    variants = (None, found["variant"], {"reasoning_tokens": 10**6})
    for details in variants:
        usage = {**found["usage"], "completion_tokens_details": details}
        got = await complete(server, chat("4", message={"reasoning": "r" * 2000}, usage=usage))
        assert (got.usage.completion, got.usage.reasoning) == (474, None)
        assert not got.usage.estimated
    usage = {**found["usage"], "completion_tokens_details": {"reasoning_tokens": 470}}
    got = await complete(server, chat("4", message={"reasoning": "r" * 2000}, usage=usage))
    assert got.usage.reasoning == 470


async def test_d05_null_content_is_an_outcome_of_one_call(server: FakeServer) -> None:
    found = case("D05")["input"]
    usage = {"prompt_tokens": 9, **found["usage"]}
    for finish in (found["finish_reason"], "repetition", "some_new_word"):
        server.seen.clear()
        got = await complete(
            server,
            chat(None, message={"reasoning": found["reasoning"]}, finish=finish, usage=usage),
        )
        assert (got.visible, got.reasoning, got.finish) == ("", "...", finish)
        assert got.truncated_in_thinking
        assert got.usage.completion == 4096
        assert len(server.seen) == 1


async def test_d06_missing_usage_is_counted_and_flagged_never_zero(server: FakeServer) -> None:
    for usage in ("missing", None, {}, {"prompt_tokens": 0, "completion_tokens": 0}):
        got = await complete(server, chat("a longer reply of some words", usage=usage))
        assert got.usage.estimated
        assert got.usage.prompt == len("Be brief.\n") // 4 + 1
        assert got.usage.completion == len("a longer reply of some words") // 4
    got = await complete(server, chat("", usage="missing"))
    assert got.usage.completion >= 1


async def test_d06_missing_usage_is_counted_by_the_servers_tokenizer(server: FakeServer) -> None:
    def tokenize(seen: Seen) -> Answer:
        words = len(seen.body["prompt"].split()) + seen.body["prompt"].count("\n")
        return answer({"count": words, "tokens": list(range(words)), "token_strs": None})

    def reply(seen: Seen) -> Answer:
        if seen.body["max_tokens"] == 1:  # the calibration of the template
            return chat("a", usage={"prompt_tokens": 2 + 2 + 8, "completion_tokens": 1})
        return chat("four words come back", usage="missing")

    server.on("/tokenize", tokenize)
    server.on(CHAT, reply)
    async with Client((server.url,), model=NATIVE, dialect="vllm") as client:
        got = await client.complete(request())
        assert await client.template_tokens(request()) == 8
    assert (got.usage.prompt, got.usage.completion, got.usage.estimated) == (3 + 2 + 8, 4, True)
    assert sum(body["max_tokens"] == 1 for body in server.bodies()) == 1


async def test_d07_what_several_choices_cost_is_booked_once(server: FakeServer) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 80}
    others = [{"index": i, "message": {"content": "b"}} for i in range(1, 4)]
    first = {"index": 0, "message": {"content": "a"}, "finish_reason": "stop"}
    got = await complete(server, chat(usage=usage, top={"choices": [first, *others]}))
    assert (got.visible, got.usage.prompt, got.usage.completion) == ("a", 10, 80)


async def test_cached_tokens_and_the_seed(server: FakeServer) -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    got = await complete(server, chat(usage=usage))
    assert got.usage.cached == 8
    assert server.bodies()[0]["seed"] == 7
    assert got.latency > 0
    assert (got.attempts, got.waste) == (1, 0)


async def test_an_episode_stays_with_its_server() -> None:
    async with FakeServer() as one, FakeServer() as two:
        one.on(CHAT, chat("one"))
        two.on(CHAT, chat("two"))
        # With /v1, without, with a slash: all the same.
        async with Client((one.url + "/v1/", two.url), model=NATIVE) as client:
            said = [(await client.complete(request(affinity=i))).visible for i in (0, 1, 3, 4, 4)]
            assert client.urls == (one.url, two.url)
            assert client.model == "Qwen/Qwen3-8B@abc"
    assert said == ["one", "two", "two", "one", "one"]


async def test_d09_waiting_for_a_connection_or_the_loop_is_no_timeout(server: FakeServer) -> None:
    count = 0

    def reply(seen: Seen) -> Answer:
        nonlocal count
        count += 1
        bad = count == 10
        return answer({"error": "no"}, status=400) if bad else chat(delay_s=0.05)

    server.on(CHAT, reply)
    client = Client((server.url,), model=NATIVE, timeout_s=0.4, attempts=1, connections=4)
    async with client:

        async def one() -> Completion:
            got = await client.complete(request())
            time.sleep(0.02)  # a grader that blocks the loop
            return got

        results = await asyncio.gather(*(one() for _ in range(64)), return_exceptions=True)
    failed = [result for result in results if isinstance(result, BaseException)]
    assert [type(error).__name__ for error in failed] == ["RequestRefused"]
    assert server.most_at_once <= 4


async def test_counts_are_memoised_and_shared_by_those_who_ask_at_once(
    server: FakeServer,
) -> None:
    server.on("/tokenize", lambda seen: answer({"tokens": seen.body["content"].split()}))
    async with Client((server.url,), model=PROMPTED, dialect="llamacpp") as client:
        counts = await asyncio.gather(*(client.count(["a b\n", "c\n", "a b\n"]) for _ in range(9)))
    assert set(counts) == {(2, 1, 2)}
    assert len(server.bodies("/tokenize")) == 2


async def test_a_server_that_does_not_tokenise_is_not_asked_again(server: FakeServer) -> None:
    server.on(CHAT, chat())
    async with Client((server.url,), model=PROMPTED, dialect="vllm") as client:
        assert await client.count(["a\n"]) is None
        asked = len(server.bodies("/tokenize"))
        assert await client.count(["b\n"]) is None
        assert await client.template_tokens(request()) is None
        assert (await client.complete(request())).pieces is None
        assert len(server.bodies("/tokenize")) == asked
    async with Client((server.url,), model=PROMPTED) as client:
        assert await client.count(["a\n"]) is None


async def test_one_text_that_is_refused_does_not_end_counting(server: FakeServer) -> None:
    server.on(
        "/tokenize",
        lambda seen: (
            answer({"error": "odd"}, status=400)
            if "odd" in seen.body["content"]
            else answer({"tokens": [1]})
        ),
    )
    async with Client((server.url,), model=PROMPTED, dialect="llamacpp") as client:
        assert await client.count(["odd\n"]) is None
        assert await client.count(["fine\n"]) == (1,)
