"""Arms with another arm's budget: completion tokens as that arm used them, by its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from parley.arm import Arm
from parley.donors import Choices, Identity, donor_folder, is_heard, pinned, shared
from parley.errors import ConfigError
from parley.store import latest_rows
from parley.types import Problem

_OWN = frozenset({"topology", "strategy", "prompts", "code", "shots"})
"""What an arm need not share with the one whose budget it gets. Worked examples belong to a
topology; of the sampling, max_tokens is what a budget is about."""

Grants = Mapping[str, int]
"""Completion tokens by problem."""


def with_budget(arm: Arm, study: Path, problems: Sequence[Problem]) -> tuple[Arm, Grants]:
    """The arm with its budget, identified by it too, and what each of its problems is granted if
    that is not the same for all.

    `study` is the folder in which the donor is looked for. Raises ConfigError or StoreError: a
    donor that is missing, not finished, or lacks a problem is never guessed.
    """
    if not arm.budget:
        return arm, {}
    folder = donor_folder(
        study,
        lambda folder, one: (
            arm.budget in {folder.name, *names(one.choices, preset_of(folder))}
            and may_grant(arm, one.choices, one.identity)
        ),
        wanted=f"the arm '{arm.budget}' of study {arm.study}, whose tokens budget= grants,",
        allowed="an arm that differs in topology, strategy, shots and sampling.max_tokens only, "
        "named by its strategy, topology-strategy, arm= or folder",
        remedy="run it in this study first, or in the same sweep; budget=FOLDER chooses among "
        "several",
    )
    used = spent(folder)
    donor: dict[str, Any] = {"arm": folder.name, "completion": pinned(sorted(used.items()))}
    if arm.budget_per_problem:
        return replace(arm, identity={**arm.identity, "donor": {**donor, "per_problem": True}}), (
            _each(folder, used, problems)
        )
    tokens = at_least_one(fmean(used.values()))
    topology: Any = arm.topology
    return replace(
        arm,
        topology=replace(topology, budget_tokens=tokens),
        identity={**arm.identity, "donor": {**donor, "tokens": tokens}},
    ), {}


def donors_among(arm: Arm, others: Sequence[Arm]) -> list[Arm]:
    """The arms that would be this one's donor if they were recorded, data included."""
    found = []
    for other in others:
        if other.waits or other.study != arm.study:
            continue
        called = {other.name, *names(other.choices, preset(other.config))}
        grants = arm.budget in called and may_grant(arm, other.choices, other.identity)
        heard = bool(arm.needs) and (
            other.name in arm.needs or is_heard(arm, other.choices, other.identity)
        )
        if grants or heard:
            found.append(other)
    return found


def names(choices: Choices, preset: str = "") -> set[str]:
    """What an arm may be called where one is named, beside its folder."""
    strategy = str(choices.get("strategy"))
    return {strategy, f"{choices.get('topology')}-{strategy}", *filter(None, [preset])}


def may_grant(arm: Arm, choices: Choices, identity: Identity) -> bool:
    """Whether an arm with these facts may be the measure of this one's budget."""
    return "budget" not in choices and _comparable(arm.identity) == _comparable(identity)


def spent(folder: Path) -> dict[str, float]:
    """Completion tokens of each problem, its samples averaged first. Failed episodes count with
    what they had spent, as in a report."""
    used: dict[str, list[int]] = {}
    for row in latest_rows(folder):
        calls = (call for turn in row["turns"] for call in turn["calls"])
        used.setdefault(row["problem"], []).append(sum(c["usage"]["completion"] for c in calls))
    return {problem: fmean(tokens) for problem, tokens in used.items()}


def at_least_one(tokens: float) -> int:
    """A grant in whole tokens; even where a donor used none, a call cannot be of none."""
    return max(1, round(tokens))


def _each(folder: Path, used: Mapping[str, float], problems: Sequence[Problem]) -> Grants:
    lacking = [problem.id for problem in problems if problem.id not in used]
    if lacking:
        raise ConfigError(
            f"budget_per_problem=true: {folder.name} has no record of {len(lacking)} of "
            f"{len(problems)} problems, such as {lacking[0]}",
            allowed="problems that the donor has solved",
            remedy=f"limit={len(problems) - len(lacking)}, or run the donor with a larger limit",
        )
    return {problem.id: at_least_one(used[problem.id]) for problem in problems}


def _comparable(identity: Identity) -> bytes:
    sampling = {**identity.get("sampling", {}), "max_tokens": None}
    return shared({**identity, "sampling": sampling}, _OWN)


def preset_of(folder: Path) -> str:
    """The YAML of the group `arm` that a recorded arm was made from, if it was."""
    path = folder / "config.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return preset(config or {})


def preset(config: Mapping[str, Any]) -> str:
    """The same, of an arm's own config."""
    return str((config.get("choices") or {}).get("arm") or "")
