"""W&B from the command line, its agents too: what their offline files hold, read back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from command_line import FAST, Done, parley
from parley.building import available, study_keys
from parley.names import config_folder
from parley.store import find_arms
from wandb_files import Logged, read_run, runs_below

pytest.importorskip("wandb", reason="the extra 'wandb' is not installed")
pytestmark = pytest.mark.slow

SOURCE = Path(__file__).resolve().parents[2] / "src"
SWEEP = "sw33p1d0"
QUICK = (*FAST, "limit=2", "tracker.mode=offline")


def sweep() -> dict[str, Any]:
    text = (config_folder() / "wandb_sweep.yaml").read_text(encoding="utf-8")
    loaded = yaml.safe_load(text)
    assert isinstance(loaded, dict)
    return loaded


def rendered(values: Mapping[str, object]) -> list[str]:
    """The command line that wandb's agent makes for one set of values, by wandb's own code."""
    from wandb.sdk.launch.sweeps.utils import create_sweep_command, create_sweep_command_args

    loaded = sweep()
    parts = create_sweep_command_args({"args": {k: {"value": v} for k, v in values.items()}})
    parts |= {"env": ["/usr/bin/env"], "program": [loaded["program"]], "interpreter": ["python"]}
    words: list[str] = []
    for word in create_sweep_command(list(loaded["command"])):
        words += parts[word[2:-1]] if word.startswith("${") else [word]
    return words


def agent(at: Path, run: str, **values: object) -> Done:
    """One run of an agent: its variables, its file of parameters, and its command line."""
    lines = [f"{name}:\n  value: {value}\n" for name, value in values.items()]
    parameters = at / f"config-{run}.yaml"
    parameters.write_text("wandb_version: 1\n\n" + "".join(lines), encoding="utf-8")
    env, program, *arguments = rendered(values)
    assert (env, program) == ("/usr/bin/env", "parley")
    variables = {
        "WANDB_SWEEP_ID": SWEEP,
        "WANDB_RUN_ID": run,
        "WANDB_SWEEP_PARAM_PATH": str(parameters),
        "WANDB_ENTITY": "team",
        "WANDB_PROJECT": "swept",
        "WANDB_DIR": str(at),
    }
    return run_parley(*arguments, *QUICK, at=at, env=variables)


def run_parley(*arguments: str, at: Path, env: Mapping[str, str] | None = None) -> Done:
    places = {"PYTHONPATH": str(SOURCE), "HOME": str(at)}
    return parley(*arguments, at=at, env={**places, **(env or {})})


def tracking(at: Path, strategy: str) -> dict[str, Any]:
    (folder,) = (arm for arm in find_arms(at / "outputs" / "strategies") if strategy in arm.name)
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    found: dict[str, Any] = manifest["tracking"]
    return {**found, "arm": folder.name}


def sent(at: Path) -> list[Logged]:
    return [read_run(folder) for folder in runs_below(at)]


def test_the_parameters_are_overrides_that_exist() -> None:
    loaded = sweep()
    assert (loaded["method"], loaded["metric"]) == ("grid", {"name": "score", "goal": "maximize"})
    assert set(loaded["parameters"]["strategy"]["values"]) == set(available("strategy"))
    assert set(loaded["parameters"]) <= {"strategy", *study_keys()}
    words = rendered({"strategy": "pact", "seed": 42})
    assert words[2:] == ["run", "tracker=wandb", "study=strategies", "strategy=pact", "seed=42"]


def test_a_run_of_an_agent_is_the_run_that_the_agent_waits_for(tmp_path: Path) -> None:
    done = agent(tmp_path, "agentrun1", strategy="pact", seed=42)
    assert done.code == 0, done.said
    (logged,) = sent(tmp_path)
    assert (logged.run.run_id, logged.run.sweep_id) == ("agentrun1", SWEEP)
    assert (logged.run.entity, logged.run.project) == ("team", "swept")
    assert (logged.run.run_group, logged.run.job_type) == ("strategies", "arm")
    assert (logged.config["strategy"], logged.config["seed"]) == ("pact", 42)
    assert {"score", "tokens/total", "truncated"} <= set(logged.summary)
    found = tracking(tmp_path, "pact")
    assert found["runs"][found["arm"]]["id"] == "agentrun1"
    assert found["notes"] == []


def test_an_arm_that_is_complete_is_told_to_the_next_agent(tmp_path: Path) -> None:
    """The same values in another sweep: nothing is computed, the new run has all numbers."""
    for run in ("agentrun1", "agentrun2"):
        done = agent(tmp_path, run, strategy="pact", seed=42)
        assert done.code == 0, done.said
    first, second = sent(tmp_path)
    assert (first.run.run_id, second.run.run_id) == ("agentrun1", "agentrun2")
    assert [row["episode"] for row in second.episodes] == [1, 2]
    charted = ("score", "tokens/total", "n", "recorded")
    assert [second.summary[name] for name in charted] == [first.summary[name] for name in charted]
    assert second.exit_code == 0


def test_sent_again_a_run_stays_in_its_sweep_and_the_study_comes_to_it(tmp_path: Path) -> None:
    assert agent(tmp_path, "agentrun1", strategy="pact", seed=42).code == 0
    settings = ("tracker.mode=offline", "tracker.entity=team", "tracker.project=swept")
    done = run_parley("upload", "outputs/strategies", *settings, at=tmp_path)
    assert done.code == 0, done.said
    _, arm, study = sorted(sent(tmp_path), key=lambda run: run.run.job_type == "study")
    assert (arm.run.run_id, arm.run.sweep_id) == ("agentrun1", SWEEP)
    assert (study.run.job_type, study.run.sweep_id) == ("study", "")
    assert study.summary["study/arms"] == 1


def test_two_arms_in_one_process_of_an_agent_do_not_share_its_run(tmp_path: Path) -> None:
    both = rendered({"strategy": "pact,full"})[2:]
    variables = {"WANDB_SWEEP_ID": SWEEP, "WANDB_RUN_ID": "agentrun1", "WANDB_DIR": str(tmp_path)}
    done = run_parley(*both, "-m", *QUICK, at=tmp_path, env=variables)
    assert done.code == 0, done.said
    (logged,) = sent(tmp_path)
    assert logged.run.run_id == "agentrun1"
    assert [row["episode"] for row in logged.episodes] == [1, 2]
    assert "an agent's run holds one arm" in done.err
    assert "parley upload" in done.err


def test_without_an_agent_the_same_command_is_no_part_of_a_sweep(tmp_path: Path) -> None:
    words = rendered({"strategy": "pact"})[2:]
    done = run_parley(*words, *QUICK, at=tmp_path)
    assert done.code == 0, done.said
    runs = {run.run.job_type: run.run for run in sent(tmp_path)}
    assert set(runs) == {"arm", "study"}
    assert {run.sweep_id for run in runs.values()} == {""}


def test_a_tracker_that_fails_is_one_warning_and_the_study_is_complete(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("taken", encoding="utf-8")
    words = rendered({"strategy": "pact"})[2:]
    done = run_parley(*words, *QUICK, f"tracker.folder={tmp_path / 'file'}", at=tmp_path)
    assert done.code == 0, done.said
    assert done.err.count("W&B: ") == 1
    assert "W&B: FileExistsError" in done.err
    assert "parley upload" in done.err
    assert tracking(tmp_path, "pact")["status"].startswith("disabled: FileExistsError")
    sent_later = run_parley("upload", "outputs/strategies", "tracker.mode=offline", at=tmp_path)
    assert sent_later.code == 0, sent_later.said
    assert {run.run.job_type for run in sent(tmp_path)} == {"arm", "study"}


def test_a_resumed_arm_is_the_same_run_and_the_study_too(tmp_path: Path) -> None:
    words = rendered({"strategy": "pact"})[2:]
    for limit in (2, 4):
        done = run_parley(*words, *QUICK, f"limit={limit}", at=tmp_path)
        assert done.code == 0, done.said
    runs: dict[str, list[Logged]] = {}
    for run in sent(tmp_path):
        runs.setdefault(run.run.job_type, []).append(run)
    for kind in ("arm", "study"):
        first, second = runs[kind]
        assert first.run.run_id == second.run.run_id, kind
        assert second.run.resume, kind
    assert [row["episode"] for row in runs["arm"][1].episodes] == [3, 4]
    assert [run.summary["n"] for run in runs["arm"]] == [2, 4]
