"""Where the vLLM environment and its small models lie, and the settings that run them on a CPU.

scripts/make_vllm_env.sh makes both.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from parley.engines.vllm import Vllm
from parley.protocols import Model

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-vllm" / "bin" / "python"
MODELS = ROOT / "outputs" / ".models"

SMOLLM2 = Model(
    name=str(MODELS / "smollm2-135m"),
    label="smollm2-135m",
    context=2048,
    reasoning="prompted",
    control=("<file_sep>", "<repo_name>"),
)
TINY_QWEN3 = Model(
    name=str(MODELS / "tiny-qwen3"),
    label="tiny-qwen3",
    context=2048,
    reasoning="native",
    control=("<think>", "</think>", "<tool_call>", "</tool_call>"),
)


def needs(model: Model) -> pytest.MarkDecorator:
    """Skips a test, with the reason, where the environment or the model is absent."""
    absent = [path for path in (PYTHON, Path(model.name) / "config.json") if not path.exists()]
    return pytest.mark.skipif(
        bool(absent),
        reason=f"no {', '.join(map(str, absent))}: run scripts/make_vllm_env.sh",
    )


def engine() -> Vllm:
    """vLLM on a CPU with little memory."""
    openmp = PYTHON.parents[1] / "lib" / "libiomp5.so"
    return Vllm(
        python=str(PYTHON),
        environment={
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "HF_HUB_OFFLINE": "1",
            # Prefill is half as fast again with it.
            **({"LD_PRELOAD": str(openmp)} if openmp.exists() else {}),
        },
        args={
            # Compiling takes longer than the tests.
            "enforce_eager": True,
            # On the CPU a seeded request whose prompt is prefilled in two steps ends the engine.
            "enable_chunked_prefill": False,
            "max_num_batched_tokens": 4096,
        },
    )
