"""An instant server of vLLM's dialect in a process of its own, for measuring its clients.

It does the least that HTTP/1.1 allows, so that the client is what is measured: with `remember`,
a body that came before is answered from memory. Its tokenizer cuts text into words with the space
before them, and knows what it cut by number, as a real one does.
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

from parley.engines.vocabulary import byte_alphabet

MODEL = "bench-model"
_PIECE = re.compile(r"\n| ?\w+| ?[^\w\s]+|\s")
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_REASONING = "The question asks about two things, and the first paragraph names one of them. " * 3
_CONTENT = (
    "Action: Look up where the second one is.\n"
    "State: The first paragraph says that the mill was built by the river in the north.\n"
    "Result: The mill.\nAnswer: the mill"
)


@dataclass(slots=True)
class Words:
    """The tokenizer."""

    known: dict[str, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    alphabet: dict[int, str] = field(
        default_factory=lambda: {byte: char for char, byte in byte_alphabet().items()}
    )

    def ids(self, text: str) -> list[int]:
        return [self._id(piece) for piece in _PIECE.findall(text)]

    def chat(self, messages: list[dict[str, str]]) -> list[int]:
        """A ChatML-like template around the messages."""
        found = []
        for message in messages:
            found += [self._id("<|im_start|>"), *self.ids(f"{message['role']}\n")]
            found += [*self.ids(message["content"]), self._id("<|im_end|>"), self._id("\n")]
        return [*found, self._id("<|im_start|>"), *self.ids("assistant\n")]

    def _id(self, piece: str) -> int:
        if piece not in self.known:
            self.known[piece] = len(self.names)
            self.names.append("".join(self.alphabet[byte] for byte in piece.encode()))
        return self.known[piece]


@dataclass(slots=True)
class State:
    """What all connections share. `seen` holds bodies and answers, where it is not None; `posted`
    the bodies of all chat completions in the order of their arrival, while it is not None."""

    words: Words = field(default_factory=Words)
    seen: dict[bytes, bytes] | None = None
    posted: list[bytes] | None = None
    delay_s: float = 0.0

    def answer(self, head: bytes, body: bytes) -> bytes:
        if head.startswith(b"GET /v1/models"):
            return _http({"data": [{"id": MODEL, "object": "model", "owned_by": "vllm"}]})
        if head.startswith(b"POST /v1/chat/completions"):
            if self.posted is not None:
                self.posted.append(body)
            if self.seen is None:
                return _http(self._completion(orjson.loads(body)))
            if body not in self.seen:
                self.seen[body] = _http(self._completion(orjson.loads(body)))
            return self.seen[body]
        if head.startswith(b"POST /tokenize"):
            return _http(self._tokenize(orjson.loads(body)))
        if head.startswith(b"POST /detokenize"):
            pieces = list(self.words.known)
            return _http({"prompt": "".join(pieces[i] for i in orjson.loads(body)["tokens"])})
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

    def _completion(self, asked: dict[str, Any]) -> dict[str, Any]:
        prompt = self.words.chat(asked["messages"])
        text = f"<think>\n{_REASONING}\n</think>\n\n{_CONTENT}"
        made = [*self.words.ids(text), self.words._id("<|im_end|>")]
        return {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "model": MODEL,
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "reasoning": f"\n{_REASONING}\n",
                        "content": f"\n\n{_CONTENT}",
                    },
                    "finish_reason": "stop",
                    "token_ids": made,
                }
            ],
            "usage": {
                "prompt_tokens": len(prompt),
                "completion_tokens": len(made),
                "total_tokens": len(prompt) + len(made),
                "prompt_tokens_details": {"cached_tokens": len(prompt) // 2},
            },
            "prompt_token_ids": prompt,
        }

    def _tokenize(self, asked: dict[str, Any]) -> dict[str, Any]:
        found = asked.get("messages")
        ids = self.words.chat(found) if found else self.words.ids(asked["prompt"])
        answer = {"count": len(ids), "max_model_len": 40960, "tokens": ids}
        if asked.get("return_token_strs"):
            answer["token_strs"] = [self.words.names[i] for i in ids]
        return answer


class Answering(asyncio.Protocol):
    """One connection: requests one after the other, as aiohttp sends them."""

    def __init__(self, state: State) -> None:
        self._state, self._data = state, bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._data[:end])
        length = _LENGTH.search(head)
        whole = end + 4 + (int(length[1]) if length else 0)
        if len(self._data) < whole:
            return
        answer = self._state.answer(head, bytes(self._data[end + 4 : whole]))
        del self._data[:whole]
        if self._state.delay_s and b"/v1/chat/" in head[:40]:
            loop = asyncio.get_running_loop()
            loop.call_later(self._state.delay_s, self._transport.write, answer)
        else:
            self._transport.write(answer)


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
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Answering(state), "127.0.0.1", 0, backlog=1024)
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
    pipe.send(server.sockets[0].getsockname()[1])
    await ended
    server.close()


def _http(answer: object) -> bytes:
    body = orjson.dumps(answer)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body
