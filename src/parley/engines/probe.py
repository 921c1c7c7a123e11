"""What a server serves, and in which dialect: its answer to GET /v1/models."""

from __future__ import annotations

from dataclasses import dataclass

import aiohttp
import orjson

from parley.engines.address import Address
from parley.engines.failures import clean, words
from parley.engines.wire import Dialect
from parley.errors import EngineError

_OWNERS: dict[str, Dialect] = {"vllm": "vllm", "llamacpp": "llamacpp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The names a server knows its models by, and the dialect it speaks."""

    names: tuple[str, ...]
    dialect: Dialect


async def probe(url: str, *, api_key: str | None = None, timeout_s: float = 30.0) -> Served:
    """Asks the server. Raises EngineError where none answers as an OpenAI-protocol server."""
    address = Address(url, api_key)
    limit = aiohttp.ClientTimeout(total=timeout_s)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit, cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.get(address.to("v1/models"), headers=address.headers) as response,
        ):
            status, raw = response.status, await response.read()
    except (aiohttp.ClientError, TimeoutError) as error:
        said = clean(str(error), address.secrets) or "no answer in time"
        raise EngineError(
            f"no server answers at {address.shown}: {said}",
            remedy="start the server, or check engine.urls",
        ) from None
    if status != 200:
        said = clean(words(raw)[0], address.secrets)
        key = status in (401, 403)
        raise EngineError(
            f"{address.shown} refuses to list its models (HTTP {status}): {said}",
            remedy="check the API key (engine.api_key)" if key else "check engine.urls",
        )
    try:
        models = orjson.loads(raw)["data"]
        names = [str(name) for m in models for name in (m["id"], *(m.get("aliases") or ()))]
        owner = str(models[0].get("owned_by")) if models else ""
    except (ValueError, KeyError, TypeError, AttributeError):
        raise EngineError(
            f"{address.shown} does not speak the OpenAI protocol: "
            "its /v1/models is no list of models",
            remedy="check engine.urls",
        ) from None
    return Served(names=tuple(dict.fromkeys(names)), dialect=_OWNERS.get(owner, "openai"))
