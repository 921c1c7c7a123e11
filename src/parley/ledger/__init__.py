"""Where every token of a call went. Pure.

The server's usage is the truth for the wholes. Parts are found by the exact bytes of each token
where the engine returns token ids: a token belongs to the stretch that holds its first byte. Else
prompt parts are counted segment by segment, and a template constant, calibrated once, is added.
Parts that do not sum to the whole are flagged `estimated`, never forced to.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal

from parley.ledger.seeking import seek
from parley.ledger.sizing import Memory, sizes_by_pieces
from parley.types import Completion, Part, Segment, Source, Span, Tokens, Usage

_OPENS = re.compile(rb"\s*<think(?:ing)?\s*>", re.IGNORECASE)
_SHUTS = re.compile(rb"\s*</think(?:ing)?\s*>", re.IGNORECASE)
Fate = Literal["reasoning", "published", "published_reasoning", "discarded", "answer", "control"]


def prompt_sizes(
    texts: Sequence[str], completion: Completion, memory: Memory | None = None
) -> list[int] | None:
    """Tokens of each text, then of the template, where the engine returned the prompt's token ids
    and the texts stand in them. `memory` is what is known of the tokens of texts."""
    pieces = completion.prompt_pieces
    if pieces is None or len(pieces) != completion.usage.prompt:
        return None
    return sizes_by_pieces(texts, pieces, memory)


def account(
    segments: Sequence[Segment],
    texts: Sequence[str],
    completion: Completion,
    *,
    kept: Sequence[Span] = (),
    answers: bool = False,
    sizes: Sequence[int] | None = None,
    counts: Sequence[int] | None = None,
    template: int | None = None,
) -> Tokens:
    """Accounts for one call.

    `texts` are the segments as sent; `kept` the published spans of this call's output; `sizes`
    are those of `prompt_sizes`, where they are known already. `counts` are the tokens of each text
    alone and `template` those of the chat template, for engines that return no token ids.
    """
    usage = completion.usage
    sizes = sizes or prompt_sizes(texts, completion)
    exact = sizes is not None
    if sizes is None and counts is not None and template is not None:
        sizes = [*counts, template]
        exact = sum(sizes) == usage.prompt
    if sizes is None:
        sizes = [*_shares(usage.prompt, [len(text.encode()) for text in texts]), 0]
    prompt: dict[Part, int] = {"template": sizes[-1]}
    for segment, size in zip(segments, sizes, strict=False):
        prompt[segment.part] = prompt.get(segment.part, 0) + size
    reread = tuple(
        (segment.source_turn, size)
        for segment, size in zip(segments, sizes, strict=False)
        if segment.source_turn is not None
    )
    fates = _fates_by_pieces(completion, kept, answers)
    exact = exact and fates is not None and not usage.estimated
    fates = fates or _fates_by_length(completion, kept, answers)
    return Tokens(
        prompt=prompt,
        reread=reread,
        reasoning=fates.get("reasoning", 0),
        published=fates.get("published", 0) + fates.get("published_reasoning", 0),
        published_reasoning=fates.get("published_reasoning", 0),
        discarded=fates.get("discarded", 0),
        answer=fates.get("answer", 0),
        control=fates.get("control", 0),
        estimated=not exact,
    )


def again(
    stored: Mapping[str, Any], completion: Completion, kept: Sequence[Span], answers: bool
) -> Tokens:
    """The tokens of a reused call: the prompt's as stored, since it is the same prompt.

    The output's are stored by what the earlier arm published. Where this arm publishes all or
    none of a stretch they are exact; part of one is estimated by its length.
    """
    reasoning = stored["reasoning"] + stored["published_reasoning"]
    visible = stored["published"] - stored["published_reasoning"]
    visible += stored["discarded"] + stored["answer"]
    sent = _sent(completion, kept)
    private, shown = len(completion.reasoning.encode()), len(completion.visible.encode())
    told = _shares(reasoning, [sent["reasoning"], private - sent["reasoning"]])
    public = _shares(visible, [sent["visible"], shown - sent["visible"]])
    partial = any(
        0 < part < size for part, size in ((sent["reasoning"], private), (sent["visible"], shown))
    )
    return Tokens(
        prompt=stored["prompt"],
        reread=tuple((turn, size) for turn, size in stored["reread"]),
        reasoning=told[1],
        published=told[0] + public[0],
        published_reasoning=told[0],
        discarded=0 if answers else public[1],
        answer=public[1] if answers else 0,
        control=stored["control"],
        estimated=stored["estimated"] or partial,
    )


def check(tokens: Tokens, usage: Usage) -> bool:
    """Whether the parts sum to the wholes of the server."""
    fates = tokens.reasoning + tokens.published + tokens.discarded + tokens.answer + tokens.control
    return sum(tokens.prompt.values()) == usage.prompt and fates == usage.completion


def _fates_by_pieces(
    completion: Completion, kept: Sequence[Span], answers: bool
) -> Mapping[Fate, int] | None:
    """Completion tokens by fate; None without pieces or where the text is not found in them."""
    pieces = completion.pieces
    if pieces is None or len(pieces) != completion.usage.completion:
        return None
    stream = b"".join(pieces)
    located = _locate(stream, completion)
    if located is None:
        return None
    fates: list[tuple[int, int, Fate]] = []
    for source, text, start in (
        ("reasoning", completion.reasoning, located[0]),
        ("visible", completion.visible, located[1]),
    ):
        rest: Fate = "reasoning" if source == "reasoning" else "answer" if answers else "discarded"
        taken: Fate = "published_reasoning" if source == "reasoning" else "published"
        fates.append((start, start + len(text.encode()), rest))
        for span in kept:
            if span.source == source:
                low = start + len(text[: span.start].encode())
                fates.append((low, low + len(text[span.start : span.end].encode()), taken))
    starts = list(accumulate(map(len, pieces[:-1]), initial=0))
    result: list[Fate] = ["control"] * len(pieces)
    for low, high, fate in fates:
        first, past = bisect_left(starts, low), bisect_left(starts, high)
        result[first:past] = [fate] * (past - first)
    return {fate: result.count(fate) for fate in set(result)}


def _locate(stream: bytes, completion: Completion) -> tuple[int, int] | None:
    """Byte offsets of the reasoning and the visible text in the generated stream."""
    reasoning, visible = completion.reasoning.encode(), completion.visible.encode()
    first = seek(stream, reasoning, _past(_OPENS, stream, 0))
    if first < 0:
        return None
    second = seek(stream, visible, _past(_SHUTS, stream, first + len(reasoning)))
    return (first, second) if second >= 0 else None


def _past(tag: re.Pattern[bytes], stream: bytes, start: int) -> int:
    """Behind the think tag at `start`, if there is one: "think" may be a word of the answer."""
    found = tag.match(stream, start)
    return found.end() if found else start


def _fates_by_length(
    completion: Completion, kept: Sequence[Span], answers: bool
) -> Mapping[Fate, int]:
    """Without token ids: the whole is split in proportion to the bytes of each stretch."""
    sent = _sent(completion, kept)
    reasoning, visible = len(completion.reasoning.encode()), len(completion.visible.encode())
    sizes: dict[Fate, int] = {
        "reasoning": reasoning - sent["reasoning"],
        "published_reasoning": sent["reasoning"],
        "published": sent["visible"],
        "answer" if answers else "discarded": visible - sent["visible"],
    }
    whole, known = completion.usage.completion, completion.usage.reasoning
    if not any(sizes.values()):
        return {"control": whole}
    if known is None or not 0 < known <= whole or not reasoning or not visible:
        return dict(zip(sizes, _shares(whole, list(sizes.values())), strict=True))
    names = list(sizes)
    parts = _shares(known, [sizes[n] for n in names[:2]])
    parts += _shares(whole - known, [sizes[n] for n in names[2:]])
    return dict(zip(names, parts, strict=True))


def _sent(completion: Completion, kept: Sequence[Span]) -> dict[Source, int]:
    """Published bytes of the reasoning and of the visible text; what spans share counts once."""
    sent: dict[Source, int] = {"reasoning": 0, "visible": 0}
    ends: dict[Source, int] = {"reasoning": 0, "visible": 0}
    for span in sorted(kept, key=lambda span: span.start):
        text = completion.reasoning if span.source == "reasoning" else completion.visible
        start = max(span.start, ends[span.source])
        sent[span.source] += len(text[start : span.end].encode())
        ends[span.source] = max(start, span.end)
    return sent


def _shares(whole: int, weights: Sequence[int]) -> list[int]:
    """`whole` dealt out in proportion to the weights, in integers that sum to it."""
    total = sum(weights)
    if not total:
        return [whole, *(0 for _ in weights[1:])] if weights else []
    bounds = [round(whole * part / total) for part in accumulate(weights)]
    return [high - low for low, high in zip([0, *bounds], bounds, strict=False)]
