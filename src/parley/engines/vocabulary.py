"""The exact bytes of token ids, learned from a server's tokenizer as ids are met.

Nothing is learned on faith: what a server says of a text's tokens is kept only if their bytes
join to that text. An id whose bytes cannot be found out makes a call's pieces unknown, and the
ledger then estimates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter

from parley.ledger.seeking import in_order

_SENTENCE_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def byte_alphabet() -> Mapping[str, int]:
    """The printable stand-ins of byte-level tokenizers, after GPT-2: character to byte.

    Printable Latin-1 characters stand for themselves; the other bytes, in order, for the
    characters from U+0100 on.
    """
    plain = set(chain(range(0x21, 0x7F), range(0xA1, 0xAD), range(0xAE, 0x100)))
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(b): b for b in plain} | {chr(0x100 + i): b for i, b in enumerate(others)}


class Vocabulary:
    """Token ids to bytes, as far as known."""

    def __init__(self) -> None:
        self._bytes: dict[int, bytes] = {}
        self._alphabet = byte_alphabet()
        self.unknowable: set[int] = set()
        """Ids whose bytes the server cannot tell, so that it is not asked again."""

    def pieces(self, ids: Sequence[int]) -> tuple[bytes, ...] | None:
        """The bytes of each token, or None if one is not known."""
        try:
            if len(ids) < 2:  # of a single key, itemgetter makes no tuple
                return tuple(self._bytes[i] for i in ids)
            found: tuple[bytes, ...] = itemgetter(*ids)(self._bytes)
            return found
        except KeyError:
            return None

    def missing(self, ids: Iterable[int]) -> set[int]:
        """The ids that are not known and may still be asked for."""
        return set(ids).difference(self._bytes, self.unknowable)

    def learn(self, ids: Sequence[int], pieces: Sequence[bytes], texts: Sequence[str]) -> bool:
        """Keeps the bytes of a tokenized text if all `texts` stand in them, in order."""
        if not _hold(pieces, texts):
            return False
        for i, piece in zip(ids, pieces, strict=True):
            self._bytes.setdefault(i, piece)
        self.unknowable.difference_update(ids)
        return True

    def learn_strings(
        self, ids: Sequence[int], strings: Sequence[str], texts: Sequence[str]
    ) -> bool:
        """The same from a tokenizer's own names of its tokens, byte-level or sentence-piece."""
        named = zip(ids, strings, strict=True)
        unknown = {i: name for i, name in named if i not in self._bytes}
        for read in (self._byte_level, _sentence_piece):
            self._bytes |= {i: read(name) for i, name in unknown.items()}
            if _hold(self.pieces(ids) or (), texts):
                self.unknowable.difference_update(unknown)
                return True
            for i in unknown:
                del self._bytes[i]
        return False

    def learn_text(self, i: int, text: str) -> None:
        """Keeps the text of one token alone, unless it is only a part of a character."""
        if not text or "\ufffd" in text:
            self.unknowable.add(i)
        else:
            self._bytes.setdefault(i, text.encode())

    def _byte_level(self, token: str) -> bytes:
        try:
            return bytes(map(self._alphabet.__getitem__, token))
        except KeyError:  # a control token is named by its own text
            return token.encode()


def _hold(pieces: Sequence[bytes], texts: Sequence[str]) -> bool:
    """Whether the texts stand in the tokens. Some templates trim what they are given."""
    return in_order(b"".join(pieces), (text.strip() for text in texts))


def _sentence_piece(token: str) -> bytes:
    if match := _SENTENCE_BYTE.fullmatch(token):
        return bytes([int(match[1], 16)])
    return token.replace("\u2581", " ").encode()
