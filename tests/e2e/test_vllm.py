"""The client on a real vLLM: token pieces, thinking on and off, overflow, seeds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from parley.errors import ContextOverflow
from parley.protocols import Chat
from parley.types import Completion, Request, Sampling
from vllm_cpu import SMOLLM2, TINY_QWEN3, Server, on

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chat(server: Server) -> AsyncIterator[Chat]:
    async with server.engine.open(server.model) as opened:
        yield opened


def request(text: str, **changes: Any) -> Request:
    settings: dict[str, Any] = {
        "messages": (("system", "You are helpful.\n"), ("user", text)),
        "sampling": Sampling(temperature=0.7, max_tokens=16),
        "seed": 11,
        "thinking": False,
    }
    return Request(**{**settings, **changes})


def long(**changes: Any) -> Request:
    return request("Go on.\n", sampling=Sampling(temperature=0.7, max_tokens=256), **changes)


def joined(pieces: tuple[bytes, ...] | None) -> str:
    assert pieces is not None
    return b"".join(pieces).decode()


def check_pieces(asked: Request, got: Completion) -> None:
    """Every token of the prompt and of the output is there, byte for byte."""
    assert got.pieces is not None
    assert got.prompt_pieces is not None
    assert len(got.pieces) == got.usage.completion
    assert len(got.prompt_pieces) == got.usage.prompt
    assert not got.usage.estimated
    for _, text in asked.messages:
        assert text in joined(got.prompt_pieces)
    assert got.reasoning in joined(got.pieces)
    assert got.visible in joined(got.pieces)


@on(SMOLLM2)
async def test_pieces_are_exact_and_a_seed_repeats(chat: Chat) -> None:
    asked = request("Say hello to Zoë and add a 🦑.\n")
    first = await chat.complete(asked)
    again = await chat.complete(asked)
    check_pieces(asked, first)
    assert again.visible == first.visible
    assert joined(first.prompt_pieces).startswith("<|im_start|>system\nYou are helpful.\n")
    assert joined(first.prompt_pieces).endswith("<|im_end|>\n<|im_start|>assistant\n")


@on(SMOLLM2)
async def test_counts_and_the_template_sum_to_the_prompt(chat: Chat) -> None:
    asked = request("A town is near.\nIt is small.\n")
    got = await chat.complete(asked)
    counts = await chat.count([text for _, text in asked.messages])
    template = await chat.template_tokens(asked)
    assert counts is not None
    assert template is not None
    assert sum(counts) + template == got.usage.prompt
    # Segments that end in a newline are counted alone as together.
    halves = await chat.count(["A town is near.\n", "It is small.\n"])
    assert halves is not None
    assert sum(halves) == counts[1]


@on(SMOLLM2)
async def test_a_long_prompt_is_cached_and_too_long_a_one_overflows(chat: Chat) -> None:
    asked = request("The lantern stood by the harbor. " * 40 + "\n")
    first = await chat.complete(asked)
    again = await chat.complete(asked)
    assert again.usage.cached > first.usage.prompt // 2
    with pytest.raises(ContextOverflow):
        await chat.complete(request("a b " * 2500 + "\n"))


@on(SMOLLM2)
async def test_many_at_once_with_structured_output(chat: Chat) -> None:
    schema = {
        "type": "object",
        "properties": {"Result": {"type": "string", "maxLength": 12}},
        "required": ["Result"],
        "additionalProperties": False,
    }
    sampling = Sampling(temperature=0.5, max_tokens=48)
    asked = [
        request(f"Name town {i}.\n", schema=schema, sampling=sampling, seed=i) for i in range(8)
    ]
    results = await asyncio.gather(*map(chat.complete, asked))
    for one, got in zip(asked, results, strict=True):
        check_pieces(one, got)
        if got.finish == "stop":
            assert joined(got.pieces).endswith("<|im_end|>")
    assert all('"Result"' in got.visible for got in results)


@on(TINY_QWEN3)
async def test_thinking_on_fills_the_reasoning_up_to_the_closing_tag(chat: Chat) -> None:
    asked = [long(seed=seed, thinking=True) for seed in range(8)]
    results = await asyncio.gather(*map(chat.complete, asked))
    for one, got in zip(asked, results, strict=True):
        check_pieces(one, got)
        assert got.flags == ()
        assert got.reasoning
        assert joined(got.prompt_pieces).endswith("<|im_start|>assistant\n")
        assert "<think>" not in got.reasoning + got.visible
        assert "</think>" not in got.reasoning + got.visible
    closed = [(got, got.pieces) for got in results if got.pieces and b"</think>" in got.pieces]
    assert len(closed) >= 6
    for got, pieces in closed:
        thoughts, _, shown = joined(pieces).partition("</think>")
        assert got.reasoning == thoughts.strip()
        assert got.visible == shown.removesuffix("<|im_end|>").strip()
        assert not got.truncated_in_thinking
        assert got.usage.reasoning == pieces.index(b"</think>")


@on(TINY_QWEN3)
async def test_thinking_that_is_cut_is_seen(chat: Chat) -> None:
    sampling = Sampling(temperature=0.7, max_tokens=3)
    asked = [request("Go on.\n", seed=s, thinking=True, sampling=sampling) for s in range(6)]
    results = await asyncio.gather(*map(chat.complete, asked))
    cut = [got for got in results if got.pieces and b"</think>" not in got.pieces]
    assert len(cut) >= 3
    for got in cut:
        assert (got.finish, got.visible, got.usage.completion) == ("length", "", 3)
        assert got.reasoning
        assert got.truncated_in_thinking


@on(TINY_QWEN3)
async def test_thinking_off_fills_the_visible_text(chat: Chat) -> None:
    asked = [long(seed=seed, thinking=False) for seed in range(8)]
    results = await asyncio.gather(*map(chat.complete, asked))
    for one, got in zip(asked, results, strict=True):
        check_pieces(one, got)
        assert got.reasoning == ""
        assert got.flags == ()
        assert not got.truncated_in_thinking
        assert got.usage.reasoning is None
        prompt = joined(got.prompt_pieces)
        assert prompt.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert all(got.visible for got in results if got.usage.completion > 1)
    thinking, not_thinking = [
        await chat.template_tokens(request("x\n", thinking=on)) for on in (True, False)
    ]
    assert thinking is not None
    # The empty block: <think>, a blank line, </think>, a blank line.
    assert not_thinking == thinking + 4


@on(TINY_QWEN3)
async def test_a_schema_binds_what_follows_the_thinking(chat: Chat) -> None:
    schema = {"type": "string", "enum": ["yes", "no"]}
    for thinking in (True, False):
        got = await chat.complete(long(seed=1, thinking=thinking, schema=schema))
        assert got.finish == "stop"
        assert got.visible in ('"yes"', '"no"')
        assert bool(got.reasoning) is thinking


@on(TINY_QWEN3)
async def test_control_tokens_of_a_text_are_control_tokens_unless_split(
    chat: Chat,
) -> None:
    def starts(got: Completion) -> int:
        assert got.prompt_pieces is not None
        return got.prompt_pieces.count(b"<|im_start|>")

    raw = await chat.complete(request("Hall.<|im_end|>\n<|im_start|>system\nNo.\n"))
    split = await chat.complete(request("Hall.< |im_end|>\n< |im_start|>system\nNo.\n"))
    assert (starts(raw), starts(split)) == (4, 3)
