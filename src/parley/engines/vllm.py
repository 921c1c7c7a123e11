"""`engine=vllm`: vLLM's OpenAI server as a managed child process."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from parley.engines import registry
from parley.engines.client import Client
from parley.engines.launching import flags, missing, refuse_secrets
from parley.engines.process import HOST, claim_port, running
from parley.errors import ConfigError, MissingExtra
from parley.protocols import Chat, Model

_SERVER = "vllm.entrypoints.openai.api_server"
_RESERVED = frozenset(
    {"model", "revision", "served_model_name", "host", "port", "max_model_len"}
    | {"enable_prompt_tokens_details", "reasoning_parser", "api_key"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vllm:
    """A managed vLLM server. `model.name` is a hub id or a local folder."""

    args: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of vLLM's server, by name with underscores: tensor_parallel_size: 4,
    enable_prefix_caching: true (--enable-...), enable_chunked_prefill: false (--no-enable-...)."""
    reasoning_parser: str | None = "qwen3"
    """vLLM's reasoning parser, used for models with native reasoning."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables added to the server's environment (VLLM_BATCH_INVARIANT: "1" for answers that do
    not depend on the load). Never secrets: those are inherited from your shell."""
    python: str | None = None
    """Interpreter that has vLLM; null is the one that runs Parley."""
    port: int | None = None
    """Port on 127.0.0.1; null takes a free one."""
    startup_timeout_s: float = 900.0
    """Seconds until the server must answer: large models load and compile for minutes."""
    timeout_s: float = 1800.0
    """Seconds without a byte after which a call has failed; covers long thinking under load."""
    attempts: int = 4
    """Most attempts of a call, the first included."""
    registry: str | None = None
    """Folder in which `parley serve` says where its server is; null always starts one."""
    log_folder: str | None = None
    """Folder of the server's log; null keeps it only if the start fails."""

    operational: ClassVar[frozenset[str]] = frozenset(
        {"python", "port", "startup_timeout_s", "timeout_s", "attempts", "registry", "log_folder"}
    )

    def __post_init__(self) -> None:
        refuse_secrets(self.environment)
        for name in self.args:
            if name.replace("-", "_") in _RESERVED:
                raise ConfigError(
                    f"engine.args.{name} is set by Parley itself",
                    remedy="use model.name, model.revision, model.context, engine.port or "
                    "engine.reasoning_parser",
                )

    @property
    def concurrency(self) -> int:
        """As many as vLLM decodes at once: its own default is 256."""
        return int(self.args.get("max_num_seqs", 256))

    @asynccontextmanager
    async def open(self, model: Model) -> AsyncIterator[Chat]:
        found = await registry.find(self.registry, registry.key(self, model), model.name)
        async with AsyncExitStack() as stack:
            if found is None:
                if await missing(self.python, ["vllm"], package="vLLM"):
                    raise MissingExtra("vllm", "vllm")
                port = claim_port(self.port)
                found = f"http://{HOST}:{port}"
                await stack.enter_async_context(
                    running(
                        self.command(model, port),
                        name="vllm",
                        health=f"{found}/health",
                        startup_timeout_s=self.startup_timeout_s,
                        environment=self.environment,
                        log_folder=self.log_folder,
                        remedy="check model.name, engine.args and the memory of the device",
                    )
                )
            yield await stack.enter_async_context(
                Client(
                    (found,),
                    model=model,
                    dialect="vllm",
                    timeout_s=self.timeout_s,
                    attempts=self.attempts,
                )
            )

    def command(self, model: Model, port: int) -> list[str]:
        """What is run: the flags that the harness needs, then the user's own.

        The module and not `vllm serve`, which some builds break.
        """
        # --enable-prompt-tokens-details: without it usage says nothing of cached tokens.
        needed: dict[str, Any] = {
            "model": model.name,
            "served_model_name": model.name,
            "host": HOST,
            "port": port,
            "max_model_len": model.context,
            "enable_prompt_tokens_details": True,
            "revision": model.revision,
            "reasoning_parser": self.reasoning_parser if model.reasoning == "native" else None,
        }
        python = self.python or sys.executable
        return [python, "-m", _SERVER, *flags(needed), *flags(self.args)]
