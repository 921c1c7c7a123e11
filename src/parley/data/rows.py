"""Rows of a benchmark, from the Hugging Face hub or from a local file, each with its place.

A place ("dev.json, row 17", "test.jsonl, line 3") counts from 1 and stands in every error.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from parley.errors import ConfigError, DataError, MissingExtra
from parley.protocols import Dataset
from parley.types import Problem

_FILES = ".jsonl (one JSON object a line), .json (a list of objects), .csv or .parquet"
_JSON = (".json", ".jsonl", ".ndjson")
_LOCAL = "benchmark.path=FILE reads a local copy (.jsonl, .json, .csv or .parquet)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row as it was read, and where it stands."""

    data: Mapping[str, object]
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The rows of one file or split. `source` names the data by content or pinned revision."""

    rows: tuple[Row, ...]
    source: str


def from_file(path: str) -> Table:
    """Reads a local file. `source` is the SHA-256 of its bytes, wherever it lies."""
    file = Path(path).expanduser()
    readers = {".parquet": _parquet, ".csv": _csv, **dict.fromkeys(_JSON, _text)}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise DataError(f"{path} is not a file of rows by its name", allowed=_FILES)
    content = read_bytes(path)
    rows = tuple(_checked(reader(file, content)))
    if not rows:
        raise DataError(f"{path} holds no rows", allowed=_FILES)
    return Table(rows=rows, source=f"file:{digest(content)}")


def digest(content: bytes) -> str:
    """How a file is named by what is in it."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def read_bytes(path: str) -> bytes:
    """A file's bytes, or a DataError that says why not."""
    try:
        return Path(path).expanduser().read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(
            f"cannot read {path}: {reason}",
            remedy="name an existing file; a relative path starts at the current directory",
        ) from error


def json_rows(name: str, content: bytes) -> Iterator[tuple[str, object]]:
    """(place, value) of a JSON list, or of JSON objects one a line; told apart by the first
    character. Lines end at a newline and nowhere else: the Unicode line separators are text."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    if content.lstrip()[:1] == b"[":
        for number, item in enumerate(_loads(content, name, None), 1):
            yield f"{name}, row {number}", item
        return
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            yield f"{name}, line {number}", _loads(line, name, number)


def from_hub(
    hub: str,
    config: str | None,
    split: str,
    revision: str | None,
    *,
    load: Callable[..., Iterable[Mapping[str, object]]] | None = None,
) -> Table:
    """Reads a split of a data set through `datasets`, which keeps a copy on disk.

    `load` stands in for `datasets.load_dataset`. Raises MissingExtra without `datasets`, and
    DataError whatever goes wrong on the way to the hub.
    """
    load = load or _load_dataset()
    label = f"{hub}[{config or 'default'}/{split}]"
    try:
        found = list(load(hub, config, split=split, revision=revision))
    except Exception as error:  # `datasets` and its HTTP stack raise dozens of unrelated classes
        reason = (str(error).strip().split("\n")[0] or "no reason given")[:200]
        raise DataError(
            f"cannot load {label} from the Hugging Face hub: {type(error).__name__}: {reason}",
            remedy=f"check the network and the names; {_LOCAL}",
        ) from error
    rows = ((f"{label}, row {number}", row) for number, row in enumerate(found, 1))
    checked = tuple(_checked(rows))
    return Table(rows=checked, source=f"hub:{label}@{revision or _hashed(checked)}")


def _hashed(rows: Iterable[Row]) -> str:
    """Without a revision, only the rows themselves tell one version of the data from another."""
    made = hashlib.sha256()
    for row in rows:
        made.update(repr(row).encode())
    return f"latest:{made.hexdigest()[:16]}"


def joined(tables: Sequence[Table]) -> Table:
    """The rows of several tables in their order, as one."""
    return Table(
        rows=tuple(row for table in tables for row in table.rows),
        source=" ".join(table.source for table in tables),
    )


def collect(
    table: Table,
    build: Callable[[Row], Problem],
    leave_out: Callable[[Problem], str] = lambda problem: "",
) -> Dataset:
    """Problems of all rows, except those for which `leave_out` names a reason.

    Notes count the departures of the problems kept, and `left_out_<reason>`. Raises DataError for
    an id that stands twice, naming both places, and where no problem is left.
    """
    problems: list[Problem] = []
    places: dict[str, str] = {}
    notes: Counter[str] = Counter()
    for row in table.rows:
        problem = build(row)
        if problem.id in places:
            raise DataError(
                f"the id '{problem.id}' stands twice: {places[problem.id]} and {row.place}",
                allowed="one row per id; answers and scores are joined by it",
                remedy="remove one of the two rows, or give it an id of its own",
            )
        places[problem.id] = row.place
        if reason := leave_out(problem):
            notes[f"left_out_{reason}"] += 1
            continue
        notes.update(problem.notes)
        problems.append(problem)
    if not problems:
        raise DataError(f"no problem is left of {len(table.rows)} rows: {dict(notes)}")
    return Dataset(problems=tuple(problems), source=table.source, notes=dict(sorted(notes.items())))


def required_file(path: str | None, benchmark: str) -> str:
    """The path of a benchmark that has no data of its own."""
    if not path:
        raise ConfigError(
            f"benchmark={benchmark} needs a file of problems",
            allowed=_FILES,
            remedy="benchmark.path=FILE",
        )
    return path


def _text(file: Path, content: bytes) -> Iterator[tuple[str, object]]:
    return json_rows(file.name, content)


def _csv(file: Path, content: bytes) -> Iterator[tuple[str, object]]:
    try:
        text = content.decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        for number, row in enumerate(reader, 1):
            if None in row or None in row.values():
                raise DataError(
                    f"{file.name}, row {number}: not as many cells as the header names",
                    allowed="one cell per column; a cell with commas or newlines stands in quotes",
                    remedy="mend the row; a file that was cut short is best fetched again",
                )
            yield f"{file.name}, row {number}", row
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{file.name} is not a readable CSV file: {error}") from error


def _parquet(file: Path, content: bytes) -> Iterator[tuple[str, object]]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "hub") from error
    try:
        rows = parquet.read_table(arrow.BufferReader(content)).to_pylist()
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{file.name} is not a readable Parquet file: {error}") from error
    for number, row in enumerate(rows, 1):
        yield f"{file.name}, row {number}", row


def _checked(rows: Iterable[tuple[str, object]]) -> Iterator[Row]:
    for place, value in rows:
        if not isinstance(value, Mapping):
            raise DataError(
                f"{place}: not a JSON object but {type(value).__name__}",
                allowed="one object per problem",
                remedy="mend or remove it",
            )
        yield Row(data=value, place=place)


def _loads(text: bytes, name: str, line: int | None) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        place = f"{name}, line {line or error.lineno}"
        raise DataError(
            f"{place}: broken JSON at column {error.colno}: {error.msg}",
            allowed=_FILES,
            remedy="mend the line; a file that was cut short is best fetched again",
        ) from error


def _load_dataset() -> Callable[..., Iterable[Mapping[str, object]]]:
    try:
        import datasets
    except ImportError as error:
        raise MissingExtra("datasets", "hub") from error

    def load(*names: object, **options: object) -> Iterable[Mapping[str, object]]:
        rows: list[Mapping[str, object]] = datasets.load_dataset(*names, **options).to_list()
        return rows

    return load
