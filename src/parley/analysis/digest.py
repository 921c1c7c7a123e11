"""An arm's records by column, from one reading of its file: what tables, pictures and the page
need of every episode, and where each line begins, so that a few conversations are found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parley.analysis.page.flows import Flow
from parley.analysis.transcript import inert
from parley.errors import StoreError
from parley.grading.voting import vote
from parley.metrics import episode_row
from parley.store import STRANGE, later_scores, regraded, scored_rows
from parley.store.archive import EPISODES, Key, row_key
from parley.store.lines import Line, read_lines

QUESTION = 240
"""Characters of a question in a list of problems; its transcript has all of them."""
LARGEST = 2**53
"""From here on, a number is no count or time of ours, and JavaScript would not hold it either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """Episodes in the file's order, by column: which, where, and how a list shows them."""

    problems: Sequence[str] = ()
    starts: Sequence[int] = ()
    """First byte of the line in `episodes.jsonl`."""
    questions: Sequence[str] = ()
    golds: Sequence[str] = ()
    flow: Flow = field(default_factory=Flow)
    """Sums over all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """All episodes of an arm that could be read: the last line of each (problem, sample)."""

    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """As `parley.metrics.episode_row` names them, and `vote`; None where a row lacks one."""
    index: Index = field(default_factory=Index)
    strange: tuple[Key, ...] = ()
    """Episodes of no known shape."""
    end: int = 0
    """Bytes that were read, where the file can be read on from there; else 0."""
    fault: str = ""
    """Why nothing could be read."""
    strangers: int = 0
    """How many of `strange` were met before the fault, or all of them."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One episode: where, its values and their names; `names` is None where it is strange."""

    start: int
    names: tuple[str, ...] | None = None
    values: tuple[Any, ...] = ()
    question: str = ""
    gold: str = ""
    error: StoreError | None = None


def digested(
    folder: Path, metrics: Sequence[str], *, votes: bool, after: Digest | None = None
) -> Digest | None:
    """Reads an arm: all of it, or only what was appended `after` an earlier reading, and then None
    where that changes what was read before. `votes` says whether samples of a problem may vote."""
    rows, flow, ends = _again(after)
    names: dict[tuple[str, ...], tuple[str, ...]] = {}
    repeated, end = False, after.end if after else 0
    try:
        later = later_scores(folder)
        for line in read_lines(folder / EPISODES, end):
            if line.record is None:
                continue
            key = row_key(folder / EPISODES, line)
            if key in rows:
                if after:
                    return None
                repeated = True
                del rows[key]
            rows[key] = _row(line, line.record, later, metrics, votes, names, flow)
            end, ends = line.end, line.ended
        if repeated:
            starts = [row.start for row in rows.values() if row.names]
            flow = _flow(scored_rows(folder, starts))
    except (StoreError, OSError) as error:
        return None if after else _unreadable(error)
    return _made(rows, flow, end if ends else 0)


def _again(after: Digest | None) -> tuple[dict[Key, _Row], Flow, bool]:
    """The rows of an earlier reading; a copy of its sums, which go on."""
    if after is None:
        return {}, Flow(), True
    index, names = after.index, tuple(after.columns)
    rows = {
        (problem, sample): _Row(start, names, values, question, gold)
        for problem, sample, start, values, question, gold in zip(
            index.problems,
            after.columns.get("sample", ()),
            index.starts,
            zip(*after.columns.values(), strict=True),
            index.questions,
            index.golds,
            strict=True,
        )
    }
    return {**rows, **{key: _Row(0) for key in after.strange}}, index.flow.copy(), True


def _row(
    line: Line,
    record: dict[str, Any],
    later: Mapping[Key, Any],
    metrics: Sequence[str],
    votes: bool,
    names: dict[tuple[str, ...], tuple[str, ...]],
    flow: Flow,
) -> _Row:
    episode = regraded(record, later)
    try:
        row = episode_row(episode, metrics=metrics)
        _check(episode, row)
        row["vote"] = _vote(episode) if votes else None
    except StoreError as error:
        return _Row(line.start, error=error)
    except STRANGE:
        return _Row(line.start)
    shape = tuple(row)
    shape = names.setdefault(shape, shape)
    _count(flow, episode)
    return _Row(line.start, shape, tuple(row.values()), *_listed(episode))


def _check(episode: Mapping[str, Any], row: Mapping[str, Any]) -> None:
    """Raises one of STRANGE where a value is none that a run writes, before it is summed."""
    for name, value in row.items():
        if isinstance(value, int | float) and not abs(value) < LARGEST:
            raise ValueError(f"{name} is out of range")
    for turn in episode["turns"]:
        if not (isinstance(turn["title"], str) and isinstance(turn["index"], int)):
            raise TypeError("a turn has no title or no number")


def _made(rows: Mapping[Key, _Row], flow: Flow, end: int) -> Digest:
    strange = [key for key, row in rows.items() if row.names is None and row.error is None]
    before = 0
    for row in rows.values():
        if row.error is not None:
            return _unreadable(row.error, before)
        before += row.names is None
    held = {key: row for key, row in rows.items() if row.names is not None}
    kept = list(held.values())
    return Digest(
        columns=_columns(kept),
        index=Index(
            problems=[problem for problem, _ in held],
            starts=[row.start for row in kept],
            questions=[row.question for row in kept],
            golds=[row.gold for row in kept],
            flow=flow,
        ),
        strange=tuple(strange),
        strangers=len(strange),
        end=end,
    )


def _columns(rows: Sequence[_Row]) -> dict[str, list[Any]]:
    shapes = list(dict.fromkeys(row.names for row in rows if row.names))
    if len(shapes) == 1:
        columns = zip(*(row.values for row in rows), strict=True)
        return dict(zip(shapes[0], map(list, columns), strict=True))
    names = dict.fromkeys(name for shape in shapes for name in shape)
    whole = [dict(zip(row.names or (), row.values, strict=True)) for row in rows]
    return {name: [row.get(name) for row in whole] for name in names}


def _unreadable(error: StoreError | OSError, strangers: int = 0) -> Digest:
    what = error.what if isinstance(error, StoreError) else str(error)
    return Digest(fault=f"its records cannot be read: {what}", strangers=strangers)


def _vote(episode: Mapping[str, Any]) -> str | None:
    """The episode's vote by the rule of `parley.grading.voting`: what its grade extracted."""
    return vote(episode["score"]["extracted"]) if episode["score"] else None


def _flow(episodes: Iterable[Mapping[str, Any]]) -> Flow:
    flow = Flow()
    for episode in episodes:
        _count(flow, episode)
    return flow


def _count(flow: Flow, episode: Mapping[str, Any]) -> None:
    try:
        flow.add(episode)
    except STRANGE:
        return


def _listed(episode: Mapping[str, Any]) -> tuple[str, str]:
    """Question and gold answer as a list of problems shows them; empty in a record without."""
    try:
        return _cut(str(episode["question"])), _cut(str(episode["answers"][0]))
    except STRANGE:
        return "", ""


def _cut(text: str) -> str:
    plain = inert(" ".join(text.split()))
    return plain if len(plain) <= QUESTION else f"{plain[:QUESTION]}…"
