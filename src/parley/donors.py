"""Arms that need another arm's records: which arm that is, and what is read of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from parley.arm import Arm
from parley.errors import ConfigError
from parley.store import Manifest, find_arms, read_episodes, read_manifest
from parley.types import Call, Episode, Turn

_OWN = frozenset({"channel", "strategy", "prompts", "code", "donor"})
"""What an arm need not share with its donor; all else that affects outputs it must."""

Choices = Mapping[str, Any]
Identity = Mapping[str, Any]


def waves(arms: Sequence[Arm]) -> list[list[Arm]]:
    """The arms in the order in which they can run: those that need another arm come last."""
    first = [arm for arm in arms if not arm.waits]
    last = [arm for arm in arms if arm.waits]
    return [wave for wave in (first, last) if wave]


def with_donor(arm: Arm, study: Path) -> tuple[Arm, tuple[Episode, ...]]:
    """The arm, identified by its donor's messages too, and the donor's episodes without
    prompts and raw outputs. `study` is the folder in which donors are looked for. Raises
    ConfigError or StoreError: a donor that is missing or not finished is never guessed."""
    if not arm.needs:
        return arm, ()
    (need,) = arm.needs
    folder = donor_folder(
        study,
        lambda folder, one: folder.name == need or is_heard(arm, one.choices, one.identity),
        wanted=f"the arm '{need}' of study {arm.study}, whose messages this one needs,",
        allowed="an arm that differs in strategy and channel only, with channel=identity",
        remedy=f"run strategy={need} channel=identity in this study first, or in the same "
        "sweep; channel.donor=FOLDER chooses among several",
    )
    episodes = tuple(
        sorted(_messages(folder), key=lambda episode: (episode.problem, episode.sample))
    )
    said = [
        (one.problem, one.sample, [(t.seat, t.message and t.message.text) for t in one.turns])
        for one in episodes
    ]
    donor = {"arm": folder.name, "messages": pinned(said)}
    return replace(arm, identity={**arm.identity, "donor": donor}), episodes


def is_heard(arm: Arm, choices: Choices, identity: Identity) -> bool:
    """Whether an arm with these facts is the donor that this one needs: like it, but for the
    strategy, and heard as written."""
    (need,) = arm.needs
    return (
        (choices.get("strategy"), choices.get("channel")) == (need, "identity")
        and all(choices.get(key) == arm.choices[key] for key in arm.choices if key not in _OWN)
        and shared(arm.identity, _OWN) == shared(identity, _OWN)
    )


def donor_folder(
    study: Path,
    fits: Callable[[Path, Manifest], bool],
    *,
    wanted: str,
    allowed: str,
    remedy: str,
) -> Path:
    """The one finished arm of a study that fits. Raises ConfigError where there is none, where
    there are several, or where it is not finished."""
    folders = find_arms(study) if study.is_dir() and any(study.iterdir()) else []
    named = [(folder, read_manifest(folder)) for folder in folders]
    found = [(folder, manifest) for folder, manifest in named if fits(folder, manifest)]
    if len(found) != 1:
        shown = ", ".join(folder.name for folder, _ in found) or "none"
        raise ConfigError(
            f"{wanted} is not one of the study's arms, but {len(found)}: {shown}",
            allowed=allowed,
            remedy=remedy,
        )
    folder, manifest = found[0]
    if manifest.status != "finished":
        raise ConfigError(
            f"{wanted} is {manifest.status}, not finished",
            remedy="finish it first: the same command resumes",
        )
    return folder


def shared(identity: Identity, own: frozenset[str]) -> bytes:
    """What of an identity has to be alike, in a form that can be compared."""
    kept = {key: value for key, value in identity.items() if key not in own}
    return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def pinned(read: object) -> str:
    """Sixteen hex digits of what an arm reads of another one's records."""
    return hashlib.sha256(orjson.dumps(read)).hexdigest()[:16]


def _counted(turn: Turn) -> tuple[Call, ...]:
    return tuple(replace(call, prompt=(), reasoning="", visible="") for call in turn.calls)


def _messages(folder: Path) -> Iterator[Episode]:
    """Finished episodes without prompts and raw outputs: a channel hears messages only."""
    for episode in read_episodes(folder):
        if episode.failure is None:
            turns = tuple(replace(turn, calls=_counted(turn)) for turn in episode.turns)
            yield replace(episode, segments=(), turns=turns)
