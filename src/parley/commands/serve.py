"""`parley serve`: starts an engine and holds it, so that later runs find it running."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from parley import config
from parley.errors import ConfigError, ParleyError


def command(arguments: Sequence[str]) -> int:
    """Serves until Ctrl-C or a request to terminate."""
    config.compose(arguments, serve)
    return 0


def serve(jobs: Sequence[config.Job]) -> None:
    """Starts the first job's engine. Raises ParleyError."""
    arms, _, failures = config.arms(jobs)
    if failures:
        raise config.combined(failures)
    if len(arms) != 1:
        raise ConfigError(
            f"{len(arms)} engines to serve",
            allowed="one engine with one model",
            remedy="parley serve engine=vllm model=qwen3-8b",
        )
    asyncio.run(hold(arms[0].engine, arms[0].model))


async def hold(engine: Any, model: Any) -> None:
    """Publishes the server's address while it runs."""
    from parley.engines.registry import key, publish, withdraw

    folder = getattr(engine, "registry", None)
    if folder is None:
        raise ParleyError(
            f"{type(engine).__name__} starts no server that could be held",
            allowed="engine=llamacpp, engine=vllm or engine=transformers",
        )
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    print(f"starting {model.name} ...", flush=True)
    # Without the registry: a published server would be found, and held in its place.
    async with replace(engine, registry=None).open(model) as chat:
        url, name = chat.urls[0], key(engine, model)
        published = publish(folder, name, url, os.getpid())
        print(f"serving {model.name} at {url}; runs with the same engine and model use it")
        print(f"address kept in {published}; Ctrl-C ends it", flush=True)
        try:
            await stop.wait()
        finally:
            withdraw(folder, name)
