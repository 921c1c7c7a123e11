"""What wandb does to a process beside its work, and how that is kept away from a study."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def writable(root: Path) -> None:
    """Raises OSError where wandb would go on in the system's folder for temporary files."""
    root.mkdir(parents=True, exist_ok=True)
    for folder in (root, root / "wandb"):
        if folder.exists():
            with tempfile.TemporaryFile(dir=folder):
                pass


def without_telemetry(wandb: Any) -> None:
    """No reports to wandb's makers: where they cannot be sent, the process would end late."""
    with contextlib.suppress(Exception):
        wandb.analytics.opentelemetry.opentelemetry_proxy.disable()


@contextlib.contextmanager
def exit_hooks_kept() -> Iterator[None]:
    """wandb puts itself in the place of sys.exit and sys.excepthook; both belong to the study."""
    kept = sys.exit, sys.excepthook
    try:
        yield
    finally:
        sys.exit, sys.excepthook = kept
