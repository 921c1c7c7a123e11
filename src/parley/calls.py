"""One call of an episode: made, or taken from records, then booked with its tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import orjson

from parley.arm import Arm
from parley.errors import ContextOverflow
from parley.ledger import account, again, check, prompt_sizes
from parley.ledger.sizing import Memory
from parley.prompt import messages, render
from parley.protocols import Chat, Model
from parley.remembering import remembered
from parley.seeds import derive
from parley.types import (
    Call,
    Completion,
    Episode,
    Message,
    Part,
    Request,
    Role,
    Sampling,
    Segment,
    Turn,
    Usage,
)

Reuse = Callable[[str], Mapping[str, Any] | None]
"""Finds the stored form of an identical call by its request hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All that an episode is run with, beside its own place in the study."""

    arm: Arm
    chat: Chat
    recorded: Sequence[Episode] = ()
    """Finished episodes of the arms this one needs."""
    grants: Mapping[str, int] = field(default_factory=dict)
    """Completion tokens by problem, where each problem has a budget of its own."""
    reuse: Reuse | None = None
    memory: Memory = field(default_factory=dict)
    """Tokens of stretches of prompt, as this chat's model cuts them; shared by all its runs."""


@dataclass(slots=True)
class Pool:
    """The episode's stretches of prompt, each stored once."""

    entries: dict[tuple[Part, Role, str, int | None], int] = field(default_factory=dict)

    def index(self, piece: Segment) -> int:
        # The text of a history segment is rebuilt from the turn it names.
        text = "" if piece.source_turn is not None else piece.text
        return self.entries.setdefault(
            (piece.part, piece.role, text, piece.source_turn), len(self.entries)
        )

    def adopt(self, recorded: Episode) -> tuple[Turn, ...]:
        """The turns of a record, their prompts among the episode's own stretches."""

        def place(index: int) -> int:
            return self.entries.setdefault(recorded.segments[index], len(self.entries))

        def moved(call: Call) -> Call:
            return replace(call, prompt=tuple(map(place, call.prompt)))

        return tuple(
            replace(turn, calls=tuple(moved(call) for call in turn.calls))
            for turn in recorded.turns
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A call and its prompt, before it is known what of it is published."""

    kind: str
    segments: tuple[Segment, ...]
    texts: tuple[str, ...]
    request: Request
    request_hash: str
    completion: Completion
    reused: Mapping[str, Any] | None = None


_affinity = remembered(1024)(derive)
"""Which server an episode's calls go to: the same for all of them, and for all arms."""


async def speak(
    run: Run,
    segments: tuple[Segment, ...],
    *,
    kind: str,
    thinking: bool,
    place: tuple[object, ...],
    schema: Mapping[str, Any] | None = None,
    max_tokens: int | None = None,
) -> Spoken:
    """One call, of at most `max_tokens` new tokens where that is not left to the sampling.

    Its seed derives from `place` (seed, problem, sample, seat, turn, kind, number), not from
    arrival, so that arms are paired. Raises what `Chat.complete` raises.
    """
    texts = render(segments, run.arm.model.control)
    sampling = run.arm.sampling
    request = Request(
        messages=messages(segments, texts),
        sampling=sampling if max_tokens is None else replace(sampling, max_tokens=max_tokens),
        seed=derive(*place),
        thinking=thinking,
        schema=schema,
        affinity=_affinity(*place[:3]),
    )
    fitting = await _fit(run, request, texts)
    if fitting is not request.sampling:
        request = replace(request, sampling=fitting)
    request_hash = hash_of(request, run.chat.model, run.arm.model)
    stored = run.reuse(request_hash) if run.reuse else None
    completion = recall(stored) if stored else await run.chat.complete(request)
    return Spoken(
        kind=kind,
        segments=segments,
        texts=texts,
        request=request,
        request_hash=request_hash,
        completion=completion,
        reused=stored,
    )


async def book(
    run: Run, pool: Pool, spoken: Spoken, number: int, message: Message | None, *, answers: bool
) -> Call:
    """The call as it is stored, its tokens accounted for."""
    completion = spoken.completion
    kept = [s for s in (message.kept if message else ()) if s.output == number]
    if spoken.reused:
        tokens = again(spoken.reused["tokens"], completion, kept, answers)
    else:
        counts = template = None
        sizes = prompt_sizes(spoken.texts, completion, run.memory)
        if sizes is None:
            counts = await run.chat.count(spoken.texts)
            template = await run.chat.template_tokens(spoken.request) if counts else None
        tokens = account(
            spoken.segments,
            spoken.texts,
            completion,
            kept=kept,
            answers=answers,
            sizes=sizes,
            counts=counts,
            template=template,
        )
    if not check(tokens, completion.usage):
        tokens = replace(tokens, estimated=True)
    return Call(
        kind=spoken.kind,
        number=number,
        prompt=tuple(pool.index(segment) for segment in spoken.segments),
        request_hash=spoken.request_hash,
        seed=spoken.request.seed,
        thinking=spoken.request.thinking,
        max_tokens=spoken.request.sampling.max_tokens,
        reasoning=completion.reasoning,
        visible=completion.visible,
        finish=completion.finish,
        usage=completion.usage,
        tokens=tokens,
        flags=completion.flags,
        latency=completion.latency,
        attempts=completion.attempts,
        waste=completion.waste,
        truncated_in_thinking=completion.truncated_in_thinking,
        reused=spoken.reused is not None,
    )


_ASKED = tuple(field.name for field in fields(Request) if field.name != "affinity")
"""What makes a request what it is; which server it goes to does not."""


def hash_of(request: Request, served: str, model: Model) -> str:
    """Hash of the full request, the model's revision and how its chat template is called; equal
    hashes are the same call."""
    asked = {name: getattr(request, name) for name in _ASKED}
    body = [served, model.reasoning, dict(model.template), asked]
    text = orjson.dumps(body, default=dict, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def recall(stored: Mapping[str, Any]) -> Completion:
    """The completion of a recorded call."""
    return Completion(
        reasoning=stored["reasoning"],
        visible=stored["visible"],
        finish=stored["finish"],
        usage=Usage(**stored["usage"]),
        flags=tuple(stored["flags"]),
        truncated_in_thinking=stored["truncated_in_thinking"],
    )


async def _fit(run: Run, request: Request, texts: Sequence[str]) -> Sampling:
    """Shrinks the new tokens to what the context leaves, down to the floor, then overflows."""
    sampling, context = request.sampling, run.arm.model.context
    # No tokenizer known here makes more tokens than bytes (digits and rare scripts come close),
    # and no character has more than four: only a prompt that could overflow is worth counting.
    if 4 * sum(map(len, texts)) + sampling.max_tokens < context:
        return sampling
    if sum(len(text.encode()) for text in texts) + sampling.max_tokens < context:
        return sampling
    counts = await run.chat.count(texts)
    if counts is None:
        return sampling
    room = context - sum(counts) - (await run.chat.template_tokens(request) or 0)
    floor = min(sampling.floor_tokens, sampling.max_tokens)
    if room < floor:
        raise ContextOverflow(
            f"the prompt leaves {max(room, 0)} of {context} tokens of context",
            allowed=f"at least sampling.floor_tokens={floor}",
            remedy="a larger model.context, a smaller sampling.max_tokens, or a shorter strategy",
        )
    return replace(sampling, max_tokens=min(sampling.max_tokens, room))
