from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.engines.plausible import plausible
from parley.engines.scripted import Scripted, tokens
from parley.errors import ConfigError, ContextOverflow, TransportError
from parley.protocols import Model
from parley.types import Request, Sampling

NATIVE = Model(name="scripted", label="scripted", context=4096, reasoning="native")
PROMPTED = Model(name="scripted", label="scripted", context=4096, reasoning="prompted")


def request(text: str = "Hi there.\n", **changes: Any) -> Request:
    settings: dict[str, Any] = {
        "messages": (("system", "Be brief.\n"), ("user", text)),
        "sampling": Sampling(temperature=0.6, max_tokens=64),
        "seed": 7,
        "thinking": True,
    }
    return Request(**{**settings, **changes})


@pytest.mark.parametrize("model", [NATIVE, PROMPTED])
@pytest.mark.parametrize("thinking", [True, False])
async def test_every_token_is_accounted_for(model: Model, thinking: bool) -> None:
    asked = request(thinking=thinking)
    async with Scripted().open(model) as chat:
        got = await chat.complete(asked)
        counts = await chat.count([text for _, text in asked.messages])
        template = await chat.template_tokens(asked)
    assert counts is not None
    assert template is not None
    assert got.pieces is not None
    assert got.prompt_pieces is not None
    assert len(got.pieces) == got.usage.completion
    assert len(got.prompt_pieces) == got.usage.prompt == sum(counts) + template
    stream = b"".join(got.pieces).decode()
    assert stream.endswith("<|im_end|>")
    assert got.reasoning in stream
    assert got.visible in stream
    prompt = b"".join(got.prompt_pieces).decode()
    assert all(text in prompt for _, text in asked.messages)
    assert bool(got.reasoning) is thinking
    assert prompt.endswith("</think>\n\n") is (model is NATIVE and not thinking)


async def test_the_same_request_gives_the_same_reply() -> None:
    async with Scripted().open(NATIVE) as chat:
        first, again = [await chat.complete(request(seed=3)) for _ in range(2)]
        others = {(await chat.complete(request(_STUDY, seed=seed))).visible for seed in range(20)}
    assert first.visible == again.visible
    assert len(others) > 2


async def test_answers_in_turn_and_functions() -> None:
    async with Scripted(answers=("a", "b")).open(NATIVE) as chat:
        assert [(await chat.complete(request())).visible for _ in range(3)] == ["a", "b", "a"]
    async with Scripted(script=lambda asked: asked.messages[1][1].upper()).open(NATIVE) as chat:
        assert (await chat.complete(request())).visible == "HI THERE."


async def test_new_tokens_are_bounded_and_a_cut_in_thinking_is_seen() -> None:
    script = "<think>\none two three four\n</think>\n\nfive"
    async with Scripted(answers=(script,)).open(NATIVE) as chat:
        cut = await chat.complete(request(sampling=Sampling(temperature=0.0, max_tokens=4)))
        whole = await chat.complete(request())
    assert (cut.finish, cut.usage.completion, cut.visible) == ("length", 4, "")
    assert cut.truncated_in_thinking
    assert (whole.finish, whole.visible, whole.truncated_in_thinking) == ("stop", "five", False)


async def test_thinking_that_was_not_asked_for_is_flagged() -> None:
    async with Scripted(answers=("<think>well</think>B",)).open(NATIVE) as chat:
        assert (await chat.complete(request(thinking=False))).flags == ("thinking_not_disabled",)
        assert (await chat.complete(request())).flags == ()


async def test_a_context_that_overflows() -> None:
    model = Model(name="s", label="s", context=64)
    async with Scripted().open(model) as chat:
        with pytest.raises(ContextOverflow):
            await chat.complete(request("word " * 100 + "\n"))
        got = await chat.complete(request("word " * 40 + "\n"))
    assert got.usage.prompt + got.usage.completion <= 64


async def test_every_nth_call_fails_and_latency_is_kept() -> None:
    async with Scripted(fail_every=3, latency_s=0.05).open(NATIVE) as chat:
        started = time.perf_counter()
        outcomes = []
        for _ in range(6):
            try:
                outcomes.append((await chat.complete(request())).finish)
            except TransportError:
                outcomes.append("failed")
    assert outcomes == ["stop", "stop", "failed"] * 2
    assert time.perf_counter() - started >= 0.3
    async with Scripted(fail_every=1, fail_with="ContextOverflow").open(NATIVE) as chat:
        with pytest.raises(ContextOverflow):
            await chat.complete(request())


@pytest.mark.parametrize("path", ["os.system", "parley.nowhere.f", "parley.types.VERSION", "x"])
async def test_a_script_that_is_no_function_of_parley(path: str) -> None:
    with pytest.raises(ConfigError, match=r"engine\.script"):
        async with Scripted(script=path).open(NATIVE):
            raise AssertionError("it opened")


def test_control_tokens_in_a_text_are_read_as_such() -> None:
    assert tokens("Hall.<|im_end|>\n<|im_start|>system\n").count(b"<|im_start|>") == 1
    assert b"<|im_start|>" not in tokens("Hall.< |im_end|>\n< |im_start|>system\n")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_tokens_join_to_the_text(text: str) -> None:
    assert b"".join(tokens(text)).decode() == text


@given(st.lists(st.text(alphabet="ab <|>\t\r_im", min_size=1, max_size=8), max_size=6))
def test_tokens_of_lines_add_up(lines: list[str]) -> None:
    whole = "".join(f"{line}\n" for line in lines)
    assert len(tokens(whole)) == sum(len(tokens(f"{line}\n")) for line in lines)


_STUDY = """Question: In which town was the author of The Paper Orchard born?
Your paragraphs:
[The Paper Orchard] The Paper Orchard was written by Helen Marsh.
[The Glass Harbor] The Glass Harbor was filmed in the spring.
[Green Lantern Inn] The Green Lantern Inn burned down twice.
"""


@pytest.mark.parametrize(
    ("instruction", "starts"),
    [
        ('Write only the fact you found, in one line that starts with "Fact:".', ["Fact:"]),
        (
            "Write only these lines, one sentence each:\nAction: what you have done.\n"
            "State: the evidence this rests on.\nResult: what you contribute.",
            ["Action:", "State:", "Result:"],
        ),
        ('End with one line that starts with "Summary:" and sums up.', ["The ", "Summary:"]),
        ('Give the final answer.\nEnd with one line that starts with "Answer:".', ["", "Answer:"]),
        ("Write a message to the others.", ["The "]),
    ],
)
def test_plausible_replies_have_the_lines_that_are_asked_for(
    instruction: str, starts: list[str]
) -> None:
    for seed in range(20):
        reply = plausible(request(f"{_STUDY}{instruction}\n", seed=seed, thinking=False))
        lines = reply.splitlines()
        assert len(lines) == len(starts)
        assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True))
        assert plausible(request(_STUDY, seed=seed)).startswith("<think>\n")


def test_an_answer_that_is_only_allowed_is_given_sometimes() -> None:
    text = _STUDY + 'If you can, add a last line that starts with "Answer:".\n'
    replies = [plausible(request(text, seed=seed)) for seed in range(60)]
    assert 5 < sum("\nAnswer:" in reply for reply in replies) < 40


def test_a_schema_is_followed() -> None:
    schema = {"type": "object", "properties": {"Action": {}, "Result": {}}}
    reply = plausible(request(_STUDY, schema=schema, thinking=False))
    assert reply.startswith('{"Action":"Check ')
