"""`engine=transformers`: `transformers serve` as a managed child process.

What it lacks is met here or told. It has one random state, which a call's seed sets when the call
arrives, so calls go one at a time and a held server serves one run at a time. It batches only
with the first call's sampling for all, so that is refused, as is a schema, which it ignores. It
returns no token ids: usage is the server's, the parts of an output are flagged `estimated`. For
models that write think tags or tool calls, text before such a block is lost on the server.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import aiohttp
from filelock import FileLock, Timeout

from parley.engines import registry
from parley.engines.client import Client
from parley.engines.launching import flags, missing, refuse_secrets
from parley.engines.process import HOST, claim_port, running
from parley.errors import ConfigError, EngineError, MissingExtra
from parley.protocols import Chat, Model

_PROGRAM = "transformers.cli.transformers"
_NEEDED = ("transformers", "torch", "accelerate", "fastapi", "uvicorn", "openai")
_RESERVED = frozenset(
    {"force_model", "model", "revision", "host", "port", "model_timeout", "default_seed"}
    | {"reasoning", "chat_template_kwargs", "non_blocking"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformers:
    """A managed `transformers serve`. `model.name` is a hub id or a local folder."""

    args: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of `transformers serve`, by name with underscores: dtype: bfloat16,
    device: "cuda:0", attn_implementation: sdpa, compile: true (--compile)."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables added to the server's environment (OMP_NUM_THREADS: "4" for CPU threads). Never
    secrets: those are inherited from your shell."""
    python: str | None = None
    """Interpreter that has transformers[serving]; null is the one that runs Parley."""
    port: int | None = None
    """Port on 127.0.0.1; null takes a free one."""
    startup_timeout_s: float = 900.0
    """Seconds until the server must answer: large models load for minutes."""
    timeout_s: float = 3600.0
    """Seconds without a byte after which a call has failed. Long: a whole output comes at once, and
    calls after one that was given up are flagged `seed_not_kept`."""
    attempts: int = 4
    """Most attempts of a call, the first included."""
    registry: str | None = None
    """Folder in which `parley serve` says where its server is; null always starts one."""
    log_folder: str | None = None
    """Folder of the server's log; null keeps it only if the start fails."""

    operational: ClassVar[frozenset[str]] = frozenset(
        {"python", "port", "startup_timeout_s", "timeout_s", "attempts", "registry", "log_folder"}
    )
    takes_schema: ClassVar[bool] = False

    def __post_init__(self) -> None:
        refuse_secrets(self.environment)
        for name in self.args:
            plain = name.replace("-", "_")
            if plain in _RESERVED:
                raise ConfigError(
                    f"engine.args.{name} is set by Parley itself",
                    remedy="use model.name, model.revision, model.template or engine.port",
                )
            if plain == "continuous_batching" or plain.startswith("cb_"):
                raise ConfigError(
                    f"engine.args.{name}: batched, `transformers serve` gives all calls the first "
                    "one's temperature, and none its own seed",
                    allowed="one call at a time",
                    remedy="engine=vllm for many at once",
                )

    @property
    def concurrency(self) -> int:
        """One: more would only wait for each other."""
        return 1

    @asynccontextmanager
    async def open(self, model: Model) -> AsyncIterator[Chat]:
        served, key = pinned(model), registry.key(self, model)
        found = await registry.find(self.registry, key, served, serves)
        async with AsyncExitStack() as stack:
            if found is not None and self.registry is not None:
                stack.enter_context(_alone(Path(self.registry) / f"{key}.lock", found))
            else:
                found = await self._start(stack, model)
            yield await stack.enter_async_context(
                Client(
                    (found,),
                    model=model,
                    served=served,
                    dialect="transformers",
                    timeout_s=self.timeout_s,
                    attempts=self.attempts,
                    # Calls that overlap would set each other's seeds.
                    connections=1,
                )
            )

    async def _start(self, stack: AsyncExitStack, model: Model) -> str:
        if absent := await missing(self.python, _NEEDED, package="transformers[serving]"):
            raise MissingExtra(absent, "transformers")
        port = claim_port(self.port)
        url = f"http://{HOST}:{port}"
        await stack.enter_async_context(
            running(
                self.command(model, port),
                name="transformers",
                health=f"{url}/health",
                startup_timeout_s=self.startup_timeout_s,
                # Its command line asks a package index for news otherwise.
                environment={"HF_HUB_DISABLE_UPDATE_CHECK": "1", **self.environment},
                log_folder=self.log_folder,
                remedy="check model.name, engine.args, the memory of the device, and that "
                "transformers is 5.19 or later",
            )
        )
        return url

    def command(self, model: Model, port: int) -> list[str]:
        """What is run: the model loaded before the first call, then the user's own flags."""
        python = self.python or sys.executable
        place = flags({"host": HOST, "port": port})
        return [python, "-P", "-m", _PROGRAM, "serve", pinned(model), *place, *flags(self.args)]


def pinned(model: Model) -> str:
    """The model's name as the server has it: with its revision. Raises ConfigError."""
    if "@" in model.name:
        raise ConfigError(
            f"model.name={model.name}: `transformers serve` reads what follows an @ as a revision",
            remedy="set model.revision, or rename the folder",
        )
    return f"{model.name}@{model.revision}" if model.revision else model.name


async def serves(url: str, served: str) -> bool:
    """Whether a server holds that model. It lists the hub's cache as its models, so it is asked
    for one without a name: the refusal says which it holds. Raises EngineError."""
    limit = aiohttp.ClientTimeout(total=5.0)
    asked = {"model": "", "messages": []}
    try:
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.post(f"{url}/v1/chat/completions", json=asked) as response,
        ):
            return response.status == 400 and f"'{served}'" in await response.text()
    except (aiohttp.ClientError, TimeoutError):
        raise EngineError(f"no server answers at {url}") from None


@contextmanager
def _alone(path: Path, url: str) -> Iterator[None]:
    """Keeps other runs off a held server. Raises EngineError."""
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise EngineError(
            f"another run uses the server at {url}: their calls would set each other's seeds",
            allowed="one run at a time on a held `transformers serve`",
            remedy="wait for that run, or engine.registry=null for a server of this run's own",
        ) from None
    try:
        yield
    finally:
        lock.release()
