"""`engine=remote`: one or several servers that already run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from parley.engines.address import Address
from parley.engines.client import Client
from parley.engines.probe import Served, probe
from parley.engines.transport import Backoff
from parley.errors import EngineError
from parley.protocols import Chat, Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """Servers of one model. An episode stays with one of them, whose prefix cache serves it."""

    urls: tuple[str, ...] = field(default=(), repr=False)
    """Base addresses, with or without /v1. Hidden in printouts, as they may hold passwords."""
    api_key: str | None = field(default=None, repr=False)
    """Sent as a bearer token; never recorded. In YAML: ${oc.env:NAME_OF_A_VARIABLE,null}."""
    served_model: str | None = None
    """The model's name on the servers where it is not model.name."""
    dialect: Literal["auto", "openai", "vllm", "llamacpp"] = "auto"
    """How token ids and counts are asked for; `auto` goes by what the server says it is."""
    timeout_s: float = 1800.0
    """Seconds without a byte after which a call has failed; covers long thinking under load."""
    attempts: int = 6
    """Most attempts of a call, the first included; shared servers are busy at times."""
    patience_s: float = 60.0
    """Longest wait that a server may ask for (Retry-After), seconds; past it the call fails."""

    operational: ClassVar[frozenset[str]] = frozenset(
        {"urls", "api_key", "served_model", "dialect", "timeout_s", "attempts", "patience_s"}
    )

    @property
    def concurrency(self) -> int:
        """A moderate load for each server: what they stand is not known."""
        return 64 * max(1, len(self.urls))

    def __post_init__(self) -> None:
        for url in self.urls:
            Address(url, self.api_key)  # a malformed one is refused before anything is written

    @asynccontextmanager
    async def open(self, model: Model) -> AsyncIterator[Chat]:
        if not self.urls:
            raise EngineError(
                "engine=remote has no server",
                allowed="a list of base addresses",
                remedy="engine.urls=[http://host:8000]",
            )
        served = self.served_model or model.name
        found = await asyncio.gather(*(probe(url, api_key=self.api_key) for url in self.urls))
        for url, one in zip(self.urls, found, strict=True):
            _check(url, one, served)
        dialects = {one.dialect for one in found}
        detected = dialects.pop() if len(dialects) == 1 else "openai"
        async with Client(
            self.urls,
            model=model,
            served=served,
            dialect=detected if self.dialect == "auto" else self.dialect,
            timeout_s=self.timeout_s,
            attempts=self.attempts,
            api_key=self.api_key,
            backoff=Backoff(patience_s=self.patience_s),
        ) as client:
            yield client


def _check(url: str, found: Served, served: str) -> None:
    if served in found.names:
        return
    listed = ", ".join(found.names[:20]) or "nothing"
    raise EngineError(
        f"{Address(url).shown} does not serve '{served}'",
        allowed=listed,
        remedy="set model.name, or engine.served_model to one of these",
    )
