"""A server of the chat protocol over real HTTP that answers as a test tells it to.

    async with FakeServer() as server:
        server.on("/v1/chat/completions", answer(status=503), chat("hello"))
        ...
        assert len(server.seen) == 2

Replies to a path are given in turn, the last one over and over; a function makes one of what was
asked. A path without replies answers 404.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import orjson
from aiohttp import web

CHAT = "/v1/chat/completions"
MODELS = "/v1/models"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as it arrived; `body` is decoded JSON, None where there was none."""

    path: str
    body: Any
    headers: Mapping[str, str]
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One reply. `reset` breaks the connection: before a byte is sent, or after `sent` bytes."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    reset: bool = False
    sent: int = 0


Reply = Answer | Callable[[Seen], Answer]


def answer(
    body: Any = b"",
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    delay_s: float = 0.0,
) -> Answer:
    """A reply with this JSON (or these bytes) as its body."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    return Answer(status=status, body=raw, headers=headers or {}, delay_s=delay_s)


def chat(
    content: str | None = "ok",
    *,
    finish: str | None = "stop",
    usage: Mapping[str, Any] | str | None = "default",
    message: Mapping[str, Any] | None = None,
    choice: Mapping[str, Any] | None = None,
    top: Mapping[str, Any] | None = None,
    delay_s: float = 0.0,
) -> Answer:
    """A chat completion. `message`, `choice` and `top` add fields at their place."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **(message or {})},
                "finish_reason": finish,
                **(choice or {}),
            }
        ],
        **(top or {}),
    }
    if usage == "default":
        usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    if usage != "missing":
        body["usage"] = usage
    return answer(body, delay_s=delay_s)


def reset(sent: int = 0) -> Answer:
    """A broken connection, after so many bytes of a half-written answer."""
    return Answer(
        reset=True, sent=sent, body=b'{"choices": [{"message": {"content": "' + b"x" * sent
    )


def models(*names: str, owner: str = "someone") -> Answer:
    """The list of served models."""
    return answer(
        {"object": "list", "data": [{"id": n, "object": "model", "owned_by": owner} for n in names]}
    )


class FakeServer:
    """Listens on a free port of 127.0.0.1 while its context is open."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._replies: dict[str, list[Reply]] = {}
        self.seen: list[Seen] = []
        self.most_at_once = 0
        self._at_once = 0
        self.url = ""

    def on(self, path: str, *replies: Reply) -> None:
        self._replies[path] = list(replies)

    def bodies(self, path: str = CHAT) -> list[Any]:
        """What was posted to the path, in order of arrival."""
        return [seen.body for seen in self.seen if seen.path == path]

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{tail:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        seen = Seen(
            path=request.path,
            body=orjson.loads(raw) if raw else None,
            headers=dict(request.headers),
            query=request.query_string,
        )
        self.seen.append(seen)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await self._reply(request, self._next(seen))
        finally:
            self._at_once -= 1

    def _next(self, seen: Seen) -> Answer:
        replies: Sequence[Reply] = self._replies.get(seen.path, ())
        if not replies:
            return answer({"detail": "Not Found"}, status=404)
        reply = replies[0]
        if len(replies) > 1:
            self._replies[seen.path] = list(replies[1:])
        return reply if isinstance(reply, Answer) else reply(seen)

    async def _reply(self, request: web.Request, reply: Answer) -> web.StreamResponse:
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if not reply.reset:
            return web.Response(
                status=reply.status,
                body=reply.body,
                headers=reply.headers,
                content_type="application/json",
            )
        response = web.StreamResponse(headers={"Content-Length": str(10**6)})
        if reply.sent:
            await response.prepare(request)
            await response.write(reply.body)
        assert request.transport is not None
        request.transport.abort()
        return response
