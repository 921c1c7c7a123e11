"""A W&B server as far as saved views go: it says whose key it is, keeps views, gives them back."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VIEWER = {
    **{"id": "VXNlcjox", "entity": "me", "username": "me", "email": "me@example.org"},
    **{"flags": "{}", "teams": {"edges": []}},
}


@dataclass
class FakeWandb:
    """Saved views by name, in the order in which they were saved."""

    url: str = ""
    views: dict[str, dict[str, Any]] = field(default_factory=dict)

    def answer(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        if "upsertView" in query:
            self.views[variables["name"]] = variables
            view = {"id": f"id-of-{variables['name']}", "name": variables["name"]}
            return {"upsertView": {"view": view, "inserted": "id" not in variables}}
        if "allViews" in query:
            kept = self.views.get(variables["viewName"])
            nodes = [{"node": {"id": f"id-of-{kept['name']}", **kept}}] if kept else []
            return {"project": {"allViews": {"edges": nodes}}}
        return {"viewer": VIEWER}


@contextlib.contextmanager
def serving() -> Iterator[FakeWandb]:
    fake = FakeWandb()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked = json.loads(body) if self.path.endswith("/graphql") else {}
            found = fake.answer(asked["query"], asked.get("variables") or {}) if asked else {}
            told = json.dumps({"data": found}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        fake.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield fake
        server.shutdown()
        thread.join(10)
