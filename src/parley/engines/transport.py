"""JSON over HTTP with a bounded number of attempts: one session, no total time limit.

The read time limit starts when a request is really sent, so waiting for a free connection or for
the event loop never looks like a slow server. Addresses shown in errors carry no password.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import aiohttp
import orjson
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from parley.engines.address import Address
from parley.engines.failures import Retriable, clean, failure, wait_asked
from parley.errors import EngineError, TransportError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long to wait before another attempt: doubling, jittered, or as the server asks."""

    first_s: float = 0.5
    """Longest wait before the second attempt, seconds."""
    most_s: float = 20.0
    """Longest wait before any attempt, seconds."""
    patience_s: float = 60.0
    """A server that asks for a longer wait than this, in seconds, is given up on at once."""

    def wait(self, failures: int) -> float:
        """Seconds to wait after so many failures: half to all of the doubled ceiling."""
        ceiling = min(self.most_s, self.first_s * 2.0 ** min(failures - 1, 30))
        return ceiling * random.uniform(0.5, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent(Generic[T]):
    """What a call gave. `latency` is of the attempt that succeeded, `waste` of the others."""

    value: T
    latency: float
    attempts: int = 1
    waste: int = 0


class Transport:
    """An open session to one or several servers of the same model."""

    def __init__(
        self,
        addresses: tuple[Address, ...],
        *,
        context: int,
        timeout_s: float,
        attempts: int,
        backoff: Backoff,
        connections: int = 0,
    ) -> None:
        if not addresses or attempts < 1:
            raise EngineError(
                "an engine needs at least one url and one attempt", remedy="check engine.urls"
            )
        self._addresses = addresses
        self._context, self._attempts, self._backoff = context, attempts, backoff
        self.waste = 0
        """Tokens of all failed attempts, those of calls that failed for good included."""
        self.abandoned = 0
        """Attempts that ran out of time: the server may still be at work on them."""
        self._session = aiohttp.ClientSession(
            # Servers close idle connections after 5 s: sooner here, so that none is met dead.
            connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=4.0),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=30.0, sock_read=timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        await self._session.close()

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(address.shown for address in self._addresses)

    async def post(
        self, path: str, body: bytes, read: Callable[[Any], T], *, affinity: int = 0
    ) -> Sent[T]:
        """Sends the body; `read` makes a value of the decoded answer or raises ValueError.

        Raises TransportError, RequestRefused or ContextOverflow.
        """
        address = self._addresses[affinity % len(self._addresses)]
        started = time.perf_counter()
        try:
            value = await self._attempt(address, path, body, read)
        except Retriable as error:
            return await self._again(address, path, body, read, error)
        return Sent(value=value, latency=time.perf_counter() - started)

    async def _again(
        self,
        address: Address,
        path: str,
        body: bytes,
        read: Callable[[Any], T],
        first: Retriable,
    ) -> Sent[T]:
        """The attempts that follow a failed first one."""
        made, waste = 0, 0

        async def attempt() -> Sent[T]:
            nonlocal made, waste
            made += 1
            started = time.perf_counter()
            try:
                if made == 1:
                    raise first
                value = await self._attempt(address, path, body, read)
            except Retriable as error:
                waste += error.waste
                raise
            latency = time.perf_counter() - started
            return Sent(value=value, latency=latency, attempts=made, waste=waste)

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._attempts),
            retry=retry_if_exception(self._repeatable),
            wait=self._wait,
            reraise=True,
        )
        try:
            sent: Sent[T] = await retrying(attempt)
        except Retriable as error:
            self.waste += waste
            raise self._given_up(address, error, made) from None
        self.waste += waste
        return sent

    def _repeatable(self, error: BaseException) -> bool:
        return isinstance(error, Retriable) and (error.retry_after or 0) <= self._backoff.patience_s

    def _wait(self, state: RetryCallState) -> float:
        asked = getattr(_error(state), "retry_after", None)
        return asked if asked else self._backoff.wait(state.attempt_number)

    def _given_up(self, address: Address, error: Retriable, made: int) -> TransportError:
        if not self._repeatable(error):
            return TransportError(
                f"{address.shown} asks to wait {error.retry_after:.0f} s: {error}",
                allowed=f"waits of up to {self._backoff.patience_s:.0f} s",
                remedy="run again later: finished episodes are kept",
            )
        times = "1 attempt" if made == 1 else f"{made} attempts"
        return TransportError(
            f"{address.shown} did not answer in {times}: {error}",
            remedy="check that the server runs; the same command repeats what is missing",
        )

    async def _attempt(
        self, address: Address, path: str, body: bytes, read: Callable[[Any], T]
    ) -> T:
        try:
            async with self._session.post(
                address.to(path), data=body, headers=address.headers, allow_redirects=False
            ) as response:
                raw, status = await response.read(), response.status
                asked = response.headers.get("Retry-After") if status != 200 else None
        except (aiohttp.ClientError, TimeoutError) as error:
            self.abandoned += isinstance(error, TimeoutError)
            said = clean(str(error), address.secrets)
            raise Retriable(f"{type(error).__name__}: {said}" if said else "timeout") from None
        if status == 200:
            try:
                return read(orjson.loads(raw))
            except ValueError as error:
                status, said = _stated(raw), clean(str(error), address.secrets)
                if status == 200:
                    raise Retriable(f"an answer that cannot be read: {said}") from None
        raise failure(
            status,
            raw,
            context=self._context,
            url=str(address.shown),
            retry_after=wait_asked(asked, time.time()),
            secrets=address.secrets,
        )


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _stated(raw: bytes) -> int:
    """The status inside an error body that was sent as a success; 200 if there is none."""
    try:
        data = orjson.loads(raw)
        inner = data.get("error") or (data if data.get("object") == "error" else None)
        if not inner:
            return 200
        code = inner.get("code") if isinstance(inner, dict) else None
        return code if isinstance(code, int) and 400 <= code < 600 else 500
    except (ValueError, AttributeError):
        return 200
