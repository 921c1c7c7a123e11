"""Tidy frames from a folder of records, one per grain: arms, episodes, turns, edges.

Ids are text ("0073" stays "0073"), counts are integers that may be missing, and nothing that
cannot be read is dropped without a word: `faults` says what, and missing episodes are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.analysis.cache import LEAST, digest
from parley.analysis.digest import Digest, Index
from parley.errors import StoreError
from parley.metrics import edge_rows, turn_rows
from parley.store import STRANGE, Manifest, find_arms, read_manifest, scored_rows
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
NAMING = ("benchmark", "topology", "strategy", "model")
"""Choices by which arms are grouped and named: one that a manifest lacks is `UNSAID`."""
UNSAID = "-"
KEY = ("folder", "study", "arm")
FILES = ("manifest.json", "episodes.jsonl", "config.yaml")
Row = Mapping[str, object]
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """What was recorded under one path. `folder` joins the frames: an arm's own folder."""

    arms: pd.DataFrame
    """One row per arm: its choices, what was planned, and how much of it is missing."""
    episodes: pd.DataFrame
    """One row per (problem, sample), as `parley.metrics.episode_row` gives it."""
    faults: tuple[str, ...] = ()
    """What could not be read, in sentences for a reader."""
    indices: Mapping[str, Index] = field(default_factory=dict)
    """By arm's folder: where each episode's line begins, and how it is listed."""

    def arm_rows(self) -> list[dict[str, Any]]:
        """The arms as plain values, None where there is none."""
        return plain_rows(self.arms)

    def starts(self, folder: str) -> Sequence[int] | None:
        """Where the lines of an arm's episodes begin; None where that is not known."""
        index = self.indices.get(folder)
        return tuple(index.starts) if index else None

    def turns(self) -> pd.DataFrame:
        """One row per turn; read from the records anew. Raises StoreError or OSError where they
        have become unreadable since."""
        return self._read(turn_rows)

    def edges(self) -> pd.DataFrame:
        """One row per message heard: who made whom read how many tokens again."""
        return self._read(edge_rows)

    def _read(self, rows: Callable[[Mapping[str, Any]], Iterable[Row]]) -> pd.DataFrame:
        found = []
        for arm in self.arm_rows():
            starts = self.starts(arm["folder"])
            episodes = scored_rows(Path(arm["folder"]), starts) if starts != () else ()
            made = list(_all_rows(episodes, rows))
            names = dict.fromkeys(name for row in made for name in row)
            columns = {name: [row.get(name) for row in made] for name in names}
            found.append(_of_arm(arm, columns, len(made)))
        return _framed(found)


def silent(text: str) -> None:
    """Tells nobody what is being done."""


def load(path: Path, *, least: int = LEAST, tell: Callable[[str], None] = silent) -> Frames:
    """All arms at or below `path`: an arm, a study, or a folder of studies. What was read of an
    arm whose records have at least `least` bytes is kept beside them (`analysis.cache`). `tell`
    hears which arm is being read."""
    arms: list[Row] = []
    episodes: list[Columns] = []
    indices: dict[str, Index] = {}
    folders = arm_folders(path)
    faults = [_half_written(folder) for folder in leftovers(path, folders)]
    for number, folder in enumerate(folders, 1):
        tell(f"reading arm {number} of {len(folders)}: {folder.name}")
        try:
            manifest = read_manifest(folder)
        except StoreError as error:
            faults.append(f"{folder.name}: its manifest cannot be read ({error.what}); left out.")
            continue
        metrics = (manifest.metric, *manifest.metrics)
        several = manifest.planned.get("samples", 1) > 1
        read = _digest(folder, metrics, several, least)
        if fault := _fault(read):
            faults.append(f"{folder.name}: {fault}")
        if unsaid := [name for name in NAMING if name not in manifest.choices]:
            said = f"does not say its {', '.join(unsaid)}: compared under {UNSAID!r}."
            faults.append(f"{folder.name}: its manifest {said}")
        arm = _arm(folder, manifest)
        problems = read.index.problems
        counts = {
            "missing": _missing(manifest, problems),
            "unreadable": read.strangers,
            "unread": bool(fault) and not problems,
            "rescored": sum(map(bool, read.columns.get("rescored", ()))),
        }
        arms.append({**arm, **counts})
        episodes.append(_of_arm(arm, read.columns, len(problems)))
        indices[str(folder)] = read.index
    return Frames(
        arms=tidy(arms), episodes=_framed(episodes), faults=tuple(faults), indices=indices
    )


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


def _of_arm(arm: Row, columns: Columns, size: int) -> Columns:
    """Columns with what joins them to the arm; none where there is no row."""
    return {**{name: [arm[name]] * size for name in KEY}, **columns} if size else {}


def _framed(parts: Sequence[Columns]) -> pd.DataFrame:
    """One frame of the columns of several arms, which may lack some of them."""
    import pandas as pd

    sizes = [len(next(iter(part.values()), ())) for part in parts]
    names = dict.fromkeys(name for part in parts for name in part)

    def whole(name: str) -> list[Any]:
        return [
            value
            for part, size in zip(parts, sizes, strict=True)
            for value in part.get(name, [None] * size)
        ]

    return pd.DataFrame({name: _column(whole(name)) for name in names})


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
        **{name: choices.pop(name, UNSAID if name in NAMING else None) for name in CHOICES},
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


def _missing(manifest: Manifest, found: Sequence[str]) -> int:
    """Planned episodes of which there is no record. More problems than planned are no surplus:
    an earlier run of the same arm may have had a higher limit."""
    problems, samples = manifest.planned.get("problems", 0), manifest.planned.get("samples", 1)
    counts = Counter(found)
    held = sum(min(count, samples) for _, count in counts.most_common(problems))
    return problems * samples - held


def _digest(folder: Path, metrics: Sequence[str], votes: bool, least: int) -> Digest:
    if not (folder / EPISODES).exists():
        return Digest(fault=f"it holds no {EPISODES}.")
    return digest(folder, metrics, votes=votes, least=least)


def _fault(read: Digest) -> str:
    """What to say of what could not be read."""
    if read.fault or not read.strangers:
        return read.fault
    return f"episodes of a shape this version does not know: {read.strangers}."


def _all_rows(
    episodes: Iterable[Mapping[str, Any]], rows: Callable[[Mapping[str, Any]], Iterable[Row]]
) -> Iterator[Row]:
    for episode in episodes:
        with suppress(*STRANGE):
            yield from list(rows(episode))


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
