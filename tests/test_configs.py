"""Every YAML that ships composes and builds, and says exactly what its class can be told."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from pathlib import Path
from typing import Any

import pytest

from parley import config
from parley.arm import Arm
from parley.building import GROUPS, PARTS, available, build_arm, build_tracker
from parley.components import find
from parley.names import config_folder

FOLDER = config_folder()
CHOICES = [(group, name) for group in GROUPS for name in available(group)]
PRESETS = [(group, name) for group in ("arm", "experiment", "limits") for name in available(group)]


def composed(*overrides: str) -> dict[str, Any]:
    return config.resolve(config.compose_one(overrides))


@pytest.mark.parametrize(("group", "name"), CHOICES)
def test_every_choice_builds_and_names_every_setting(group: str, name: str) -> None:
    values = composed(f"{group}={name}")
    assert values["choices"][group] == name
    if group == "tracker":
        built = build_tracker(values, environment={}, home=Path("/nonexistent"))
    else:
        arm = build_arm(values)
        assert isinstance(arm, Arm)
        built = getattr(arm, group)
    node = values[group]
    kind = find(node.pop("_target_"), where=group)
    assert type(built) is kind
    # So that a user sees in the YAML, and can override without `+`, all that there is.
    assert set(node) == {field.name for field in dataclasses.fields(kind)}


@pytest.mark.parametrize(("group", "name"), PRESETS)
def test_every_preset_builds(group: str, name: str) -> None:
    assert isinstance(build_arm(composed(f"{group}={name}")), Arm)


@pytest.mark.parametrize("name", available("experiment"))
def test_every_experiment_takes_limits(name: str) -> None:
    usual = build_arm(composed(f"experiment={name}")).sampling.max_tokens
    assert build_arm(composed(f"experiment={name}", "limits=model_card")).sampling.max_tokens in (
        32_768,
        38_912,
    )
    own = build_arm(composed(f"experiment={name}", "limits=model_card", "sampling.max_tokens=7"))
    assert own.sampling.max_tokens == 7 < usual


@pytest.mark.parametrize("name", available("benchmark"))
def test_data_from_the_hub_is_pinned(name: str) -> None:
    node = composed(f"benchmark={name}")["benchmark"]
    assert "hub" not in node or len(node["revision"]) == 40


def test_every_folder_of_configs_is_a_group() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    assert folders - {"hydra", "arm", "experiment", "limits"} == set(GROUPS)
    for group in GROUPS:
        assert available(group), group


def test_no_yaml_lies_where_nobody_looks() -> None:
    known = {FOLDER / group / f"{name}.yaml" for group, name in (*CHOICES, *PRESETS)}
    known |= {
        FOLDER / "study.yaml",
        FOLDER / "wandb_sweep.yaml",
        *(FOLDER / "hydra").rglob("*.yaml"),
    }
    assert set(FOLDER.rglob("*")) - known - {p for p in FOLDER.rglob("*") if p.is_dir()} == set()


def test_the_default_study_is_the_packaged_model_on_invented_questions() -> None:
    arm = build_arm(composed())
    assert arm.choices["benchmark"] == "fictional"
    assert arm.choices["engine"] == "llamacpp"
    assert (arm.choices["strategy"], arm.choices["model"]) == ("full", "smollm2-135m")
    assert (arm.shots, arm.limit, arm.samples, arm.seed) == (3, 20, 1, 42)


def test_a_model_brings_its_sampling_and_a_sampling_goes_before_it() -> None:
    own = build_arm(composed("model=qwen3-8b")).sampling
    assert (own.temperature, own.top_p, own.top_k, own.max_tokens) == (0.6, 0.95, 20, 4096)
    greedy = build_arm(composed("model=qwen3-8b", "sampling=greedy")).sampling
    assert (greedy.temperature, greedy.max_tokens) == (0.0, 4096)


def targets() -> list[type[Any]]:
    """The class of every choice, once."""
    found: dict[str, type[Any]] = {}
    for group, name in CHOICES:
        text = (FOLDER / group / f"{name}.yaml").read_text(encoding="utf-8")
        for line in text.split("\n"):
            if line.lstrip().startswith("_target_: "):
                path = line.split(": ")[1].strip()
                found[path] = find(path, where=group)
    return list(found.values())


@pytest.mark.parametrize("kind", targets(), ids=lambda kind: str(kind.__name__))
def test_every_setting_has_a_line_under_it(kind: type[Any]) -> None:
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    silent = []
    for statement, following in zip(body.body, [*body.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if statement.target.id not in {field.name for field in dataclasses.fields(kind)}:
            continue  # class variables, and what is passed in
        said = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if not said:
            silent.append(statement.target.id)
    assert silent == []


@pytest.mark.parametrize("kind", targets(), ids=lambda kind: str(kind.__name__))
def test_what_is_called_operational_is_a_setting(kind: type[Any]) -> None:
    names = {field.name for field in dataclasses.fields(kind)}
    assert getattr(kind, "operational", frozenset()) <= names


def test_every_part_of_an_arm_is_a_group() -> None:
    fields = {field.name for field in dataclasses.fields(Arm)}
    assert set(PARTS) <= fields


def test_a_servers_own_arguments_need_no_plus() -> None:
    words = ("engine.args.tensor_parallel_size=4", "engine.environment={A_B:'1'}")
    found = composed("engine=vllm", *words, "model.template.think_budget=9")
    assert found["engine"]["args"] == {"tensor_parallel_size": 4}
    assert found["engine"]["environment"] == {"A_B": "1"}
    assert found["model"]["template"] == {"think_budget": 9}


def test_an_experiment_sweeps_from_python_too_and_what_is_given_goes_before_it() -> None:
    fields = [job[0] for job in config.swept(["experiment=table3"])]
    assert fields[0] == "strategy.fields=[Action,State,Result]"
    assert len(fields) == len(set(fields)) == 5
    chosen = config.swept(["experiment=table1", "arm=pact,debate", "limit=2"])
    assert [job[:2] for job in chosen] == [
        [f"benchmark={benchmark}", f"arm={arm}"]
        for benchmark in ("hotpotqa", "two_wiki")
        for arm in ("pact", "debate")
    ]
    assert config.swept(["limit=2", "strategy=full"]) == [["limit=2", "strategy=full"]]
