"""Seeds and orders derived from names, never from the order in which things happen."""

from __future__ import annotations

import hashlib


def derive(*parts: object) -> int:
    """A seed in [0, 2**31) that depends on all parts and on nothing else.

    31 bits, since some servers read a seed as a signed 32-bit number.
    """
    text = "\x1f".join(map(str, parts))
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1
