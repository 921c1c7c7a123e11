"""The one client of all engines: chat completions over HTTP, with usage and token pieces.

Not streaming, so a failed attempt leaves no partial text behind, and its tokens are unknown
unless the server reports them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from parley.engines.address import Address
from parley.engines.memo import Memo
from parley.engines.tokenizer import ServerTokenizer
from parley.engines.transport import Backoff, Transport
from parley.engines.wire import Dialect, Reply, body, read
from parley.errors import ContextOverflow, ParleyError
from parley.parsing import Split, split_output
from parley.protocols import Model
from parley.types import Completion, Request, Sampling, Usage

_TINY = "x\n"
"""A message whose tokens are known, to find out what the chat template adds."""


class Client:
    """A `Chat` over HTTP. An async context manager; `urls` are base addresses, `/v1` or not.

    `served` is the model's name on the wire; `timeout_s` the seconds without a byte after which
    an attempt has failed; `connections` bounds those open at once (0: no bound).
    """

    def __init__(
        self,
        urls: tuple[str, ...],
        *,
        model: Model,
        served: str = "",
        dialect: Dialect = "openai",
        timeout_s: float = 1800.0,
        attempts: int = 4,
        api_key: str | None = None,
        backoff: Backoff | None = None,
        connections: int = 0,
        pinned: str = "",
    ) -> None:
        self._model, self._dialect = model, dialect
        self._served = served or model.name
        self._pinned = pinned or "@".join(filter(None, (model.name, model.revision)))
        self._transport = Transport(
            tuple(Address(url, api_key) for url in urls),
            context=model.context,
            timeout_s=timeout_s,
            attempts=attempts,
            backoff=backoff or Backoff(),
            connections=connections,
        )
        self._tokenizer = ServerTokenizer(
            self._transport, dialect=dialect, model=model, served=self._served
        )
        self._templates: Memo[tuple[bool, tuple[str, ...]], int | None] = Memo(self._calibrate)
        self._read = partial(read, dialect=dialect)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._templates.close()
        await self._tokenizer.close()
        await self._transport.close()

    @property
    def model(self) -> str:
        return self._pinned

    @property
    def urls(self) -> tuple[str, ...]:
        """The servers' addresses, without passwords."""
        return self._transport.shown

    @property
    def waste(self) -> int:
        """Tokens of all failed attempts that a server reported."""
        return self._transport.waste

    async def complete(self, request: Request) -> Completion:
        payload = body(request, model=self._model, served=self._served, dialect=self._dialect)
        sent = await self._transport.post(
            "v1/chat/completions", payload, self._read, affinity=request.affinity
        )
        reply = sent.value
        split = split_output(
            reply.content,
            prompted=self._model.reasoning == "prompted",
            reasoning=reply.reasoning,
            finish=reply.finish,
            opened=bool(reply.opened),
        )
        usage = await self._usage(request, reply, split)
        self._check_size(usage)
        return Completion(
            reasoning=split.reasoning,
            visible=split.visible,
            finish=reply.finish,
            usage=usage,
            pieces=await self._pieces(request, reply, usage),
            prompt_pieces=await self._prompt_pieces(request, reply, usage),
            flags=tuple(self._flags(request, reply, split)),
            latency=sent.latency,
            attempts=sent.attempts,
            waste=sent.waste,
            truncated_in_thinking=split.truncated_in_thinking,
        )

    def _flags(self, request: Request, reply: Reply, split: Split) -> Iterator[str]:
        if split.reasoning and not request.thinking and self._model.reasoning == "native":
            yield "thinking_not_disabled"
        if reply.finish == "tool_calls":
            yield "text_taken_for_tool_call"
        # It has one random state: what it still generates for nobody draws from it as well.
        if self._dialect == "transformers" and self._transport.abandoned:
            yield "seed_not_kept"

    def _check_size(self, usage: Usage) -> None:
        """Raises ContextOverflow: `transformers serve` writes on past the context in silence."""
        filled = usage.prompt + usage.completion
        if self._dialect != "transformers" or filled <= self._model.context:
            return
        self._transport.waste += filled
        raise ContextOverflow(
            f"prompt and output fill {filled} of {self._model.context} tokens of context",
            remedy="a larger model.context, a smaller sampling.max_tokens, or a shorter strategy",
        )

    async def count(self, texts: Sequence[str]) -> tuple[int, ...] | None:
        return await self._tokenizer.count(texts)

    async def template_tokens(self, request: Request) -> int | None:
        """Found by a one-token call with messages of known size; None without a tokenizer."""
        roles = tuple(role for role, _ in request.messages)
        try:
            return await self._templates.get((request.thinking, roles))
        except ParleyError:
            return None

    async def _calibrate(self, kind: tuple[bool, tuple[str, ...]]) -> int | None:
        thinking, roles = kind
        counts = await self.count([_TINY] * len(roles))
        if counts is None:
            return None
        request = Request(
            messages=tuple((role, _TINY) for role in roles),
            sampling=Sampling(temperature=0.0, max_tokens=1),
            seed=0,
            thinking=thinking,
        )
        payload = body(request, model=self._model, served=self._served, dialect=self._dialect)
        reply = (await self._transport.post("v1/chat/completions", payload, self._read)).value
        return None if reply.prompt is None else reply.prompt - sum(counts)

    async def _usage(self, request: Request, reply: Reply, split: Split) -> Usage:
        """As the server counted, or counted here and flagged: never zero, never free."""
        prompt, completion = reply.prompt, reply.completion
        if prompt is None:
            texts = [text for _, text in request.messages]
            counts = await self.count(texts)
            prompt = sum(counts) if counts else sum(map(_guess, texts))
            prompt += (await self.template_tokens(request) or 0) if counts else 0
        if completion is None:
            text = reply.reasoning + reply.content
            counts = await self.count([text]) if text else None
            completion = max(1, counts[0] if counts else _guess(text))
        known = reply.reasoning_tokens
        return Usage(
            prompt=prompt,
            completion=completion,
            cached=reply.cached,
            # Some servers say 0 beside a long reasoning: that is not a count.
            reasoning=known if known and split.reasoning and known <= completion else None,
            estimated=reply.prompt is None or reply.completion is None,
        )

    async def _pieces(
        self, request: Request, reply: Reply, usage: Usage
    ) -> tuple[bytes, ...] | None:
        if reply.ids is None or len(reply.ids) != usage.completion:
            return None
        text = reply.reasoning + reply.content
        return await self._tokenizer.output_pieces(reply.ids, text, request.affinity)

    async def _prompt_pieces(
        self, request: Request, reply: Reply, usage: Usage
    ) -> tuple[bytes, ...] | None:
        if reply.prompt_ids is None or len(reply.prompt_ids) != usage.prompt:
            return None
        return await self._tokenizer.prompt_pieces(reply.prompt_ids, request, request.affinity)


def _guess(text: str) -> int:
    """Tokens of a text where nothing can count them: four bytes each, at least one."""
    return max(1, len(text.encode()) // 4)
