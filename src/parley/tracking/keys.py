"""What W&B's own variables and files say before it starts: its key, and the sweep of an agent."""

from __future__ import annotations

import contextlib
import netrc
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

_HOSTS = ("api.wandb.ai", "api.forge.coreweave.com")
"""Where W&B's own service is reached; both names stand for the same keys."""


def key_source(environment: Mapping[str, str], home: Path) -> str | None:
    """Where W&B would find an API key, in its own order; never the key itself."""
    for name in ("WANDB_API_KEY", "WANDB_IDENTITY_TOKEN_FILE"):
        if environment.get(name):
            return name
    base = urlsplit(environment.get("WANDB_BASE_URL", "")).netloc
    hosts = _HOSTS if base in ("", *_HOSTS) else (base,)
    given = environment.get("NETRC")
    for path in [Path(given).expanduser()] if given else [home / ".netrc", home / "_netrc"]:
        with contextlib.suppress(OSError, netrc.NetrcParseError):
            entries = [netrc.netrc(str(path)).authenticators(host) for host in hosts]
            if any(entry and entry[2] for entry in entries):
                return str(path)
    return None


def agent_sweep(environment: Mapping[str, str]) -> str:
    """The sweep whose agent started this process with a run for it; empty without one."""
    return environment.get("WANDB_SWEEP_ID", "") if environment.get("WANDB_RUN_ID") else ""
