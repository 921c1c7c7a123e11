"""From resolved config values to an arm and a tracker. Knows no Hydra and no environment."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from parley.arm import Arm
from parley.components import affecting, build
from parley.errors import ConfigError
from parley.names import arm_label, choice, config_folder
from parley.redaction import redact
from parley.rehearsal import prompt_hash

PARTS = ("benchmark", "topology", "strategy", "channel", "model", "engine", "sampling")
GROUPS = (*PARTS, "tracker")
FILES = (".jsonl", ".json", ".csv", ".parquet")
"""What a local copy of a data set may be."""
_NOTED = ("arm", "experiment", "limits", "choices", "config_folders")
"""Keys that composing leaves behind."""


def available(group: str) -> list[str]:
    """The choices that ship for a group."""
    return sorted(path.stem for path in (config_folder() / group).glob("*.yaml"))


def study_keys() -> list[str]:
    """The study's own settings, beside the groups."""
    lines = (config_folder() / "study.yaml").read_text(encoding="utf-8").split("\n")
    keys = [line.split(":")[0] for line in lines if line[:1].isalpha() and ":" in line]
    return [key for key in keys if key not in ("defaults", "hydra")]


def build_arm(values: Mapping[str, Any]) -> Arm:
    """The arm that a resolved config describes. Raises ConfigError."""
    known = {*GROUPS, *study_keys(), *_NOTED}
    if unknown := [key for key in values if key not in known and not key.startswith("_")]:
        raise ConfigError(
            f"{unknown[0]}: a study has no such setting",
            allowed=", ".join((*GROUPS, *study_keys())),
            remedy="check the spelling; names of your own, for interpolation, start with _",
        )
    packages = _packages(values)
    nodes = {name: _node(values, name) for name in PARTS}
    nodes["benchmark"] = _with_local_copy(nodes["benchmark"], values)
    parts = {name: build(nodes[name], where=name, packages=packages) for name in PARTS}
    seed, shots, samples = (whole(values, name) for name in ("seed", "shots", "samples"))
    named = {name: choice(values, name, parts[name]) for name in PARTS}
    budget, per_problem = _budget(values, parts)
    granted = f"{budget}(oracle)" if per_problem else budget
    arm = Arm(
        study=_name(values, "study"),
        label=arm_label(values, named) + (f" budget={granted}" if budget else ""),
        choices={
            **named,
            "seed": seed,
            "shots": shots,
            "answer": str(values["answer"]),
            **({"budget": granted} if budget else {}),
        },
        identity={},
        config=redact({key: value for key, value in values.items() if key != "config_folders"}),
        benchmark=parts["benchmark"],
        topology=parts["topology"],
        strategy=parts["strategy"],
        channel=parts["channel"],
        model=parts["model"],
        engine=parts["engine"],
        sampling=parts["sampling"],
        seed=seed,
        shots=shots,
        samples=samples,
        metric=_metric(values, parts["benchmark"]),
        limit=None if values["limit"] is None else whole(values, "limit"),
        needs=tuple(
            part.donor or named["strategy"] for part in parts.values() if hasattr(part, "donor")
        ),
        budget=budget,
        budget_per_problem=per_problem,
        folder_name="" if values.get("folder") is None else _name(values, "folder"),
    )
    _check_schema(arm)
    identity = {
        **{name: affecting(nodes[name], parts[name]) for name in PARTS},
        "seed": seed,
        "shots": shots,
        "prompts": prompt_hash(arm),
        "code": _foreign_code([node["_target_"] for node in nodes.values()]),
    }
    return replace(arm, identity=redact(identity))


def _check_schema(arm: Arm) -> None:
    """Raises ConfigError for a schema that the model or the engine would not follow."""
    if not arm.strategy.schema:
        return
    strategy = arm.choices["strategy"]
    if arm.strategy.thinks and arm.model.reasoning == "prompted":
        raise ConfigError(
            f"strategy={strategy} with model={arm.choices['model']}: a schema leaves no room for "
            'the "Thought:" line in which this model reasons',
            allowed="structured output with models that think natively, or not at all",
            remedy="strategy.structured=false",
        )
    if not getattr(type(arm.engine), "takes_schema", True):
        raise ConfigError(
            f"strategy={strategy} with engine={arm.choices['engine']}: its server ignores schemas",
            allowed="structured output with engine=llamacpp, engine=vllm or engine=remote",
            remedy="strategy.structured=false",
        )


def build_benchmark(values: Mapping[str, Any]) -> Any:
    """The benchmark of a resolved config, to grade with."""
    node = _node(values, "benchmark")
    return build(node, where="benchmark", packages=_packages(values))


def build_tracker(values: Mapping[str, Any], *, environment: Mapping[str, str], home: Path) -> Any:
    """The study's tracker; `environment` and `home` tell whether a W&B key is at hand, and whether
    a sweep's agent started this process."""
    from parley.tracking import agent_sweep, key_source

    tracker = build(_node(values, "tracker"), where="tracker", packages=_packages(values))
    if hasattr(tracker, "has_key"):
        has_key = key_source(environment, home) is not None
        tracker = replace(tracker, has_key=has_key, sweep=agent_sweep(environment))
    return tracker


def _budget(values: Mapping[str, Any], parts: Mapping[str, Any]) -> tuple[str, bool]:
    """The arm whose tokens are granted, and whether problem by problem; "" where the topology
    spends no budget: in a sweep, those are the arms that it is measured by."""
    given, per_problem = values.get("budget"), values.get("budget_per_problem", False)
    if not isinstance(per_problem, bool) or (per_problem and given is None):
        raise ConfigError(
            f"budget_per_problem={per_problem!r} with budget={given!r}",
            allowed="true or false; true with budget=ARM only",
            remedy="budget_per_problem=false",
        )
    if given is None or not hasattr(parts["topology"], "budget_tokens"):
        return "", False
    if isinstance(given, int) and not isinstance(given, bool):
        raise ConfigError(
            f"budget={given} names no arm",
            allowed="the folder of an arm of this study, its strategy, or topology-strategy",
            remedy=f"topology.budget_tokens={given} sets a number of tokens",
        )
    if parts["topology"].budget_tokens is not None:
        raise ConfigError(
            f"budget={given} and topology.budget_tokens={parts['topology'].budget_tokens}",
            allowed="one of the two",
            remedy="topology.budget_tokens=null",
        )
    if hasattr(parts["channel"], "donor"):
        raise ConfigError(
            f"budget={given} with a channel that hears another arm",
            allowed="channel=identity: a single agent hears no messages",
            remedy="channel=identity",
        )
    return _name(values, "budget"), per_problem


def whole(values: Mapping[str, Any], name: str) -> int:
    """A whole number of the study's own settings."""
    value, least = values[name], 1 if name in ("samples", "limit", "concurrency") else 0
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(
            f"{name}={value!r}", allowed=f"a whole number from {least} on", remedy=f"{name}={least}"
        )
    return value


def share(values: Mapping[str, Any], name: str) -> float:
    """A share from 0 to 1 of the study's own settings."""
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(f"{name}={value!r}", allowed="a number from 0 to 1", remedy=f"{name}=0.5")
    return float(value)


def texts(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts of the study's own settings; a single one may stand without brackets."""
    given = values.get(name) or []
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        raise ConfigError(f"{name}={given!r}", allowed="a list", remedy=f"{name}=[first,second]")
    return tuple(found)


def _with_local_copy(node: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The benchmark's settings, reading its file in the study's folder of local copies."""
    if not values.get("data") or node.get("path", "") is not None:
        return node
    folder, name = Path(str(values["data"])).expanduser(), values.get("choices", {})["benchmark"]
    found = sorted(path for path in folder.glob(f"{name}.*") if path.suffix.lower() in FILES)
    if not found:
        raise ConfigError(
            f"data={values['data']}: no file of the benchmark {name} is in this folder",
            allowed=", ".join(f"{name}{suffix}" for suffix in FILES),
            remedy="put a copy there, name it with benchmark.path=FILE, or data=null for the hub",
        )
    return {**node, "path": str(found[0])}


def _metric(values: Mapping[str, Any], benchmark: Any) -> str:
    """The chosen headline metric, empty for the benchmark's own."""
    chosen = values.get("metric") or ""
    if chosen and chosen not in benchmark.metrics:
        raise ConfigError(
            f"metric={chosen!r} is no metric of this benchmark",
            allowed=f"null, {', '.join(benchmark.metrics)}",
            remedy="metric=null",
        )
    return str(chosen)


def _node(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    node = values.get(name)
    if not isinstance(node, Mapping):
        raise ConfigError(
            f"{name}={node!r} is not a choice of the group '{name}'",
            allowed=", ".join(available(name)),
            remedy=f"{name}=NAME",
        )
    return node


def _name(values: Mapping[str, Any], key: str) -> str:
    """The name of a folder."""
    name = values[key]
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.+=(),-]*", name):
        raise ConfigError(
            f"{key}={name!r}",
            allowed="letters, digits, . _ + = - ( ) ,",
            remedy=f"a name that looks like a number needs quotes: {key}='\"073\"'",
        )
    return name


def _packages(values: Mapping[str, Any]) -> tuple[str, ...]:
    packages = texts(values, "packages")
    if packages and str(Path.cwd()) not in sys.path:
        # A user's package lies where Parley is started; console scripts leave that folder out.
        sys.path.insert(0, str(Path.cwd()))
    return packages


def _foreign_code(targets: Sequence[str]) -> dict[str, str]:
    """Hashes of the source files of a user's own components: an edit makes a new arm."""
    found = {}
    for module in (target.rpartition(".")[0] for target in targets):
        spec = None if module.split(".")[0] == "parley" else importlib.util.find_spec(module)
        if spec and spec.origin:
            found[module] = hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()[:16]
    return found
