"""Calls of earlier records, found by the hash of their request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parley.store import find_arms, latest_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """All calls of some folders, held in memory by request hash."""

    calls: Mapping[str, Mapping[str, Any]]

    @classmethod
    def load(cls, folders: Sequence[Path]) -> Recorded:
        """Reads the folders of arms or studies. Raises StoreError where there are none."""
        calls = {
            call["request_hash"]: call
            for folder in folders
            for arm in find_arms(folder)
            for row in latest_rows(arm)
            for turn in row["turns"]
            for call in turn["calls"]
        }
        return cls(calls=calls)

    def find(self, request_hash: str) -> Mapping[str, Any] | None:
        """The recorded call, as it was stored, or None."""
        return self.calls.get(request_hash)
