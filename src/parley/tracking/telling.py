"""What a user is told of tracking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BY_MODE = "disabled: by tracker.mode"


def warning(state: Mapping[str, Any]) -> str:
    """What a user must be told of tracking that did not go as it was asked for; else nothing.

    The records are complete whatever happened to tracking.
    """
    if state.get("tracker") != "wandb":
        return ""
    why, notes = str(state["status"]), list(state["notes"])
    if state["dropped"]:
        notes.append(f"charts lack {state['dropped']} episodes that came too fast")
    if why.startswith("disabled: ") and why != BY_MODE:
        notes.insert(0, why.removeprefix("disabled: "))
    if not notes:
        return ""
    more = f" (and {len(notes) - 1} more, see `tracking` in manifest.json)" if notes[1:] else ""
    return (
        f"W&B: {notes[0]}{more}\n"
        "  next:    the records are complete; `parley upload DIR` sends them to W&B"
    )
