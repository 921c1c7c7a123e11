"""A server of vLLM's dialect that answers at once, in a process of its own, to measure clients.

With `remember`, a body that came before is answered from memory, so that its own work does not
show. Its tokenizer cuts text into words with the space before them, and knows them by number.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import orjson
from aiohttp import web

from parley.engines.vocabulary import byte_alphabet

MODEL = "bench-model"
CHAT = "/v1/chat/completions"
_PIECE = re.compile(r"\n| ?\w+| ?[^\w\s]+|\s")
_REASONING = "The question asks about two things, and the first paragraph names one of them. " * 3
_CONTENT = (
    "Action: Look up where the second one is.\n"
    "State: The first paragraph says that the mill was built by the river in the north.\n"
    "Result: The mill.\nAnswer: the mill"
)


class Words:
    """The tokenizer."""

    def __init__(self) -> None:
        self._alphabet = {byte: char for char, byte in byte_alphabet().items()}
        self._known: dict[str, int] = {}
        self.pieces: list[str] = []
        self.names: list[str] = []
        """The pieces as byte-level tokenizers name them."""

    def ids(self, text: str) -> list[int]:
        return [self.id(piece) for piece in _PIECE.findall(text)]

    def chat(self, messages: list[dict[str, str]]) -> list[int]:
        """A ChatML-like template around the messages."""
        opens, shuts, line = self.id("<|im_start|>"), self.id("<|im_end|>"), self.id("\n")
        found = []
        for message in messages:
            found += [opens, *self.ids(f"{message['role']}\n{message['content']}"), shuts, line]
        return [*found, opens, *self.ids("assistant\n")]

    def id(self, piece: str) -> int:
        if piece not in self._known:
            self._known[piece] = len(self.pieces)
            self.pieces.append(piece)
            self.names.append("".join(self._alphabet[byte] for byte in piece.encode()))
        return self._known[piece]


@dataclass(slots=True)
class State:
    """What the server knows: answers by body, where it remembers them; the bodies of all chat
    completions in the order of their arrival, until they are asked for."""

    seen: dict[bytes, bytes] | None = None
    posted: list[bytes] | None = None
    delay_s: float = 0.0
    words: Words = field(default_factory=Words)

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        if request.path != CHAT:
            return _json(orjson.dumps(self._other(request.path, body)))
        if self.posted is not None:
            self.posted.append(body)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if self.seen is None:
            return _json(self._completion(orjson.loads(body)))
        if body not in self.seen:
            self.seen[body] = self._completion(orjson.loads(body))
        return _json(self.seen[body])

    def _other(self, path: str, body: bytes) -> dict[str, Any]:
        if path == "/v1/models":
            return {"data": [{"id": MODEL, "object": "model", "owned_by": "vllm"}]}
        asked = orjson.loads(body)
        if path == "/detokenize":
            return {"prompt": "".join(self.words.pieces[i] for i in asked["tokens"])}
        found = asked.get("messages")
        ids = self.words.chat(found) if found else self.words.ids(asked["prompt"])
        names = [self.words.names[i] for i in ids] if asked.get("return_token_strs") else None
        return {"count": len(ids), "max_model_len": 40960, "tokens": ids, "token_strs": names}

    def _completion(self, asked: dict[str, Any]) -> bytes:
        prompt = self.words.chat(asked["messages"])
        text = f"<think>\n{_REASONING}\n</think>\n\n{_CONTENT}"
        made = [*self.words.ids(text), self.words.id("<|im_end|>")]
        message = {
            "role": "assistant",
            "reasoning": f"\n{_REASONING}\n",
            "content": f"\n\n{_CONTENT}",
        }
        choice = {"index": 0, "message": message, "finish_reason": "stop", "token_ids": made}
        usage = {
            "prompt_tokens": len(prompt),
            "completion_tokens": len(made),
            "total_tokens": len(prompt) + len(made),
            "prompt_tokens_details": {"cached_tokens": len(prompt) // 2},
        }
        head = {"id": "chatcmpl-0", "object": "chat.completion", "model": MODEL}
        whole = {**head, "choices": [choice], "usage": usage, "prompt_token_ids": prompt}
        return orjson.dumps(whole)


@dataclass(frozen=True, slots=True)
class Server:
    """The running server, as its user sees it."""

    url: str
    pipe: Connection

    def bodies(self) -> list[bytes]:
        """The bodies of all chat completions so far; they are not kept from here on."""
        self.pipe.send("bodies")
        found: list[bytes] = self.pipe.recv()
        return found

    def delay(self, seconds: float) -> None:
        """Answers come so much later from now on."""
        self.pipe.send(seconds)
        self.pipe.recv()


@contextlib.contextmanager
def serving(*, remember: bool = False) -> Iterator[Server]:
    """Runs a server on a free port of 127.0.0.1 until the block ends."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, remember), daemon=True)
    process.start()
    theirs.close()
    try:
        yield Server(f"http://127.0.0.1:{ours.recv()}", ours)
    finally:
        ours.close()
        process.join(10)
        if process.is_alive():
            process.kill()


def _serve(pipe: Connection, remember: bool) -> None:
    state = State(seen={}, posted=[]) if remember else State()
    asyncio.run(_serving(pipe, state))


async def _serving(pipe: Connection, state: State) -> None:
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", state.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def ordered() -> None:
        try:
            order = pipe.recv()
        except (EOFError, OSError):
            loop.remove_reader(pipe.fileno())
            ended.set_result(None)
            return
        if order == "bodies":
            pipe.send(state.posted or [])
            state.posted = None
        else:
            state.delay_s = float(order)
            pipe.send(None)

    loop.add_reader(pipe.fileno(), ordered)
    pipe.send(runner.addresses[0][1])
    await ended
    await runner.cleanup()


def _json(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")
