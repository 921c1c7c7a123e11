"""Building components from config nodes: a class by import path, its fields checked and typed.

The frozen dataclass's fields are the YAML's keys, so a typo, a wrong type and a wrong value are
each told with what is allowed. Only `parley` and the packages a user lists may be named.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from parley.errors import ConfigError, ParleyError
from parley.redaction import redact


def build(node: Mapping[str, Any], *, where: str, packages: Sequence[str] = ()) -> Any:
    """The object that a node with `_target_` describes; `where` names the node in errors."""
    values = dict(node)
    target = values.pop("_target_", None)
    if not isinstance(target, str):
        raise ConfigError(
            f"{where} has no _target_",
            allowed="the import path of a class, such as parley.strategies.full.Full",
            remedy=f"add `_target_:` to the YAML of {where}",
        )
    kind = find(target, where=where, packages=packages)
    names = [field.name for field in dataclasses.fields(kind)]
    unknown = [key for key in values if key not in names]
    if unknown:
        raise ConfigError(
            f"{where}.{unknown[0]}: {kind.__name__} has no such setting",
            allowed=", ".join(names) or "no settings",
            remedy=f"check the spelling of {where}.{unknown[0]}",
        )
    try:
        built = _adapter(kind).validate_python(values)
    except ValidationError as error:
        raise _refused(kind, where, error) from None
    except ParleyError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: {error}", allowed=", ".join(names)) from error
    for name, value in values.items():
        _check_number(f"{where}.{name}", value, getattr(built, name, None))
    return built


def find(target: str, *, where: str, packages: Sequence[str] = ()) -> Any:
    """The dataclass at an import path inside `parley` or a listed package."""
    module, _, name = target.rpartition(".")
    allowed = ("parley", *packages)
    if not module or module.split(".")[0] not in allowed:
        raise ConfigError(
            f"{where}._target_: {target!r} is not in an allowed package",
            allowed=", ".join(allowed),
            remedy=f"packages=[{target.split('.')[0]}] allows it",
        )
    try:
        found = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # whatever a user's module does when imported
        raise ConfigError(
            f"{where}._target_: cannot import {target!r} ({type(error).__name__}: {error})",
            allowed="an importable class; the current folder is on the path",
            remedy="check the path, and that the file lies where Parley is started",
        ) from error
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise ConfigError(
            f"{where}._target_: {target!r} is not a dataclass",
            allowed="a frozen dataclass, whose fields are the YAML's keys",
        )
    return found


def affecting(node: Mapping[str, Any], component: Any) -> dict[str, Any]:
    """The node's settings without those that its class calls `operational`: ports, time limits
    and the like, which do not change what a model says."""
    operational: frozenset[str] = getattr(type(component), "operational", frozenset())
    names = {field.name for field in dataclasses.fields(component)} - operational
    kept = {name: plain(getattr(component, name)) for name in sorted(names)}
    return {"_target_": node["_target_"], **kept}


def plain(value: Any) -> Any:
    """Tuples as lists and mappings as dicts, all the way down, as they are after JSON."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, frozenset, set)):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    return value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _refused(kind: Any, where: str, error: ValidationError) -> ConfigError:
    """What is wrong with the first setting that does not fit, its value shown unless secret."""
    first = error.errors()[0]
    key = ".".join([where, *(str(part) for part in first["loc"])])
    given = redact({key: first["input"]})[key]
    shown = "" if isinstance(given, dict) or first["type"] == "missing" else f" (got {given!r})"
    quoted = "a text that looks like a number needs quotes: key='\"073\"'"
    return ConfigError(
        f"{key}: {first['msg'].removeprefix('Value error, ')}{shown}",
        allowed=_described(kind, first["loc"]),
        remedy=quoted if "string" in first["type"] else f"set {key} to an allowed value",
    )


def _check_number(key: str, given: Any, taken: Any) -> None:
    """A truth value is no number, and what is no finite number is none either."""
    if isinstance(given, bool) and isinstance(taken, int | float) and not isinstance(taken, bool):
        raise ConfigError(f"{key}: a number is needed (got {given})", remedy=f"set {key}")
    if isinstance(taken, float) and not math.isfinite(taken):
        raise ConfigError(f"{key}: a finite number is needed (got {given})", remedy=f"set {key}")


def _described(kind: Any, location: Sequence[Any]) -> str:
    for field in dataclasses.fields(kind):
        if location and field.name == location[0]:
            return f"{field.name}: {field.type}"
    return ", ".join(field.name for field in dataclasses.fields(kind))
