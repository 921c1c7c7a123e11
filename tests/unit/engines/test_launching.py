from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from parley.engines.launching import flags, missing, refuse_secrets
from parley.errors import ConfigError


def test_flags_of_every_kind_of_value() -> None:
    settings = {
        "tensor_parallel_size": 4,
        "enforce_eager": True,
        "enable_chunked_prefill": False,
        "override_generation_config": {"top_k": 0},
        "middleware": ["a.b", "c.d"],
        "quantization": None,
        "gpu-memory-utilization": 0.9,
    }
    assert flags(settings) == [
        *("--tensor-parallel-size", "4"),
        "--enforce-eager",
        "--no-enable-chunked-prefill",
        *("--override-generation-config", '{"top_k":0}'),
        *("--middleware", "a.b", "c.d"),
        *("--gpu-memory-utilization", "0.9"),
    ]


def test_a_secret_is_refused_by_its_name_and_not_repeated() -> None:
    with pytest.raises(ConfigError) as caught:
        refuse_secrets({"HF_TOKEN": "hf_abc"})
    assert "HF_TOKEN" in str(caught.value)
    assert "hf_abc" not in str(caught.value)
    refuse_secrets({"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"})


async def test_the_first_module_that_is_missing_is_named() -> None:
    there = ["json", "orjson"]
    assert await missing(sys.executable, there, package="both") is None
    assert await missing(None, [*there, "no_such_a", "no_such_b"], package="both") == "no_such_a"


async def test_an_interpreter_that_is_none() -> None:
    with pytest.raises(ConfigError, match="/no/such/python"):
        await missing("/no/such/python", ["json"], package="vLLM")


async def test_a_program_that_is_no_interpreter(tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.write_text("#!/bin/sh\nexit 2\n")
    os.chmod(odd, 0o755)
    with pytest.raises(ConfigError, match="later, that has vLLM"):
        await missing(str(odd), ["json"], package="vLLM")
