from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from fake_server import MODELS, FakeServer, answer, models
from parley.engines import registry
from parley.engines.llamacpp import LlamaCpp
from parley.engines.vllm import Vllm
from parley.protocols import Model

MODEL = Model(name="m", label="m", context=2048)


async def test_a_published_server_is_found_while_it_is_up(tmp_path: Path) -> None:
    folder = str(tmp_path / "servers")
    async with FakeServer() as server:
        server.on(MODELS, models("m"))
        registry.publish(folder, "abc", server.url, os.getpid())
        assert await registry.find(folder, "abc", "m") == server.url
        assert await registry.find(folder, "other", "m") is None
        assert await registry.find(folder, "abc", "another model") is None

        async def serves(url: str, served: str) -> bool:
            return (url, served) == (server.url, "known otherwise")

        assert await registry.find(folder, "abc", "known otherwise", serves) == server.url
        assert await registry.find(folder, "abc", "m", serves) is None
        server.on(MODELS, answer({}, status=503))
        assert await registry.find(folder, "abc", "m") is None
    assert await registry.find(folder, "abc", "m") is None
    registry.withdraw(folder, "abc")
    registry.withdraw(folder, "abc")
    assert list(Path(folder).iterdir()) == []


async def test_no_folder_and_broken_files_are_no_server(tmp_path: Path) -> None:
    assert await registry.find(None, "abc", "m") is None
    for content in (b"", b"{", b"[]", b"{}", b'{"url": 3}'):
        (tmp_path / "abc.json").write_bytes(content)
        assert await registry.find(str(tmp_path), "abc", "m") is None


def test_the_key_follows_what_is_served_and_nothing_else() -> None:
    known = registry.key(LlamaCpp(), MODEL)
    assert known == registry.key(LlamaCpp(slots=2, port=1234, timeout_s=1.0), MODEL)
    assert known == registry.key(LlamaCpp(), replace(MODEL, label="n", control=("<x>",)))
    others = {
        registry.key(LlamaCpp(), replace(MODEL, name="n")),
        registry.key(LlamaCpp(), replace(MODEL, context=4096)),
        registry.key(LlamaCpp(), replace(MODEL, revision="r")),
        registry.key(Vllm(), MODEL),
        registry.key(Vllm(args={"tensor_parallel_size": 4}), MODEL),
        registry.key(Vllm(environment={"VLLM_BATCH_INVARIANT": "1"}), MODEL),
    }
    assert len(others | {known}) == 7


async def test_an_engine_connects_to_a_server_that_is_held_for_it(tmp_path: Path) -> None:
    engine = LlamaCpp(registry=str(tmp_path))
    async with FakeServer() as server:
        server.on(MODELS, models("m"))
        server.on("/tokenize", answer({"tokens": [1, 2, 3]}))
        registry.publish(str(tmp_path), registry.key(engine, MODEL), server.url, os.getpid())
        # The model's name is no file: starting a server of its own would fail.
        async with engine.open(MODEL) as chat:
            assert await chat.count(["a\n"]) == (3,)
