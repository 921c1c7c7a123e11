"""Tidy frames from a folder of records, one per grain: arms, episodes, turns, edges.

Ids are text ("0073" stays "0073"), counts are integers that may be missing, and nothing that
cannot be read is dropped without a word: `faults` says what, and missing episodes are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.analysis.rescored import scored_rows
from parley.errors import StoreError
from parley.grading.answers import stated_answer
from parley.grading.voting import comparable
from parley.metrics import edge_rows, episode_row, turn_rows
from parley.store import Manifest, find_arms, read_manifest
from parley.store.archive import EPISODES

if TYPE_CHECKING:
    import pandas as pd

CHOICES = (
    "benchmark",
    "topology",
    "strategy",
    "channel",
    "model",
    "engine",
    "sampling",
    "seed",
    "shots",
    "answer",
    "budget",
    "replay",
)
"""What an arm's manifest says was chosen, in the order a reader wants it."""
KEY = ("folder", "study", "arm")
FILES = ("manifest.json", "episodes.jsonl", "config.yaml")
Row = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """What was recorded under one path. `folder` joins the frames: an arm's own folder."""

    arms: pd.DataFrame
    """One row per arm: its choices, what was planned, and how much of it is missing."""
    episodes: pd.DataFrame
    """One row per (problem, sample), as `parley.metrics.episode_row` gives it."""
    faults: tuple[str, ...] = ()
    """What could not be read, in sentences for a reader."""

    def arm_rows(self) -> list[dict[str, Any]]:
        """The arms as plain values, None where there is none."""
        return plain_rows(self.arms)

    def turns(self) -> pd.DataFrame:
        """One row per turn; read from the records anew."""
        return self._read(turn_rows)

    def edges(self) -> pd.DataFrame:
        """One row per message heard: who made whom read how many tokens again."""
        return self._read(edge_rows)

    def _read(self, rows: Callable[[Mapping[str, Any]], Iterable[Row]]) -> pd.DataFrame:
        found: list[Row] = []
        for arm in self.arm_rows():
            key = {name: arm[name] for name in KEY}
            episodes, _, _ = _episodes(Path(arm["folder"]), rows)
            found.extend({**key, **row} for row in episodes)
        return tidy(found)


def load(path: Path) -> Frames:
    """All arms at or below `path`: an arm, a study, or a folder of studies."""
    arms: list[Row] = []
    episodes: list[Row] = []
    folders = arm_folders(path)
    faults = [_half_written(folder) for folder in leftovers(path, folders)]
    for folder in folders:
        try:
            manifest = read_manifest(folder)
        except StoreError as error:
            faults.append(f"{folder.name}: its manifest cannot be read ({error.what}); left out.")
            continue
        metrics = (manifest.metric, *manifest.metrics)
        several = manifest.planned.get("samples", 1) > 1
        rows, unreadable, fault = _episodes(folder, _one_row(metrics, votes=several))
        if fault:
            faults.append(f"{folder.name}: {fault}")
        arm = _arm(folder, manifest)
        key = {name: arm[name] for name in KEY}
        counts = {
            "missing": _missing(manifest, rows),
            "unreadable": unreadable,
            "unread": bool(fault) and not rows,
            "rescored": sum(bool(row["rescored"]) for row in rows),
        }
        arms.append({**arm, **counts})
        episodes.extend({**key, **row} for row in rows)
    return Frames(arms=tidy(arms), episodes=tidy(episodes), faults=tuple(faults))


def arm_folders(path: Path) -> list[Path]:
    """Folders of arms at or below `path`; none where all were left half-written. Raises
    StoreError where there is not even that."""
    try:
        return find_arms(path)
    except StoreError:
        if any(leftovers(path, ())):
            return []
        raise


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame's rows as plain Python values, None where there is none (never NaN)."""
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(name): row[name] for name in row} for row in plain.to_dict("records")]


def tidy(rows: Sequence[Row]) -> pd.DataFrame:
    """A frame with one honest type per column: text stays text, whole numbers stay whole where
    values are missing (Int64), flags are boolean, other numbers float64 with NaN."""
    import pandas as pd

    names = dict.fromkeys(name for row in rows for name in row)
    return pd.DataFrame({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[Any]) -> pd.Series:
    import pandas as pd

    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pd.Series(values, dtype="boolean")
    if kinds == {int}:
        return pd.Series(values, dtype="Int64")
    if kinds and kinds <= {int, float}:
        return pd.Series(values, dtype="float64")
    return pd.Series([None if v is None else str(v) for v in values], dtype="str")


def _arm(folder: Path, manifest: Manifest) -> dict[str, object]:
    choices = dict(manifest.choices)
    return {
        "folder": str(folder),
        "study": manifest.study,
        "arm": folder.name,
        "label": manifest.label,
        **{name: choices.pop(name, None) for name in CHOICES},
        **choices,
        "metric": manifest.metric,
        "metrics": " ".join(manifest.metrics),
        "run": manifest.status,
        "version": manifest.version,
        "fingerprint": manifest.fingerprint,
        "planned_problems": manifest.planned.get("problems", 0),
        "planned_samples": manifest.planned.get("samples", 1),
        "broken_lines": manifest.broken_lines,
    }


def _missing(manifest: Manifest, rows: Sequence[Row]) -> int:
    """Planned episodes of which there is no record. More problems than planned are no surplus:
    an earlier run of the same arm may have had a higher limit."""
    problems, samples = manifest.planned.get("problems", 0), manifest.planned.get("samples", 1)
    found = Counter(row["problem"] for row in rows)
    held = sum(min(count, samples) for _, count in found.most_common(problems))
    return problems * samples - held


def _one_row(
    metrics: Sequence[str], *, votes: bool
) -> Callable[[Mapping[str, Any]], Iterable[Row]]:
    """An episode's row, with its `vote` where several samples of a problem may vote."""
    return lambda episode: (
        {
            **episode_row(episode, metrics=metrics),
            "vote": _vote(episode) if votes else None,
        },
    )


def _vote(episode: Mapping[str, Any]) -> str | None:
    """The episode's vote by the rule of `parley.grading.voting`, in the grader's words where it
    read one: an option's letter for its text."""
    answer, score = episode["answer"], episode["score"]
    if not answer or not score:
        return None
    stated = stated_answer(answer["text"], truncated=answer["truncated"])
    return comparable(score["extracted"] or stated) if stated else None


def _episodes(
    folder: Path, rows: Callable[[Mapping[str, Any]], Iterable[Row]]
) -> tuple[list[Row], int, str]:
    """Rows of an arm's episodes, how many lines were of no known shape, and what to say of it."""
    found: list[Row] = []
    strange = 0
    if not (folder / EPISODES).exists():
        return [], 0, f"it holds no {EPISODES}."
    try:
        for episode in scored_rows(folder):
            try:
                found.extend(list(rows(episode)))
            except (KeyError, TypeError, AttributeError):
                strange += 1
    except (StoreError, OSError) as error:
        what = error.what if isinstance(error, StoreError) else str(error)
        return [], strange, f"its records cannot be read: {what}"
    if strange:
        return found, strange, f"episodes of a shape this version does not know: {strange}."
    return found, 0, ""


def leftovers(path: Path, known: Sequence[Path]) -> Iterator[Path]:
    """Folders that hold an arm's file but are no arm: a run ended while it was being written."""
    seen = {
        file.parent
        for depth in ("", "*/", "*/*/")
        for name in FILES
        for file in path.glob(f"{depth}{name}")
    }
    yield from sorted(seen - set(known))


def _half_written(folder: Path) -> str:
    held = ", ".join(name for name in FILES if (folder / name).exists())
    return f"{folder.name}: half-written (holds only {held}); left out."
