"""Arms whose channel hears another arm's records: which arm that is, and what is read of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from parley.arm import Arm
from parley.errors import ConfigError
from parley.store import Manifest, find_arms, read_episodes, read_manifest
from parley.types import Episode

_OWN = frozenset({"channel", "strategy", "prompts", "code", "donor"})
"""What an arm need not share with its donor; all else that affects outputs it must."""


def waves(arms: Sequence[Arm]) -> list[list[Arm]]:
    """The arms in the order in which they can run: those that need another arm come last."""
    first = [arm for arm in arms if not arm.needs]
    last = [arm for arm in arms if arm.needs]
    return [wave for wave in (first, last) if wave]


def with_donor(arm: Arm, study: Path) -> tuple[Arm, tuple[Episode, ...]]:
    """The arm, identified by its donor's messages too, and the donor's episodes without their
    calls. `study` is the folder in which donors are looked for. Raises ConfigError or StoreError:
    a donor that is missing or not finished is never guessed."""
    if not arm.needs:
        return arm, ()
    (need,) = arm.needs
    folder = _find(arm, need, study)
    episodes = tuple(
        sorted(_messages(folder), key=lambda episode: (episode.problem, episode.sample))
    )
    said = [
        (one.problem, one.sample, [(t.seat, t.message and t.message.text) for t in one.turns])
        for one in episodes
    ]
    pinned = hashlib.sha256(orjson.dumps(said)).hexdigest()[:16]
    donor = {"arm": folder.name, "messages": pinned}
    return replace(arm, identity={**arm.identity, "donor": donor}), episodes


def _find(arm: Arm, need: str, study: Path) -> Path:
    folders = find_arms(study) if study.is_dir() and any(study.iterdir()) else []
    named = [(folder, read_manifest(folder)) for folder in folders]
    found = [
        (folder, manifest)
        for folder, manifest in named
        if folder.name == need or _fits(arm, need, manifest)
    ]
    wanted = f"the arm '{need}' of study {arm.study}, whose messages this one needs,"
    if len(found) != 1:
        shown = ", ".join(folder.name for folder, _ in found) or "none"
        raise ConfigError(
            f"{wanted} is not one of the study's arms, but {len(found)}: {shown}",
            allowed="an arm that differs in strategy and channel only, with channel=identity",
            remedy=f"run strategy={need} channel=identity in this study first, or in the same "
            "sweep; channel.donor=FOLDER chooses among several",
        )
    folder, manifest = found[0]
    if manifest.status != "finished":
        raise ConfigError(
            f"{wanted} is {manifest.status}, not finished",
            remedy="finish it first: the same command resumes",
        )
    return folder


def _fits(arm: Arm, need: str, manifest: Manifest) -> bool:
    """Whether a recorded arm is like this one, but for the strategy, and heard as written."""
    theirs = manifest.choices
    shared = [key for key in arm.choices if key not in _OWN]
    return (
        (theirs.get("strategy"), theirs.get("channel")) == (need, "identity")
        and all(theirs.get(key) == arm.choices[key] for key in shared)
        and _shared(arm.identity) == _shared(manifest.identity)
    )


def _shared(identity: Any) -> bytes:
    kept = {key: value for key, value in identity.items() if key not in _OWN}
    return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def _messages(folder: Path) -> Iterator[Episode]:
    """Finished episodes without prompts and raw outputs: a channel hears messages only."""
    for episode in read_episodes(folder):
        if episode.failure is None:
            turns = tuple(replace(turn, calls=()) for turn in episode.turns)
            yield replace(episode, segments=(), turns=turns)
