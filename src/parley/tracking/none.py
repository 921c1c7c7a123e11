"""The tracker that tracks nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from parley.types import Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class NoTracker:
    """Tracks nothing: the default."""

    operational: ClassVar[frozenset[str]] = frozenset()

    @property
    def state(self) -> dict[str, Any]:
        return {"tracker": "none", "status": "disabled: not asked for"}

    def start(self, arm: str, config: Mapping[str, object], folder: str | None = None) -> None:
        pass

    def log(self, episode: Episode) -> None:
        pass

    def finish(self, arm: str, folder: str) -> None:
        pass

    def report(self, folder: str) -> None:
        pass

    def close(self, wait_s: float | None = None) -> None:
        pass
