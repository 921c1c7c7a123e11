"""Sends recorded arms to W&B after the fact: the records are the truth, W&B shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parley.errors import StoreError
from parley.store import find_arms, read_manifest, scored_rows
from parley.tracking import WandbTracker


@dataclass(frozen=True, slots=True, kw_only=True)
class Uploaded:
    """What `upload` did: arms sent, episodes in them, arms left out and why, the tracker's state.

    The state's `status` says whether "sent" means W&B (online) or files beside the records.
    """

    arms: tuple[str, ...]
    episodes: int
    skipped: Mapping[str, str]
    state: Mapping[str, Any]


def upload(folder: Path, tracker: WandbTracker) -> Uploaded:
    """Replays the finished arms of a folder, each into the run of its id, then the studies' own
    runs from their reports; closes the tracker.

    Sending again replaces what W&B had of a run, so that it may be repeated, and mends runs that
    were tracked in parts. Waits until everything is sent, up to `finish_timeout_s` per arm.
    Raises StoreError where the folder holds no arms; one that cannot be read is left out.
    """
    sent: dict[Path, int] = {}
    skipped: dict[str, str] = {}
    studies: dict[Path, None] = {}
    try:
        for home in find_arms(folder):
            try:
                manifest = read_manifest(home)
                if manifest.status == "finished":
                    sum(1 for _ in scored_rows(home))  # read once before W&B has half of it
            except StoreError as error:
                skipped[home.name] = f"cannot be read: {error.what}"
                continue
            if manifest.status == "finished":
                studies[home.parent] = None
                sent[home] = tracker.replay(manifest.to_dict(), home)
            else:
                skipped[manifest.arm] = f"is {manifest.status}, not finished"
        for study in studies:
            tracker.report(str(study), anew=True)
    finally:
        tracker.close(float("inf"))
    if tracker.disabled:
        skipped |= {home.name: str(tracker.state["status"]) for home in sent}
        sent = {}
    return Uploaded(
        arms=tuple(home.name for home in sent),
        episodes=sum(sent.values()),
        skipped=skipped,
        state=tracker.state,
    )
