from __future__ import annotations

import sys

import pytest

from parley.engines.vllm import Vllm
from parley.errors import ConfigError, MissingExtra, ParleyError
from parley.protocols import Model

QWEN = Model(name="Qwen/Qwen3-8B", label="qwen3-8b", context=40960, revision="abc123")
PLAIN = Model(name="folder/smollm2", label="s", context=2048, reasoning="prompted")


def test_the_harness_gets_the_flags_it_needs() -> None:
    command = Vllm(python="/opt/python").command(QWEN, 8123)
    assert command[:3] == ["/opt/python", "-m", "vllm.entrypoints.openai.api_server"]
    flags = " ".join(command[3:])
    assert flags == (
        "--model Qwen/Qwen3-8B --served-model-name Qwen/Qwen3-8B --host 127.0.0.1 --port 8123 "
        "--max-model-len 40960 --enable-prompt-tokens-details --revision abc123 "
        "--reasoning-parser qwen3"
    )


def test_only_a_native_reasoner_gets_a_reasoning_parser() -> None:
    assert "--reasoning-parser" not in Vllm().command(PLAIN, 1)
    assert "--revision" not in Vllm().command(PLAIN, 1)
    assert "--reasoning-parser" not in Vllm(reasoning_parser=None).command(QWEN, 1)
    assert Vllm().command(PLAIN, 1)[0] == sys.executable


def test_any_other_argument_comes_from_the_settings() -> None:
    command = Vllm(args={"tensor_parallel_size": 4, "enforce_eager": True}).command(PLAIN, 1)
    assert command[-3:] == ["--tensor-parallel-size", "4", "--enforce-eager"]


@pytest.mark.parametrize("name", ["port", "max_model_len", "max-model-len", "api_key"])
def test_an_argument_that_is_set_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Vllm(args={name: 1})


def test_a_secret_in_the_environment_setting_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        Vllm(environment={"HF_TOKEN": "hf_abc"})
    assert "HF_TOKEN" in str(caught.value)
    assert "hf_abc" not in str(caught.value)
    Vllm(environment={"TOKENIZERS_PARALLELISM": "false", "VLLM_CPU_KVCACHE_SPACE": "1"})


async def opened(engine: Vllm) -> ParleyError:
    with pytest.raises(ParleyError) as caught:
        async with engine.open(PLAIN):
            raise AssertionError("it opened")
    return caught.value


async def test_an_interpreter_without_vllm_is_a_missing_extra() -> None:
    pytest.importorskip("xllamacpp")  # marks the environment of the tests, which has no vllm
    error = await opened(Vllm(python=sys.executable))
    assert isinstance(error, MissingExtra)
    assert "parley-harness[vllm]" in str(error)


async def test_an_interpreter_that_is_none() -> None:
    error = await opened(Vllm(python="/no/such/python"))
    assert isinstance(error, ConfigError)
    assert "/no/such/python" in str(error)
