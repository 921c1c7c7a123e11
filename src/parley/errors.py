"""Errors a user meets: what happened, what is allowed, what to do next.

ParleyError
├── ConfigError       a setting is unknown, of the wrong type, or contradicts another
├── DataError         a file or row of a benchmark cannot be used
├── MissingExtra      an optional package is not installed
├── EngineError       an engine cannot start, or serves something else than asked
├── TransportError    a call failed after its retries; resuming repeats the episode
├── RequestRefused    the server refuses the request as such; repeating is no use
├── ContextOverflow   prompt and new tokens exceed the context: an outcome, never repeated
├── StoreError        records cannot be read or written as they must be
└── RunStopped        a run ended early, past its declared error threshold
"""

from __future__ import annotations


class ParleyError(Exception):
    """Base of all errors shown to a user without a traceback."""

    def __init__(self, what: str, *, allowed: str = "", remedy: str = "") -> None:
        self.what, self.allowed, self.remedy = what, allowed, remedy
        lines = [what]
        if allowed:
            lines.append(f"  allowed: {allowed}")
        if remedy:
            lines.append(f"  next:    {remedy}")
        super().__init__("\n".join(lines))


class ConfigError(ParleyError):
    """A setting is unknown, of the wrong type, or contradicts another."""


class DataError(ParleyError):
    """A file or row of a benchmark cannot be used."""


class MissingExtra(ParleyError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"the package '{package}' is not installed",
            remedy=f"pip install 'parley-harness[{extra}]'",
        )


class EngineError(ParleyError):
    """An engine cannot start, or serves something else than asked."""


class TransportError(ParleyError):
    """A call failed after its retries; resuming repeats the episode."""


class RequestRefused(ParleyError):
    """The server refuses the request as such; repeating it is no use."""


class ContextOverflow(ParleyError):
    """Prompt and new tokens exceed the model's context. An outcome: never repeated."""


class StoreError(ParleyError):
    """Records cannot be read or written as they must be."""


class RunStopped(ParleyError):
    """A run ended early, past its declared error threshold."""
