"""Where a server is, without the password that may stand in its address."""

from __future__ import annotations

import aiohttp
from yarl import URL

from parley.errors import EngineError
from parley.redaction import REDACTED, redact_text


class Address:
    """A server's base address, with or without `/v1`; its password is kept in a header."""

    def __init__(self, text: str, api_key: str | None = None) -> None:
        try:
            url = URL(text.strip())
            if url.scheme not in ("http", "https") or not url.host:
                raise ValueError
        except ValueError:
            raise EngineError(
                f"'{redact_text(_masked(text))}' is no address of a server",
                allowed="http://host:port or https://host, with or without /v1",
                remedy="check engine.urls",
            ) from None
        self.headers = {"Content-Type": "application/json"}
        if api_key:
            self.headers["Authorization"] = f"Bearer {api_key}"
        elif url.user or url.password:
            self.headers["Authorization"] = aiohttp.encode_basic_auth(
                url.user or "", url.password or ""
            )
        self.secrets = tuple(s for s in (api_key, url.password, url.raw_password) if s)
        bare = url.with_user(None).with_fragment(None)
        self._root = bare.with_path(bare.path.rstrip("/").removesuffix("/v1") or "/")
        self._query = bare.query
        self._known: dict[str, URL] = {}
        self.shown = str(self._root).rstrip("/")
        """Without password and query."""

    def to(self, path: str) -> URL:
        """The full address of a path, such as "v1/models"."""
        if path not in self._known:
            self._known[path] = self._root.joinpath(path).with_query(self._query)
        return self._known[path]


def _masked(text: str) -> str:
    """Without what stands before an @: without a scheme it does not look like a password."""
    _, at, host = text.rpartition("@")
    return f"{REDACTED}@{host}" if at else text
