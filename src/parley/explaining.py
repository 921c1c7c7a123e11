"""Hydra's messages without its machinery: what is wrong, what is allowed, what to do next."""

from __future__ import annotations

import difflib
import re

from parley.building import GROUPS, study_keys
from parley.errors import ConfigError
from parley.redaction import redact_text


def explain(error: BaseException) -> ConfigError:
    """Hydra's message without its machinery, what is allowed there, and what to do next."""
    chain: list[BaseException] = [error]
    while (inner := chain[-1].__cause__ or chain[-1].__context__) and len(chain) < 6:
        chain.append(inner)
    allowed = next((found for one in chain if (found := _allowed(one))), [])
    said = [line for one in chain for line in _told(one)]
    unknown = re.search(r"Could not (?:override|find) '([^']+)'", "\n".join(said))
    close: list[str] = []
    if unknown and allowed:
        close = difflib.get_close_matches(re.split(r"[./]", unknown[1])[-1], allowed, n=1)
    shown = "`parley run --help` lists the choices of every group, `--cfg job` shows the config"
    return ConfigError(
        redact_text("\n".join(dict.fromkeys(said))),
        allowed=", ".join(allowed),
        remedy=f"did you mean '{close[0]}'? {shown}" if close else shown,
    )


def _told(error: BaseException) -> list[str]:
    """The lines of a message that help a user: without Hydra's lists and its search path, and
    without the hint that makes a misspelt key a new one."""
    text = re.split(r"Available options|Config search path", str(error))[0]
    text = re.sub(r"Key '[^']*' is not in struct", "there is no such setting", text)
    noise = (
        "None",
        "See https://hydra.cc",
        "To append to your config",
        "full_key:",
        "object_type=",
    )
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith(noise)]


def _allowed(error: BaseException) -> list[str]:
    """The choices of a group, or the keys beside an unknown one."""
    if options := getattr(error, "options", None):
        return list(options)
    parent = getattr(error, "parent_node", None)
    if parent is None:
        return []
    keys = [str(key) for key in parent if key != "_target_"]
    return [*GROUPS, *study_keys()] if "study" in keys else keys
