"""What went wrong with an attempt: an outcome, a refusal, or something worth another try. Pure.

Only named failures are repeated. Servers word a context overflow in many ways, flat or nested;
the sizes they print are not trusted (one release printed the limit minus max_tokens), so the
error names the configured context instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from parley.errors import ContextOverflow, ParleyError, RequestRefused, TransportError
from parley.redaction import REDACTED, redact_text

REPEATED = frozenset({408, 429, 500, 502, 503, 504})
"""HTTP statuses that another attempt may cure."""

_OVERFLOW = re.compile(
    r"exceed_context_size|context_length_exceeded|maximum context length"
    r"|max_(?:completion_)?tokens must be at least 1, got -?\d"
    r"|exceeds? the (?:available context|model'?s? (?:maximum|max)|context (?:window|length))"
    r"|longer than the maximum model length|prompt is too long",
    re.IGNORECASE,
)
_REMEDIES = {
    401: "check the API key (engine.api_key)",
    403: "check the API key and its rights (engine.api_key)",
    404: "check model.name and the engine's url",
}
_MARKUP = re.compile(r"<[^>]{1,200}>")


class Retriable(Exception):
    """One failed attempt that another may cure.

    `retry_after` is the wait in seconds that the server asked for; `waste` the tokens it reports
    to have spent on the attempt.
    """

    def __init__(self, what: str, *, retry_after: float | None = None, waste: int = 0) -> None:
        super().__init__(what)
        self.retry_after, self.waste = retry_after, waste


def clean(text: str, secrets: Sequence[str] = ()) -> str:
    """A foreign text as one line of at most 300 characters, without markup and secrets."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return redact_text(" ".join(_MARKUP.sub(" ", text).split()))[:300]


def wait_asked(header: str | None, now: float) -> float | None:
    """Seconds that a Retry-After header asks for; None where it asks for nothing sensible.

    `now` is Unix time. Zero, negative, past and unreadable values give None: the caller backs off
    by its own rule.
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return seconds if seconds > 0 else None


def words(body: bytes) -> tuple[str, str]:
    """The server's message, and everything in which its kind may be named."""
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = body[:2000].decode("utf-8", "replace")
        return text, text
    inner = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(inner, dict):
        message = inner.get("message") or inner.get("detail") or inner
        kinds = [inner.get("type"), inner.get("code")]
    else:
        message, kinds = inner, []
    text = message if isinstance(message, str) else orjson.dumps(message).decode()
    return text, " ".join([text, *(kind for kind in kinds if isinstance(kind, str))])


def failure(
    status: int,
    body: bytes,
    *,
    context: int,
    url: str,
    retry_after: float | None = None,
    secrets: Sequence[str] = (),
) -> Retriable | ParleyError:
    """The error that an answer with this status and body stands for."""
    message, kinds = words(body)
    said = clean(message, secrets) or "(empty answer)"
    if status != 429 and _OVERFLOW.search(kinds):
        return ContextOverflow(
            f"the prompt and its new tokens exceed the context of {context} tokens",
            remedy="a larger model.context, a smaller sampling.max_tokens, or a shorter strategy",
        )
    if status in REPEATED and "insufficient_quota" not in kinds:
        return Retriable(f"HTTP {status}: {said}", retry_after=retry_after, waste=spent(body))
    if status > 500:
        return TransportError(
            f"{url} fails with HTTP {status}: {said}", remedy="look into the server's log"
        )
    return RequestRefused(
        f"{url} refuses the request with HTTP {status}: {said}",
        remedy=_REMEDIES.get(status, "check the model's and the sampling's settings"),
    )


def spent(body: bytes) -> int:
    """Tokens that the answer to a failed attempt reports as used; mostly none."""
    try:
        data: Any = orjson.loads(body)
        usage = data["usage"]
        return int(usage.get("prompt_tokens") or 0) + int(usage.get("completion_tokens") or 0)
    except (ValueError, TypeError, KeyError, AttributeError):
        return 0
