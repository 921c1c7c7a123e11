"""Arms picked by name out of the frames of a study, or of two folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from parley.analysis.frames import Frames
from parley.analysis.naming import shortest
from parley.errors import ConfigError

Row = dict[str, Any]


def joined(one: Frames, two: Frames) -> Frames:
    """The frames of two folders as one; an arm in both is held once."""
    import pandas as pd

    known = set(one.arms["folder"]) if len(one.arms) else set()
    fresh = only(two, [arm["folder"] for arm in two.arm_rows() if arm["folder"] not in known])
    return Frames(
        arms=pd.concat([one.arms, fresh.arms], ignore_index=True),
        episodes=pd.concat([one.episodes, fresh.episodes], ignore_index=True),
        faults=(*one.faults, *two.faults),
        indices={**one.indices, **two.indices},
    )


def find(frames: Frames, name: str) -> list[int]:
    """The places of the arm with this name (as tables show it, its folder's, label or strategy):
    one, or one for each benchmark and model. Raises ConfigError."""
    rows = frames.arm_rows()
    labels = shortest(rows) if rows else []
    others = ([str(row[key]) for row in rows] for key in ("folder", "arm", "label", "strategy"))
    for names in (labels, *others):
        places = [place for place, held in enumerate(names) if held == name]
        if places and len({_kind(rows[place]) for place in places}) == len(places):
            return places
    raise ConfigError(
        f"no single arm is named {name!r}", allowed=", ".join([*labels, "or an arm's folder name"])
    )


def _kind(row: Row) -> tuple[str, str]:
    return str(row["benchmark"]), str(row["model"])


def matched(frames: Frames, ones: Sequence[int], twos: Sequence[int]) -> list[tuple[int, int]]:
    """Places of two arms in pairs of the same benchmark and model. Raises ConfigError."""
    rows = frames.arm_rows()
    kinds = {_kind(rows[place]): place for place in twos}
    found = [(one, kinds[_kind(rows[one])]) for one in ones if _kind(rows[one]) in kinds]
    if not found:
        raise ConfigError("the two arms have no benchmark and model in common")
    return found


def only(frames: Frames, folders: Sequence[str]) -> Frames:
    """The arms of these folders alone."""
    arms = frames.arms[frames.arms["folder"].isin(folders)] if len(frames.arms) else frames.arms
    held = frames.episodes
    if len(held):
        held = held[held["folder"].isin(folders)]
    return replace(frames, arms=arms, episodes=held)


SETTINGS = ("shots", "answer", "sampling", "seed")
"""What moves scores by itself and is no arm's own."""


def differences(
    one: Row, two: Row, names: Sequence[str] = ("benchmark", "model", "topology", *SETTINGS)
) -> list[str]:
    """In what two arms differ beside the strategy, in sentences."""
    return [
        f"the arms differ in {name}: {one[name]} and {two[name]}."
        for name in names
        if str(one[name]) != str(two[name])
    ]
