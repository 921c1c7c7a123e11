"""The columns of a multi-hop QA row, read from any of the shapes in which they are published.

- hub: `id`, `context` {title: [...], sentences: [[...]]}, `supporting_facts` {title, sent_id};
- original: `_id`, `context` [[title, [sentence]]], `supporting_facts` [[title, number]];
- either column as a list of objects, or as a string that holds its JSON (one hub copy of 2Wiki).

Every function raises ValueError that says what is wrong with the row; the caller knows where.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson

SHAPES = (
    "id (or _id), question, answer, context, supporting_facts; hub shape: context {title, "
    "sentences}, supporting_facts {title, sent_id}; original shape: context [[title, [sentence]]], "
    "supporting_facts [[title, number]]"
)


def identity(row: Mapping[str, object]) -> str:
    """`id` or `_id` as a string; a whole number is written out."""
    value = next((row[key] for key in ("id", "_id") if row.get(key) is not None), None)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError("'id' (or '_id') is missing or empty")
    return value


def words(row: Mapping[str, object], key: str) -> str:
    """A string that is not blank."""
    value = row.get(key)
    if value is None:
        raise ValueError(f"'{key}' is missing")
    if not isinstance(value, str):
        raise ValueError(f"'{key}' is {type(value).__name__}, not a string")
    if not value.strip():
        raise ValueError(f"'{key}' is empty")
    return value


def contexts(row: Mapping[str, object]) -> list[tuple[str, list[str]]]:
    """(title, sentences) of each paragraph, in the order of the row."""
    found = []
    for title, lines in _pairs(row, "context", ("title", "sentences")):
        if not isinstance(title, str):
            raise ValueError("'context' has a title that is not a string")
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise ValueError(f"'context' has no list of sentences for '{title}'")
        found.append((title, lines))
    return found


def pointers(row: Mapping[str, object]) -> list[tuple[str, int]]:
    """(title, number of the sentence from 0) of each supporting fact."""
    found = []
    for title, number in _pairs(row, "supporting_facts", ("title", "sent_id")):
        if not isinstance(title, str) or not isinstance(number, int) or isinstance(number, bool):
            raise ValueError("'supporting_facts' has an item that is not a title and a number")
        found.append((title, number))
    return found


def _pairs(
    row: Mapping[str, object], column: str, keys: tuple[str, str]
) -> list[tuple[object, object]]:
    if column not in row:
        raise ValueError(f"'{column}' is missing")
    value = row[column]
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError as error:
            raise ValueError(f"'{column}' is a string that is not JSON") from error
    if value is None:
        return []
    if isinstance(value, Mapping):
        left, right = value.get(keys[0]), value.get(keys[1])
        if not (isinstance(left, list) and isinstance(right, list) and len(left) == len(right)):
            raise ValueError(f"'{column}' is not two lists {keys[0]}, {keys[1]} of one length")
        return list(zip(left, right, strict=True))
    if not isinstance(value, list):
        raise ValueError(f"'{column}' is {type(value).__name__}, not a list or an object")
    return [_pair(item, column, keys) for item in value]


def _pair(item: object, column: str, keys: tuple[str, str]) -> tuple[object, object]:
    if isinstance(item, Mapping):
        return item.get(keys[0]), item.get(keys[1])
    if isinstance(item, list) and len(item) == 2:
        return item[0], item[1]
    raise ValueError(f"'{column}' holds an item that is not a pair of {keys[0]} and {keys[1]}")
