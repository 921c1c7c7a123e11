"""Where the real benchmark rows and reported cases lie, beside the checkout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Folder beside the checkout; its rows are read from there and never copied into the project."""

needs_shared = pytest.mark.skipif(
    not (SHARED / "cases" / "cases.jsonl").exists(),
    reason=f"no shared data folder beside the checkout ({SHARED.name}/)",
)


def case(name: str) -> dict[str, Any]:
    """One reported case by id; skips the test where the folder is absent."""
    path = SHARED / "cases" / "cases.jsonl"
    if not path.exists():
        pytest.skip("no shared cases beside the checkout")
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line and json.loads(line)["id"] == name:
            found: dict[str, Any] = json.loads(line)
            return found
    raise KeyError(name)
