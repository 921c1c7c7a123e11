"""How many tokens each stretch of a prompt takes, by the exact bytes of its tokens. Pure.

A token belongs to the stretch that holds its first byte. Prompts repeat themselves: evidence and
instructions come again in every turn and every arm. So the tokens of a stretch are remembered,
and found again as they are; only what is new is looked for byte by byte.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import MutableMapping, Sequence
from itertools import accumulate

from parley.ledger.seeking import seek

Memory = MutableMapping[str, tuple[bytes, ...]]
"""Tokens of stretches, as one model's tokenizer cuts them."""
_CAPACITY = 1024
"""Stretches that are remembered; some 10 MB at most with paragraphs of evidence among them."""
_BETWEEN = 64
"""Most tokens of a chat template before a message."""


def sizes_by_pieces(
    texts: Sequence[str], pieces: tuple[bytes, ...], memory: Memory | None = None
) -> list[int] | None:
    """Tokens of each text, then of what is around them; None if the texts do not stand there."""
    found = _step_by_step(texts, pieces, {} if memory is None else memory)
    found = found or _by_bytes(texts, pieces)
    return [*found, len(pieces) - sum(found)] if found is not None else None


def _step_by_step(
    texts: Sequence[str], pieces: tuple[bytes, ...], memory: Memory
) -> list[int] | None:
    """The sizes, where every text begins and ends with a token of its own, as texts that end in
    a newline mostly do; else None."""
    sizes, at = [], 0
    for text in texts:
        tokens = memory.get(text)
        sought = b"" if tokens else text.encode()
        for start in range(at, min(at + _BETWEEN, len(pieces))):
            if tokens:
                if pieces[start] == tokens[0] and pieces[start : start + len(tokens)] == tokens:
                    break
            elif sought.startswith(pieces[start]) and (tokens := _spelt(sought, pieces, start)):
                _remember(memory, text, tokens)
                break
        else:
            return None
        sizes.append(len(tokens))
        at = start + len(tokens)
    return sizes


def _spelt(sought: bytes, pieces: tuple[bytes, ...], start: int) -> tuple[bytes, ...] | None:
    """The tokens from `start` on that make up exactly these bytes."""
    end, left = start, len(sought)
    while left > 0 and end < len(pieces):
        left -= len(pieces[end])
        end += 1
    tokens = pieces[start:end]
    return tokens if b"".join(tokens) == sought else None


def _remember(memory: Memory, text: str, tokens: tuple[bytes, ...]) -> None:
    if len(memory) >= _CAPACITY:
        del memory[next(iter(memory))]
    memory[text] = tokens


def _by_bytes(texts: Sequence[str], pieces: tuple[bytes, ...]) -> list[int] | None:
    stream = b"".join(pieces)
    starts = list(accumulate(map(len, pieces), initial=0))
    sizes, position = [], 0
    for text in texts:
        sought = text.encode()
        found = seek(stream, sought, position)
        if found < 0:
            return None
        position = found + len(sought)
        sizes.append(bisect_left(starts, position) - bisect_left(starts, found))
    return sizes
