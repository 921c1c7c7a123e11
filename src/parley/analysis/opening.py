"""A study as notebooks take it: found by a short name; frames, table, names and notes at once."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.analysis.flow import Flow
from parley.analysis.frames import Frames, load, plain_rows
from parley.analysis.naming import settings, shortest
from parley.analysis.notes import notes
from parley.analysis.pictures import read_flows
from parley.analysis.tables import results
from parley.errors import StoreError
from parley.store import scored_rows

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Record = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Opened:
    """Everything is in the order of the table: row, name and folder of an arm share a place."""

    frames: Frames
    table: pd.DataFrame
    """As `parley.analysis.tables.results` gives it."""
    rows: tuple[Row, ...]
    """The table's rows as plain values."""
    names: tuple[str, ...]
    """What pictures and tables call the arms."""
    folders: tuple[Path, ...]
    notes: tuple[str, ...]
    """What a reader must know, the unreadable included."""

    @property
    def summary(self) -> str:
        """ "demo: 6 arms, 12 problems, 72 episodes", and what all of them share."""
        studies = ", ".join(dict.fromkeys(str(row["study"]) for row in self.rows))
        episodes = self.frames.episodes
        held = len(set(zip(*self._problems(), strict=True))) if len(episodes) else 0
        counts = ((len(self.rows), "arm"), (held, "problem"), (len(episodes), "episode"))
        said = ", ".join(f"{n:,} {word}{'' if n == 1 else 's'}" for n, word in counts)
        shared = settings(self.rows) if self.rows else ""
        return "\n".join(filter(None, (f"{studies or 'no study'}: {said}", shared)))

    @cached_property
    def flows(self) -> list[Flow]:
        """What each arm's agents made each other read; read from the records anew."""
        return read_flows(self.frames, self.table)

    def with_episodes(self) -> list[str]:
        """Names of the arms that have any."""
        return [name for name, row in zip(self.names, self.rows, strict=True) if row["n"]]

    def episodes(self, name: str) -> Mapping[str, list[Row]]:
        """An arm's episodes as rows, by problem, in the order of their samples."""
        return self._rows_by_problem.get(str(self.folders[self.names.index(name)]), {})

    def records(self, name: str, problems: Container[str] | None = None) -> Iterator[Record]:
        """An arm's episodes as they are stored, graded by the latest scores: all that the frames
        could read, or those of some problems, and then no other line is read."""
        folder = self.folders[self.names.index(name)]
        index = self.frames.indices.get(str(folder))
        if index is None:
            return
        places = zip(index.problems, index.starts, strict=True)
        starts = [at for problem, at in places if problems is None or problem in problems]
        try:
            yield from scored_rows(folder, starts)
        except (StoreError, OSError):  # it has become unreadable since
            return

    @cached_property
    def _rows_by_problem(self) -> dict[str, dict[str, list[Row]]]:
        found: dict[str, dict[str, list[Row]]] = {}
        for row in sorted(plain_rows(self.frames.episodes), key=lambda row: row["sample"]):
            found.setdefault(row["folder"], {}).setdefault(row["problem"], []).append(row)
        return found

    def _problems(self) -> tuple[list[Any], list[Any]]:
        benchmarks = {arm["folder"]: arm["benchmark"] for arm in self.frames.arm_rows()}
        episodes = self.frames.episodes
        return [benchmarks[folder] for folder in episodes["folder"]], list(episodes["problem"])


def locate(folder: str | Path) -> Path:
    """The folder, looked for from the current one upwards, then in the checkout that Parley was
    installed from; in each also below `notebooks`. As it was given where there is none."""
    places = [Path.cwd(), *Path.cwd().parents, *Path(__file__).parents]
    found = (place / inner / folder for place in places for inner in ("", "notebooks"))
    return next((path for path in found if path.is_dir()), Path(folder))


def open_study(folder: str | Path) -> Opened:
    """A folder of studies, a study or one of its arms, found as `locate` does. Raises StoreError
    where there are no records at all."""
    frames = load(locate(folder))
    table = results(frames)
    rows = plain_rows(table)
    folders = {(arm["study"], arm["arm"]): Path(arm["folder"]) for arm in frames.arm_rows()}
    return Opened(
        frames=frames,
        table=table,
        rows=tuple(rows),
        names=tuple(shortest(rows)) if rows else (),
        folders=tuple(folders[row["study"], row["arm"]] for row in rows),
        notes=notes(frames, table),
    )
