"""Keeps secrets out of records, logs and trackers. Pure, and idempotent.

Two rules, both needed: a value is secret because of the name it stands under (`api_key`,
`Authorization`), or because of its shape (a password inside a URL, a bearer string, a known form
of key). Names are read as words, so that `max_tokens`, `tokenizer`, `eos_token` and `api_key_env`
(the name of a variable, no secret) stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

REDACTED = "[redacted]"

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = frozenset(
    {"key", "token", "secret", "password", "passwd", "pwd", "passphrase", "credential", "bearer"}
    | {"credentials", "authorization", "auth", "cookie", "apikey", "apitoken", "secretkey"}
)
_PLURAL = frozenset({"keys", "tokens", "secrets", "passwords", "cookies", "apikeys"})
_HOLDERS = frozenset({"api", "access", "auth", "secret", "private", "client", "session", "service"})
"""Words that make a plural secret: `api_keys`, but not `stop_tokens`."""
_PLAIN = frozenset({"eos", "bos", "pad", "unk", "sep", "cls", "mask", "stop", "start", "end"})
"""Words before `token` that make it a token of the vocabulary, such as `eos_token`."""

_NAMES = r"(?:api|access|private)[_-]?key|secret|passwo?r?d|passphrase"
_SHAPES: tuple[tuple[str, str], ...] = (
    # scheme://user:password@host, and scheme://token@host; greedy, as a password may hold an @
    (r"(\b[a-z][\w+.-]{0,20}://)[^\s/?#\"'<>]+@", rf"\1{REDACTED}@"),
    (r"\b(bearer|authorization: *\w+)\s+(?!\[)[\w.~+/=-]{6,}", rf"\1 {REDACTED}"),
    (r"([?&;](?:key|sig|auth)=)(?!\[)[^\s&#;\"'<>]+", rf"\1{REDACTED}"),
    (
        rf"((?:(?:{_NAMES})[\w-]{{0,40}}[\"']?\s*[:=]|token=)\s*[\"']?)(?![\[\s])[^\s\"',;&]+",
        rf"\1{REDACTED}",
    ),
    (
        rf"((?<!\S)--?[\w-]{{0,40}}(?:{_NAMES}|token|auth)\s+[\"']?)(?![\[\s-])[^\s\"']+",
        rf"\1{REDACTED}",
    ),
    (
        r"\b(?:sk-[\w-]{16,}|hf_\w{20,}|gh[pousr]_\w{30,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
        r"|xox[abprs]-[\w-]{10,}|akia[0-9a-z]{16}|wandb_v\d_\w{20,}|aiza[\w-]{30,}"
        r"|eyj[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})",
        REDACTED,
    ),
)
_COMPILED = tuple((re.compile(shape, re.IGNORECASE), to) for shape, to in _SHAPES)


def redact(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """A copy in which secrets read "[redacted]"; nested mappings and sequences included.

    Values that say only whether a secret is set (None, a truth value, an empty string) stay.
    """
    return {key: _value(value, _is_secret(str(key))) for key, value in mapping.items()}


def redacted(mapping: Mapping[str, Any]) -> str:
    """The dotted name of the first value that was redacted as a whole; "" where none was."""
    for key, value in mapping.items():
        if value == REDACTED:
            return str(key)
        if isinstance(value, Mapping) and (inner := redacted(value)):
            return f"{key}.{inner}"
    return ""


def redact_text(text: str) -> str:
    """The text with passwords in URLs, bearer strings and keys of a known form redacted."""
    for shape, replacement in _COMPILED:
        text = shape.sub(replacement, text)
    return text


def redact_error(error: BaseException) -> str:
    """An error as one line of at most 300 characters, secrets redacted."""
    first = str(error).strip().splitlines()[:1]
    return redact_text(": ".join([type(error).__name__, *first]))[:300]


def _is_secret(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    if not words:
        return False
    before = words[-2] if len(words) > 1 else ""
    if words[-1] in _SECRET:
        return not (words[-1] == "token" and before in _PLAIN)
    return words[-1] in _PLURAL and (before in _HOLDERS or words[-1] not in ("keys", "tokens"))


def _value(value: object, secret: bool) -> Any:
    if isinstance(value, str):
        return REDACTED if secret and value else redact_text(value)
    if isinstance(value, Mapping):
        return {key: _value(item, secret or _is_secret(str(key))) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = _items(value, secret)
        return tuple(items) if isinstance(value, tuple) else items
    if secret and value is not None and not isinstance(value, bool):
        return REDACTED
    return value


def _items(values: list[Any] | tuple[Any, ...], secret: bool) -> list[Any]:
    """Items, each redacted; what follows a flag such as `--api-key` is that flag's value."""
    items: list[Any] = []
    flagged = False
    for value in values:
        items.append(_value(value, secret or flagged))
        flagged = isinstance(value, str) and value.startswith("-") and _is_secret(value)
    return items
