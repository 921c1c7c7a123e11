"""Where the vLLM environment and its small models lie, and the settings that run them on a CPU.

scripts/make_vllm_env.sh makes both.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from parley.engines.vllm import Vllm
from parley.protocols import Model

Test = TypeVar("Test", bound=Callable[..., Any])

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


YAML = {SMOLLM2.label: "smollm2-135m", TINY_QWEN3.label: "qwen3-0.6b"}
"""The shipped YAML that each model is served under, with its own name put in."""
_OPENMP = PYTHON.parents[1] / "lib" / "libiomp5.so"
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    # Prefill is half as fast again with it.
    **({"LD_PRELOAD": str(_OPENMP)} if _OPENMP.exists() else {}),
}
ARGS: dict[str, Any] = {
    # Compiling takes longer than the tests.
    "enforce_eager": True,
    # On the CPU a seeded request whose prompt is prefilled in two steps ends the engine.
    "enable_chunked_prefill": False,
    "max_num_batched_tokens": 4096,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A model that `parley serve` holds, and the folder that says where."""

    model: Model
    registry: Path

    @property
    def engine(self) -> Vllm:
        """An engine that finds the server instead of starting one."""
        return Vllm(
            python=str(PYTHON), environment=ENVIRONMENT, args=ARGS, registry=str(self.registry)
        )

    @property
    def overrides(self) -> tuple[str, ...]:
        """The same on the command line."""
        return (
            "engine=vllm",
            f"engine.python={PYTHON}",
            *(f"engine.environment.{name}='{value}'" for name, value in ENVIRONMENT.items()),
            *(f"engine.args.{name}={json.dumps(value)}" for name, value in ARGS.items()),
            f"engine.registry={self.registry}",
            f"model={YAML[self.model.label]}",
            f"model.name={self.model.name}",
            f"model.label={self.model.label}",
            f"model.context={self.model.context}",
        )


def on(model: Model) -> Callable[[Test], Test]:
    """Runs a test on the fixture `server` with that model; skips it, with the reason, where the
    environment or the model is absent."""
    absent = [path for path in (PYTHON, Path(model.name) / "config.json") if not path.exists()]
    needed = pytest.mark.skipif(
        bool(absent), reason=f"no {', '.join(map(str, absent))}: run scripts/make_vllm_env.sh"
    )
    served = pytest.mark.parametrize("server", [model.label], indirect=True)

    def marked(test: Test) -> Test:
        both: Test = needed(served(test))
        return both

    return marked


def at_home_in(folder: Path) -> int:
    """How many processes run with that HOME: the one started with it, and all that it started."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += f"HOME={folder}".encode() in path.read_bytes().split(b"\0")
        except OSError:  # another user's, or ended meanwhile
            continue
    return found
