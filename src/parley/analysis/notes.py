"""What a reader of a report must be told beside its numbers, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from parley.analysis.frames import Frames, plain_rows
from parley.analysis.fronts import comparable
from parley.analysis.naming import facets, shortest
from parley.types import VERSION

if TYPE_CHECKING:
    import pandas as pd

ALIKE = ("shots", "answer", "sampling", "engine", "seed", "topology", "channel")
"""Choices that move scores or tokens by themselves: arms that differ in them are pointed out."""
MANY = 3
"""Arms up to which a note names each one."""
Row = dict[str, Any]


def notes(frames: Frames, table: pd.DataFrame) -> tuple[str, ...]:
    """Faults of reading, then what limits the comparison, then each arm's own troubles."""
    rows = plain_rows(table)
    if not rows:
        return (*frames.faults, "No arm has records that can be read.")
    groups = dict(iter(frames.episodes.groupby("folder"))) if len(frames.episodes) else {}
    folders = {(arm["study"], arm["arm"]): arm["folder"] for arm in frames.arm_rows()}
    unread = {(arm["study"], arm["arm"]) for arm in frames.arm_rows() if arm["unread"]}
    found = [*frames.faults, *_versions(frames)]
    if len(rows) == 1:
        found.append("One arm: there is nothing to compare it with.")
    for positions in facets(rows).values():
        found.extend(_differences([rows[i] for i in positions]))
        found.extend(_metrics([rows[i] for i in positions]))
    found.extend(_problem_sets(rows, groups, folders))
    told: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        key = row["study"], row["arm"]
        for text in _troubles(row, groups.get(folders[key]), key in unread):
            told.setdefault(text, []).append(place)
    found.extend(f"{', '.join(_who(rows, places))}: {text}" for text, places in told.items())
    found.extend(
        f"{arm['arm']}: {arm['broken_lines']} unfinished lines were set apart."
        for arm in frames.arm_rows()
        if arm["broken_lines"]
    )
    return tuple(found)


def _who(rows: list[Row], places: list[int]) -> Iterator[str]:
    """The arms' names, or what they are all arms of where there are many."""
    labels, left = shortest(rows), set(places)
    if len(left) == len(rows) > MANY:
        yield f"all {len(rows)} arms"
        return
    for (benchmark, model), members in facets(rows).items():
        if len(members) > MANY and left.issuperset(members):
            yield f"all arms of {benchmark}, {model}"
            left.difference_update(members)
    yield from (labels[place] for place in places if place in left)


def _versions(frames: Frames) -> Iterator[str]:
    versions = Counter(int(arm["version"]) for arm in frames.arm_rows())
    if set(versions) != {VERSION}:
        held = ", ".join(f"{n} of version {v}" for v, n in sorted(versions.items()))
        yield f"Arms hold records of another version than this one's ({VERSION}): {held}."


def _differences(rows: list[Row]) -> Iterator[str]:
    for name in ALIKE:
        values = sorted({str(row[name]) for row in rows})
        if len(values) > 1:
            where = f"{rows[0]['benchmark']}, {rows[0]['model']}"
            yield f"Arms differ in {name} ({where}): {', '.join(values)}."


def _metrics(rows: list[Row]) -> Iterator[str]:
    names = sorted({str(row["metric"]) for row in rows})
    if len(names) > 1:
        where = f"{rows[0]['benchmark']}, {rows[0]['model']}"
        yield (
            f"Arms have different scores ({where}: {', '.join(names)}), which no picture, front or "
            "budget can compare: `--score` names one that all have."
        )


def _problem_sets(
    rows: list[Row], groups: dict[Any, pd.DataFrame], folders: dict[tuple[str, str], str]
) -> Iterator[str]:
    """Where the arms of a benchmark did not answer the same problems."""
    for benchmark in dict.fromkeys(row["benchmark"] for row in rows):
        keys = [folders[row["study"], row["arm"]] for row in rows if row["benchmark"] == benchmark]
        held = [set(groups[key]["problem"]) for key in keys if key in groups]
        if held and any(problems != held[0] for problems in held):
            sizes = [len(problems) for problems in held]
            common = len(set.intersection(*held))
            drawn = [frozenset(held[i]) for i in comparable([frozenset(one) for one in held])]
            none = not frozenset.intersection(*drawn)
            alone = ", and there is no chance of being the best to tell" if none else ""
            yield (
                f"Arms of {benchmark} hold different problems ({min(sizes)} to {max(sizes)} each, "
                f"{common} common to all): each mean is over the arm's own{alone}."
            )


def _troubles(row: Row, episodes: pd.DataFrame | None, unread: bool) -> Iterator[str]:
    planned = row["missing"] + row["episodes"]
    if row["run"] != "finished":
        yield f"the run is marked {row['run']!r}."
    if episodes is None:
        none = "no episode that can be read" if unread else "no finished episode yet"
        yield f"{none} ({planned} planned)."
        return
    if row["missing"]:
        yield f"{row['missing']} of {planned} planned episodes are missing, and in no mean."
    if row["errors"]:
        kinds = _counted(episodes["error"].dropna())
        yield (
            f"{row['errors']} of {row['episodes']} episodes failed ({kinds}): scored 0, with the "
            "tokens they had spent by then."
        )
        if row["errors"] == row["episodes"]:
            yield "no episode was completed: it is on no front, and best at no budget."
    if row["unscored"]:
        yield (
            f"{row['metric']} is not a number in {row['unscored']} of {row['episodes']} episodes, "
            "so the mean is empty; `parley rescore` grades again."
        )
    if again := int(episodes["rescored"].sum()):
        yield (
            f"{again} of {row['episodes'] - row['errors']} scores are those of a later "
            "`parley rescore`."
        )
    yield from _uncertain(row)
    if "(oracle)" in str(row["budget"]):
        yield (
            "an oracle: each problem was granted what its donor used on it, which no arm could "
            "know beforehand."
        )
    if row["estimated"]:
        yield f"tokens of {row['estimated']:.0%} of the episodes are partly estimated."
    if row["reused"]:
        yield "reused calls count as tokens, and are left out of cached tokens and of latency."
    flags = Counter(flag for flags in episodes["flags"].dropna() for flag in flags.split())
    for flag, count in sorted(flags.items()):
        yield f"{count} of {row['episodes']} episodes have a call flagged {flag}."


def _uncertain(row: Row) -> Iterator[str]:
    if row["n"] == 1:
        yield "one problem has no interval."
    elif row["score_low"] is not None and row["score_low"] == row["score_high"]:
        yield (
            f"{row['metric']} is alike on all {row['n']} problems: the bootstrap then gives an "
            "interval of width 0, which is not certainty."
        )


def _counted(values: Iterable[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(Counter(values).items()))
