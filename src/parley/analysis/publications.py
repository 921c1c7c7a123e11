"""Published figures, from the data files in `analysis/published`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from parley.errors import ConfigError

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One row of a published table: what was run, and the figures reported of it.

    Empty texts are "any" or "not known". `settings` must equal those of an arm (keys as in a
    manifest's identity, such as `strategy.fields`) for the two to be set side by side;
    `conditions` need not.
    """

    table: str
    source: str
    method: str
    values: Values
    """By metric; scores in percent."""
    confidence: Mapping[str, str]
    """A letter by metric; the data file says what it means."""
    units: Mapping[str, str]
    benchmark: str = ""
    model: str = ""
    topology: str = ""
    strategy: str = ""
    channel: str = "identity"
    settings: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)
    setting: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A data file: its rows, and what its letters of confidence mean."""

    rows: tuple[Published, ...]
    confidence: Mapping[str, str]


def shipped() -> list[str]:
    """Names of the data files that come with Parley."""
    folder = files("parley").joinpath("analysis", "published")
    return sorted(
        item.name.removesuffix(".yaml") for item in folder.iterdir() if item.name.endswith(".yaml")
    )


def publication(name: str) -> Publication:
    """The published figures called `name`, or those in a YAML file of this path and the same
    shape. Raises ConfigError."""
    import yaml

    try:
        if name in shipped():
            file = files("parley").joinpath("analysis", "published", f"{name}.yaml")
            text = file.read_text(encoding="utf-8")
        else:
            text = Path(name).read_text(encoding="utf-8")
        read = yaml.safe_load(text)
        return Publication(rows=tuple(_rows(read)), confidence=dict(read["confidence"]))
    except OSError as error:
        raise _unusable(name, "there are no such published figures") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _unusable(name, f"not readable as YAML: {error}") from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _unusable(name, f"not in the shape of published figures ({error})") from error


def _rows(read: Mapping[str, Any]) -> Iterator[Published]:
    units = {str(name): str(unit) for name, unit in read["units"].items()}
    known = {item.name for item in fields(Published)}
    for table in read["tables"]:
        groups = table["groups"] if "groups" in table else [{"rows": table["rows"]}]
        for group in groups:
            shared = _merged(table.get("shared") or {}, group.get("shared") or {})
            for row in group["rows"]:
                entry = _merged(shared, row)
                values = {str(name): float(value) for name, value in entry["values"].items()}
                given = entry.pop("confidence", table["confidence"])
                letters = given if isinstance(given, dict) else dict.fromkeys(values, given)
                if unknown := {*entry} - known:
                    raise ValueError(f"unknown key {min(unknown)!r}")
                limit = table.get("limits", {}).get(entry.get("benchmark"))
                limits = {} if limit is None else {"sampling.max_tokens": limit}
                yield Published(
                    **{name: value for name, value in entry.items() if value is not None}
                    | {
                        "table": table["name"],
                        "source": table["source"],
                        "setting": entry.get("setting") or table.get("setting", ""),
                        "values": values,
                        "confidence": {name: letters[name] for name in values},
                        "units": {name: units[name] for name in values},
                        "conditions": {**limits, **entry.get("conditions", {})},
                    }
                )


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both, the second before the first; mappings in them are merged as well."""
    return {
        **one,
        **{
            name: {**one[name], **value}
            if isinstance(value, dict) and isinstance(one.get(name), dict)
            else value
            for name, value in other.items()
        },
    }


def _unusable(name: str, what: str) -> ConfigError:
    return ConfigError(
        f"--against {name}: {what}",
        allowed=f"{', '.join(shipped())}, or a YAML file of the same shape",
        remedy=f"--against {shipped()[0]}",
    )
