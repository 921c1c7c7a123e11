"""Token pieces, learned from a server that tokenises by its own alphabet."""

from __future__ import annotations

import re
from collections.abc import Callable

from fake_server import CHAT, Answer, FakeServer, Seen, answer, chat
from parley.engines.client import Client
from parley.engines.vocabulary import byte_alphabet
from parley.protocols import Model
from parley.types import Request, Sampling

MODEL = Model(name="m", label="m", context=4096, reasoning="prompted")
_SPLIT = re.compile(r"<\|im_\w+\|>|\n| ?\w+|.", re.DOTALL)
_STAND_IN = {byte: char for char, byte in byte_alphabet().items()}


class Words:
    """A byte-level tokenizer of words; characters beyond ASCII come in two halves."""

    def __init__(self) -> None:
        self.ids: dict[bytes, int] = {}

    def encode(self, text: str) -> list[int]:
        pieces: list[bytes] = []
        for piece in map(str.encode, _SPLIT.findall(text)):
            half = len(piece) // 2
            pieces += [piece] if piece.isascii() else [piece[:half], piece[half:]]
        return [self.ids.setdefault(piece, len(self.ids)) for piece in pieces]

    def bytes_of(self, i: int) -> bytes:
        return next(piece for piece, known in self.ids.items() if known == i)

    def named(self, i: int) -> str:
        return "".join(_STAND_IN[byte] for byte in self.bytes_of(i))

    def templated(self, messages: list[dict[str, str]]) -> list[int]:
        turns = [f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages]
        return self.encode("".join(turns) + "<|im_start|>assistant\n")


def request() -> Request:
    return Request(
        messages=(("system", "Be brief.\n"), ("user", "Hi Zoë, how are you?\n")),
        sampling=Sampling(temperature=0.0),
        seed=1,
        thinking=False,
    )


def vllm(server: FakeServer, words: Words, text: str) -> None:
    def reply(seen: Seen) -> Answer:
        prompt, ids = words.templated(seen.body["messages"]), words.encode(text + "<|im_end|>")
        assert seen.body["return_token_ids"] is True
        return chat(
            text,
            usage={"prompt_tokens": len(prompt), "completion_tokens": len(ids)},
            choice={"token_ids": ids},
            top={"prompt_token_ids": prompt},
        )

    def tokenize(seen: Seen) -> Answer:
        body = seen.body
        ids = (
            words.templated(body["messages"])
            if "messages" in body
            else words.encode(body["prompt"])
        )
        return answer({"count": len(ids), "tokens": ids, "token_strs": [*map(words.named, ids)]})

    server.on(CHAT, reply)
    server.on("/tokenize", tokenize)
    server.on("/detokenize", _detokenize(words, "prompt"))


def llamacpp(server: FakeServer, words: Words, text: str) -> None:
    def reply(seen: Seen) -> Answer:
        prompt, ids = words.templated(seen.body["messages"]), words.encode(text + "<|im_end|>")
        return chat(
            text,
            usage={"prompt_tokens": len(prompt), "completion_tokens": len(ids)},
            top={"__verbose": {"tokens": ids, "prompt": "..."}},
        )

    def tokenize(seen: Seen) -> Answer:
        found = []
        for i in words.encode(seen.body["content"]):
            raw = words.bytes_of(i)
            found.append({"id": i, "piece": raw.decode() if raw.isascii() else list(raw)})
        return answer({"tokens": found})

    server.on(CHAT, reply)
    server.on("/tokenize", tokenize)
    server.on("/detokenize", _detokenize(words, "content"))


def _detokenize(words: Words, key: str) -> Callable[[Seen], Answer]:
    return lambda seen: answer(
        {key: b"".join(map(words.bytes_of, seen.body["tokens"])).decode("utf-8", "replace")}
    )


async def test_vllm_pieces_are_the_exact_bytes_of_prompt_and_output() -> None:
    words = Words()
    async with FakeServer() as server:
        vllm(server, words, "Hello Zoë and José.")
        async with Client((server.url,), model=MODEL, dialect="vllm") as client:
            got = await client.complete(request())
            asked = len(server.seen)
            again = await client.complete(request())
            assert len(server.seen) == asked + 1, "a known vocabulary asks nothing"
    assert got.pieces is not None
    assert got.prompt_pieces is not None
    assert b"".join(got.pieces).decode() == "Hello Zoë and José.<|im_end|>"
    assert b"".join(got.prompt_pieces).decode() == (
        "<|im_start|>system\nBe brief.\n<|im_end|>\n"
        "<|im_start|>user\nHi Zoë, how are you?\n<|im_end|>\n<|im_start|>assistant\n"
    )
    assert len(got.pieces) == got.usage.completion
    assert len(got.prompt_pieces) == got.usage.prompt
    assert again.pieces == got.pieces


async def test_llamacpp_pieces_are_the_exact_bytes_of_the_output() -> None:
    async with FakeServer() as server:
        llamacpp(server, Words(), "Hello Zoë.")
        async with Client((server.url,), model=MODEL, dialect="llamacpp") as client:
            got = await client.complete(request())
    assert got.pieces is not None
    assert b"".join(got.pieces).decode() == "Hello Zoë.<|im_end|>"
    assert got.pieces[-1] == b"<|im_end|>"
    assert got.prompt_pieces is None


async def test_pieces_are_those_of_the_ids_whatever_the_texts_say() -> None:
    """Whether the texts stand in them is the ledger's question."""
    words = Words()
    async with FakeServer() as server:
        vllm(server, words, "Hello.")
        wrong = chat(
            "Quite another text",
            usage={"prompt_tokens": 3, "completion_tokens": 2},
            choice={"token_ids": words.encode("Hello")[:1] + words.encode("<|im_end|>")},
            top={"prompt_token_ids": words.encode("x y z")},
        )
        server.on(CHAT, wrong)
        async with Client((server.url,), model=MODEL, dialect="vllm") as client:
            got = await client.complete(request())
    assert got.pieces == (b"Hello", b"<|im_end|>")
    assert b"".join(got.prompt_pieces or ()) == b"x y z"
    assert got.visible == "Quite another text"


async def test_ids_that_do_not_match_the_usage_are_not_given() -> None:
    words = Words()
    async with FakeServer() as server:
        vllm(server, words, "Hello.")
        ids = words.encode("Hello.")
        server.on(CHAT, chat("Hello.", choice={"token_ids": ids}))  # usage says 3 and 12
        async with Client((server.url,), model=MODEL, dialect="vllm") as client:
            assert (await client.complete(request())).pieces is None


async def test_a_broken_tokenizer_costs_the_pieces_and_not_the_call() -> None:
    async with FakeServer() as server:
        vllm(server, Words(), "Hello.")
        mismatched = {"tokens": [1, 2], "token_strs": ["a"]}
        odd: tuple[object, ...] = ({"tokens": "?"}, mismatched, {"prompt": None}, [], 3)
        replies = [answer(body) for body in odd]
        replies += [answer(b"not json"), answer({"detail": 1}, status=404)]
        for reply in replies:
            server.on("/tokenize", reply)
            server.on("/detokenize", reply)
            async with Client((server.url,), model=MODEL, dialect="vllm", attempts=1) as client:
                got = await client.complete(request())
                assert await client.count(["a\n"]) is None
            assert got.visible == "Hello."
            assert got.pieces is None
