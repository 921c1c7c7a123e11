"""`engine=scripted`: answers from a list or a function, in process; for tests, examples and load.

It keeps the promises of a real server: a chat template, control tokens, exact token bytes, usage,
`max_tokens`, a context that can overflow.
"""

from __future__ import annotations

import asyncio
import importlib
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from parley.errors import (
    ConfigError,
    ContextOverflow,
    ParleyError,
    RequestRefused,
    TransportError,
)
from parley.parsing import split_output
from parley.protocols import Chat, Model
from parley.types import Completion, Request, Usage

Script = Callable[[Request], str]
Fault = Literal["TransportError", "RequestRefused", "ContextOverflow"]
_FAULTS: dict[str, type[ParleyError]] = {
    "TransportError": TransportError,
    "RequestRefused": RequestRefused,
    "ContextOverflow": ContextOverflow,
}
_TOKEN = re.compile(r"\n| ?\S+|\s")
_CONTROL_OR_TOKEN = re.compile(r"<\|\w+\|>|\n| ?(?:(?!<\|\w+\|>)\S)+|\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """A shipped fake. Its tokens are runs of non-space with the space before them, and newlines."""

    script: Script | str = "parley.engines.plausible.plausible"
    """Gives the raw output for a request; a function, or the import path of one inside parley."""
    answers: tuple[str, ...] = ()
    """Raw outputs given in turn, over and over, instead of the script's."""
    latency_s: float = 0.0
    """Seconds that each call takes."""
    fail_every: int = 0
    """Every so many calls, one fails; 0 never."""
    fail_with: Fault = "TransportError"
    """How it fails."""

    operational: ClassVar[frozenset[str]] = frozenset({"latency_s", "fail_every", "fail_with"})

    def __post_init__(self) -> None:
        if self.latency_s < 0 or self.fail_every < 0:
            raise ValueError("latency_s and fail_every must be >= 0")

    @property
    def concurrency(self) -> int:
        return 64

    @asynccontextmanager
    async def open(self, model: Model) -> AsyncIterator[Chat]:
        script = self.script if callable(self.script) else _find(self.script)
        yield ScriptedChat(engine=self, served=model, script=script)


@dataclass(slots=True, kw_only=True)
class ScriptedChat:
    """The open connection: a `Chat` that counts its calls."""

    engine: Scripted
    served: Model
    script: Script
    calls: int = field(default=0)

    @property
    def model(self) -> str:
        return "@".join(filter(None, (self.served.name, self.served.revision)))

    async def complete(self, request: Request) -> Completion:
        started = time.perf_counter()
        self.calls += 1
        number = self.calls
        if self.engine.latency_s:
            await asyncio.sleep(self.engine.latency_s)
        if self.engine.fail_every and number % self.engine.fail_every == 0:
            raise _FAULTS[self.engine.fail_with](f"scripted failure of call {number}")
        prompt = self._templated(request)
        room = self.served.context - len(prompt)
        if room < 1:
            raise ContextOverflow(
                f"a prompt of {len(prompt)} tokens exceeds the context of {self.served.context}"
            )
        answers = self.engine.answers
        raw = answers[(number - 1) % len(answers)] if answers else self.script(request)
        pieces, finish = _cut(tokens(raw), min(request.sampling.max_tokens, room))
        text = b"".join(pieces).decode().removesuffix("<|im_end|>" if finish == "stop" else "")
        prompted = self.served.reasoning == "prompted"
        split = split_output(text, prompted=prompted, finish=finish)
        unwanted = split.reasoning and not request.thinking and self.served.reasoning == "native"
        return Completion(
            reasoning=split.reasoning,
            visible=split.visible,
            finish=finish,
            usage=Usage(prompt=len(prompt), completion=len(pieces)),
            pieces=pieces,
            prompt_pieces=prompt,
            flags=("thinking_not_disabled",) if unwanted else (),
            latency=time.perf_counter() - started,
            truncated_in_thinking=split.truncated_in_thinking,
        )

    async def count(self, texts: Sequence[str]) -> tuple[int, ...] | None:
        return tuple(len(tokens(text)) for text in texts)

    async def template_tokens(self, request: Request) -> int | None:
        whole = len(self._templated(request))
        return whole - sum(len(tokens(text)) for _, text in request.messages)

    def _templated(self, request: Request) -> tuple[bytes, ...]:
        """A ChatML-like prompt; without thinking, a native reasoner is shown an empty block."""
        pieces: list[bytes] = []
        for role, text in request.messages:
            pieces += [b"<|im_start|>", role.encode(), b"\n", *tokens(text), b"<|im_end|>", b"\n"]
        pieces += [b"<|im_start|>", b"assistant", b"\n"]
        if self.served.reasoning == "native" and not request.thinking:
            pieces += [b"<think>", b"\n", b"\n", b"</think>", b"\n", b"\n"]
        return tuple(pieces)


def tokens(text: str) -> tuple[bytes, ...]:
    """The bytes of a text's tokens. Control tokens in it are read as such, as real ones are."""
    pattern = _CONTROL_OR_TOKEN if "<|" in text else _TOKEN
    return tuple(piece.encode() for piece in pattern.findall(text))


def _cut(pieces: tuple[bytes, ...], most: int) -> tuple[tuple[bytes, ...], str]:
    """At most so many tokens, the end of turn included, and why they end."""
    if len(pieces) < most:
        return (*pieces, b"<|im_end|>"), "stop"
    return pieces[:most], "length"


def _find(path: str) -> Script:
    module, _, name = path.rpartition(".")
    found = None
    if module.split(".")[0] == "parley":
        try:
            found = getattr(importlib.import_module(module), name, None)
        except ImportError:
            found = None
    if not callable(found):
        raise ConfigError(
            f"engine.script: there is no function {path}",
            allowed="the import path of a function inside parley, such as "
            "parley.engines.plausible.plausible; from Python, any function",
            remedy="check engine.script",
        )
    script: Script = found
    return script
