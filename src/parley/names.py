"""Readable names of an arm and its parts: the YAML that was chosen, and what differs from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from parley.components import plain


def config_folder() -> Path:
    """The YAML that ships with Parley: inside the wheel, or beside `src` in a checkout."""
    packaged = Path(str(files("parley"))) / "configs"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[2] / "configs"


def choice(values: Mapping[str, Any], name: str, component: Any) -> str:
    """A part's readable name: the chosen YAML, and the settings that differ from it.

    `conclusion` with `strategy.portion=final` is `conclusion(portion=final)`. Settings that the
    study shares between parts, such as `answer`, have names of their own and are left out.
    """
    label = getattr(component, "label", None)
    yaml = values.get("choices", {}).get(name)
    chosen = str(label or yaml or type(component).__name__.lower())
    operational: frozenset[str] = getattr(type(component), "operational", frozenset())
    changed = [
        f"{key}={_short(plain(getattr(component, key)))}"
        for key, before in _written(values, name).items()
        if key in values[name] and key not in {"_target_", "label", *operational}
        if plain(getattr(component, key)) != before and not str(before).startswith("${")
        if _short(plain(getattr(component, key))) != chosen
    ]
    return f"{chosen}({','.join(changed)})" if changed else chosen


def arm_label(values: Mapping[str, Any], named: Mapping[str, str]) -> str:
    """The arm's short name: that of the YAML in the group `arm` where topology, strategy and
    channel are those it chose, else the strategy's. A setting changed in addition stands behind."""
    chosen = values.get("choices", {})
    made = _yaml(values, "arm", chosen.get("arm"))
    if not made:
        return named["strategy"]
    changed = []
    for key, usual in (("topology", None), ("strategy", None), ("channel", "identity")):
        given = [
            entry[f"override /{key}"]
            for entry in made.get("defaults", ())
            if f"override /{key}" in entry
        ]
        if chosen.get(key) not in (given or [usual]):
            return named["strategy"]
        own = made.get(key) or {}
        others = named[key].partition("(")[2].rstrip(")").split(",")
        changed += [one for one in others if one and one.partition("=")[0] not in own]
        now = {one: plain(values[key].get(one)) for one in own}
        changed += [f"{one}={_short(now[one])}" for one in own if now[one] != own[one]]
    return f"{chosen['arm']}({','.join(changed)})" if changed else str(chosen["arm"])


def _yaml(values: Mapping[str, Any], group: str, name: object) -> dict[str, Any]:
    """The YAML of a choice, a user's own before that which ships; empty without one."""
    import yaml

    for folder in (*values.get("config_folders", ()), config_folder()):
        path = Path(folder) / group / f"{name}.yaml"
        if path.is_file():
            return yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    return {}


def _written(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The settings as the YAML chosen for a part gives them; a model's also give the sampling."""
    found: dict[str, Any] = {}
    for group in ("model", "sampling") if name == "sampling" else (name,):
        read = _yaml(values, group, values.get("choices", {}).get(group))
        found.update(read.get(name) or (read if group == name else {}))
    return found


def _short(value: Any) -> str:
    """A value in a folder's name, as it is written on the command line."""
    if isinstance(value, list):
        return "+".join(map(_short, value))
    if isinstance(value, dict):
        return "+".join(f"{key}_{_short(one)}" for key, one in value.items())[:40]
    text = (
        str(value).lower() if isinstance(value, bool) else "null" if value is None else str(value)
    )
    if text.startswith(("/", "~", ".")):  # where a file lies on this machine names nothing
        text = Path(text).name
    return re.sub(r"[^\w.+-]+", "_", text)[:40]
