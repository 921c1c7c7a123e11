"""Records read from text: a JSON object somewhere in it, or line-start labels. Total.

Field names match whole and in any case; synonyms are not guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

from parley.parsing.embedded import Found, last_object
from parley.parsing.labels import Labelled, labelled
from parley.types import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Fields found in a text, stripped; an empty value counts as missing.

    `status` is "ok", "repaired" (the JSON had to be mended, or backslashes restored),
    "missing_fields" or "unparsed" (no field at all). `spans` say where each value of `data`
    stands in the text, in the same order; of a value that cannot be found again as it was
    written, it is the whole object.
    """

    data: dict[str, str]
    status: Status
    missing: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


def parse_record(text: str, fields: tuple[str, ...]) -> Record:
    """Reads `fields` from a text: the last JSON object that has all of them, or labels.

    A complete labelled record that follows the object, or has it within a value, goes first.
    Without a complete record, the reading with the most fields is returned.
    """
    wanted = tuple(dict.fromkeys(fields))
    written = _labelled(text, wanted)
    best = last_object(text, wanted)
    if best is None or _wins(written, best, len(wanted)):
        best = written
    missing = tuple(name for name in wanted if name not in best.values)
    status: Status = "repaired" if best.repaired else "ok"
    if missing:
        status = "missing_fields" if best.values else "unparsed"
    return Record(
        data={name: best.values[name][0] for name in wanted if name in best.values},
        status=status,
        missing=missing,
        spans=tuple(best.values[name][1] for name in wanted if name in best.values),
    )


def _wins(written: Found, best: Found, complete: int) -> bool:
    """Whether labels go before an object. Labels inside it are its own keys without quotes."""
    outside = not best.start < written.start < best.end
    everything = len(written.values) == complete
    return len(written.values) > len(best.values) or (everything and outside)


def _labelled(text: str, fields: tuple[str, ...]) -> Found:
    found = [item for item in labelled(text, fields) if item.value]
    chosen = _last_run(found, fields)
    return Found(
        values={name: (item.value, item.span) for name, item in chosen.items()},
        start=min((item.start for item in chosen.values()), default=len(text)),
        end=len(text),
    )


def _last_run(found: list[Labelled], fields: tuple[str, ...]) -> dict[str, Labelled]:
    """The last labels in the order of `fields`, so that a copied label cannot replace an earlier
    field; where they never stand in that order, the last of each."""
    last = {item.name: item for item in found}
    run: dict[str, Labelled] = {}
    limit: float = float("inf")
    for name in reversed([name for name in fields if name in last]):
        earlier = [item for item in found if item.name == name and item.start < limit]
        if not earlier:
            return last
        run[name] = earlier[-1]
        limit = earlier[-1].start
    return run
