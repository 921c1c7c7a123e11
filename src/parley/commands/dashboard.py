"""`parley dashboard DIR`: saves a study's view in W&B."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parley import config
from parley.errors import ConfigError


def command(arguments: Sequence[str]) -> int:
    """Writes the saved view of a study whose runs are in W&B; again replaces it. Raises
    ParleyError where no key is found or no server takes it."""
    parser = argparse.ArgumentParser("parley dashboard", description=__doc__)
    parser.add_argument("folder", type=Path, help="a study's folder")
    parser.add_argument("overrides", nargs="*", help="tracker.project=NAME, tracker.entity=TEAM")
    parser.add_argument(
        "--print", action="store_true", help="print the view as JSON; needs no server"
    )
    given = parser.parse_args(arguments)
    from parley.dashboard import build, facts, save, spec

    known = facts(given.folder)
    values = config.resolve(config.compose_one(["tracker=wandb", *given.overrides]))["tracker"]
    named = {word.partition("=")[0] for word in given.overrides}
    place: dict[str, Any] = {
        name: values[name] if f"tracker.{name}" in named else getattr(known, name) or values[name]
        for name in ("project", "entity")
    }
    if given.print:
        view = build(known, project=place["project"], entity=place["entity"] or "ENTITY")
        sys.stdout.buffer.write(spec(view) + b"\n")
        return 0
    if not config.wandb_key():
        raise ConfigError(
            "no W&B login, so no server to save the view on",
            allowed="an API key from `wandb login`, or in WANDB_API_KEY",
            remedy="log in and run `parley upload DIR`, then this again; or --print, which shows "
            "the view without a server",
        )
    place["entity"] = place["entity"] or _own_entity()
    url, replaced = save(build(known, **place), known.folder)
    print(f"{'replaced' if replaced else 'saved'} {url}")
    return 0


def _own_entity() -> str:
    """The user or team whose the key is. Raises ConfigError where the server does not say."""
    from parley.redaction import redact_error
    from parley.tracking import import_wandb

    why = "the server names none for this key"
    try:
        if found := import_wandb().Api(timeout=20).default_entity:
            return str(found)
    except ImportError:
        why = "the package 'wandb' is not installed"
    except Exception as error:
        why = redact_error(error)
    raise ConfigError(
        f"whose project it is, is not known: {why}",
        allowed="a server that is reachable with the key at hand; WANDB_BASE_URL names another",
        remedy="tracker.entity=TEAM, or --print, which shows the view without a server",
    )
