"""A server's own tokenizer, asked over HTTP: counts of texts, and the bytes of token ids."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import orjson

from parley.engines.memo import Memo
from parley.engines.transport import Transport
from parley.engines.vocabulary import Vocabulary
from parley.engines.wire import Dialect, template_arguments
from parley.errors import ParleyError, RequestRefused
from parley.protocols import Model
from parley.types import Request

T = TypeVar("T")

_MOST_SINGLES = 64
"""Ids that are asked about one by one after one call."""
_MOST_LESSONS = 4
"""Calls that learn at the same time: at the start all of them meet the same new ids."""


class ServerTokenizer:
    """Counts and pieces, as far as the server's dialect offers them.

    A server that refuses even a plain text (404 and the like) is not asked again.
    """

    def __init__(
        self, transport: Transport, *, dialect: Dialect, model: Model, served: str
    ) -> None:
        self._transport, self._dialect = transport, dialect
        self._model, self._served = model, served
        self._vocabulary = Vocabulary()
        self._counts: Memo[str, int] = Memo(self._count)
        self._added: Memo[str, int] = Memo(self._added_to)
        self._able = dialect != "openai"
        self._lessons = tuple(asyncio.Lock() for _ in range(_MOST_LESSONS))

    async def close(self) -> None:
        await self._counts.close()
        await self._added.close()

    async def count(self, texts: Sequence[str]) -> tuple[int, ...] | None:
        """Tokens of each text alone; None where they cannot be had."""
        if not self._able:
            return None
        try:
            return tuple(await asyncio.gather(*map(self._counts.get, texts)))
        except RequestRefused:
            await self._reconsider()
        except ParleyError:
            pass
        return None

    async def output_pieces(
        self, ids: Sequence[int], text: str, affinity: int
    ) -> tuple[bytes, ...] | None:
        """The bytes of generated tokens; `text` is what they read as."""
        pieces = self._vocabulary.pieces(ids)
        if pieces is not None or not self._able:
            return pieces
        return await self._learn(ids, partial(self._tokenized, text, affinity), affinity)

    async def prompt_pieces(
        self, ids: Sequence[int], request: Request, affinity: int
    ) -> tuple[bytes, ...] | None:
        """The bytes of a templated prompt's tokens."""
        pieces = self._vocabulary.pieces(ids)
        if pieces is not None or not self._able:
            return pieces
        return await self._learn(ids, partial(self._tokenized_chat, request, affinity), affinity)

    async def _learn(
        self, ids: Sequence[int], lesson: Callable[[], Awaitable[None]], affinity: int
    ) -> tuple[bytes, ...] | None:
        """Learns from a tokenized text, then of what is left one id at a time.

        Few at once, and of one episode's evidence only one: what a call learns, those that wait
        need not ask.
        """
        async with self._lessons[affinity % _MOST_LESSONS]:
            if (pieces := self._vocabulary.pieces(ids)) is not None:
                return pieces
            try:
                if not self._vocabulary.unknowable or self._vocabulary.missing(ids):
                    await lesson()
                if (pieces := self._vocabulary.pieces(ids)) is not None:
                    return pieces
                missing = sorted(self._vocabulary.missing(ids))[:_MOST_SINGLES]
                await asyncio.gather(*(self._single(i, affinity) for i in missing))
            except RequestRefused:
                await self._reconsider()
            except ParleyError:
                pass  # the ledger estimates this call; a later one may do better
        return self._vocabulary.pieces(ids)

    async def _reconsider(self) -> None:
        """Something was refused: was it that text, or does this server not tokenise at all?"""
        try:
            await self._count("x\n")
        except RequestRefused:
            self._able = False
        except ParleyError:
            pass

    async def _tokenized(self, text: str, affinity: int) -> None:
        if not text:
            return
        if self._dialect == "llamacpp":
            body = {"content": text, "with_pieces": True}
            found = await self._ask(
                "tokenize",
                body,
                lambda answer: [(t["id"], _bytes(t["piece"])) for t in answer["tokens"]],
                affinity,
            )
            self._vocabulary.learn([i for i, _ in found], [piece for _, piece in found], [text])
        else:
            await self._named({"prompt": text, "add_special_tokens": False}, [text], affinity)

    async def _tokenized_chat(self, request: Request, affinity: int) -> None:
        ask: dict[str, Any] = {
            "messages": [{"role": role, "content": text} for role, text in request.messages]
        }
        if template := template_arguments(request, self._model):
            ask["chat_template_kwargs"] = template
        await self._named(ask, [text for _, text in request.messages], affinity)

    async def _named(self, ask: dict[str, Any], texts: Sequence[str], affinity: int) -> None:
        """vLLM: ids with the tokenizer's own names of them."""
        found = await self._ask(
            "tokenize",
            {"model": self._served, "return_token_strs": True, **ask},
            _named_tokens,
            affinity,
        )
        self._vocabulary.learn_strings(*found, texts)

    async def _single(self, i: int, affinity: int) -> None:
        key = "content" if self._dialect == "llamacpp" else "prompt"
        body = {"model": self._served, "tokens": [i]}
        text = await self._ask("detokenize", body, lambda answer: str(answer[key]), affinity)
        self._vocabulary.learn_text(i, text)

    async def _count(self, text: str) -> int:
        if self._dialect == "transformers":
            return await self._read_as_prompt(text) - await self._added.get("x\n")
        if self._dialect == "llamacpp":
            return await self._ask(
                "tokenize", {"content": text}, lambda answer: len(list(answer["tokens"])), 0
            )
        body = {"model": self._served, "prompt": text, "add_special_tokens": False}
        return await self._ask("tokenize", body, lambda answer: int(answer["count"]), 0)

    async def _read_as_prompt(self, text: str) -> int:
        """`transformers serve` counts only what it reads: a bare prompt, and one token more.

        Greedy, so that it draws no random number between those of the calls.
        """
        body = {"model": self._served, "prompt": text, "max_tokens": 1, "temperature": 0.0}
        return await self._ask(
            "v1/completions", body, lambda answer: int(answer["usage"]["prompt_tokens"]), 0
        )

    async def _added_to(self, line: str) -> int:
        """Tokens that the tokenizer puts around any prompt, such as one of its beginning."""
        once, twice = await self._read_as_prompt(line), await self._read_as_prompt(2 * line)
        return 2 * once - twice

    async def _ask(
        self, path: str, body: dict[str, Any], pick: Callable[[Any], T], affinity: int
    ) -> T:
        def read(answer: Any) -> T:
            try:
                return pick(answer)
            except (KeyError, TypeError, ValueError, AttributeError):
                raise RequestRefused(f"/{path} answers in no known shape") from None

        sent = await self._transport.post(path, orjson.dumps(body), read, affinity=affinity)
        return sent.value


def _named_tokens(answer: Any) -> tuple[list[int], list[str]]:
    ids, names = list(answer["tokens"]), list(map(str, answer.get("token_strs") or ()))
    if len(ids) != len(names):
        raise ValueError("not one name for each token")
    return ids, names


def _bytes(piece: str | list[int]) -> bytes:
    """llama.cpp gives a piece that is no whole character as a list of byte values."""
    return piece.encode() if isinstance(piece, str) else bytes(piece)
