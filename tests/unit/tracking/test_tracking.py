"""The tracker without W&B: what it decides, and that it never stands in a study's way."""

from __future__ import annotations

import dataclasses
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from parley.building import build_tracker
from parley.protocols import Tracker
from parley.tracking import NoTracker, WandbTracker, agent_sweep, key_source, warning
from tracking_cases import episode, manifest, write_arm

ARM = "arm-full"
STARTED = manifest(ARM, "full")


def test_no_tracker_does_nothing() -> None:
    tracker: Tracker = NoTracker()
    tracker.start(ARM, {})
    tracker.log(episode(ARM, "p0", 1.0))
    tracker.finish(ARM, "nowhere")
    NoTracker().close()
    assert NoTracker().state["tracker"] == "none"


def test_a_wandb_tracker_is_a_tracker() -> None:
    tracker: Tracker = WandbTracker()
    assert isinstance(tracker, WandbTracker)


@pytest.mark.parametrize(
    ("mode", "has_key", "status"),
    [
        ("auto", True, "online"),
        ("auto", False, "offline"),
        ("online", True, "online"),
        ("online", False, "offline"),
        ("offline", True, "offline"),
        ("disabled", True, "disabled: by tracker.mode"),
    ],
)
def test_the_mode_is_decided_before_anything_starts(mode: Any, has_key: bool, status: str) -> None:
    state = WandbTracker(mode=mode, has_key=has_key).state
    assert state["status"] == status
    assert bool(state["notes"]) == (mode == "online" and not has_key)


@pytest.mark.parametrize("wrong", [{"mode": "live"}, {"capacity": 0}, {"init_timeout_s": 0}])
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="tracker"):
        WandbTracker(**wrong)


def test_settings_come_from_yaml_and_the_key_from_the_caller(tmp_path: Path) -> None:
    node = {"_target_": "parley.tracking.WandbTracker", "project": "pilot", "mode": "auto"}
    tracker = build_tracker({"tracker": node}, environment={"WANDB_API_KEY": "k"}, home=tmp_path)
    assert (tracker.state["project"], tracker.state["status"]) == ("pilot", "online")
    fields = {field.name for field in dataclasses.fields(WandbTracker)}
    assert fields == WandbTracker.operational


@pytest.mark.parametrize("name", ["none", "wandb"])
def test_the_shipped_settings_make_a_tracker(name: str) -> None:
    from omegaconf import OmegaConf

    path = Path(__file__).resolve().parents[3] / "configs" / "tracker" / f"{name}.yaml"
    node = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    assert isinstance(node, dict)
    given = {"project": "parley", "entity": None, "mode": "auto", "folder": None}
    values = {str(key): given.get(str(key), value) for key, value in node.items()}
    tracker = build_tracker({"tracker": values}, environment={}, home=Path("nowhere"))
    kind = WandbTracker if name == "wandb" else NoTracker
    assert isinstance(tracker, kind)
    if name == "wandb":
        assert set(values) == {"_target_", *WandbTracker.operational}
        assert dataclasses.asdict(tracker) == dataclasses.asdict(WandbTracker())


def test_disabled_does_not_even_import() -> None:
    imported: list[int] = []
    tracker = WandbTracker(mode="disabled", importer=lambda: imported.append(1))
    tracker.start(ARM, STARTED)
    tracker.log(episode(ARM, "p0", 1.0))
    tracker.close()
    assert not imported


def test_a_missing_package_disables_tracking_with_its_remedy(tmp_path: Path) -> None:
    def importer() -> Any:
        raise ModuleNotFoundError("No module named 'wandb'")

    tracker = WandbTracker(importer=importer)
    tracker.start(ARM, STARTED, str(tmp_path))
    tracker.log(episode(ARM, "p0", 1.0))
    tracker.finish(ARM, str(tmp_path))
    tracker.close()
    assert tracker.state["status"] == (
        "disabled: No module named 'wandb'; pip install 'parley-harness[wandb]'"
    )
    assert not tracker.state["runs"]


def test_a_failure_is_told_in_one_line_without_secrets() -> None:
    def importer() -> Any:
        raise OSError("proxy http://me:hunter2@host refused\nlong story")

    tracker = WandbTracker(importer=importer)
    tracker.start(ARM, STARTED)
    tracker.close()
    assert tracker.state["status"] == "disabled: OSError: proxy http://[redacted]@host refused"


def test_wandb_ending_the_interpreter_does_not_end_the_study() -> None:
    tracker = WandbTracker(importer=exit_now)
    tracker.start(ARM, STARTED)
    tracker.close()
    assert tracker.state["status"] == "disabled: SystemExit: 1"


def exit_now() -> Any:
    raise SystemExit(1)


def test_a_slow_wandb_never_blocks_and_what_did_not_fit_is_counted() -> None:
    release = threading.Event()

    def importer() -> Any:
        release.wait(30)
        raise OSError("too late")

    tracker = WandbTracker(importer=importer, capacity=10)
    tracker.start(ARM, STARTED)
    started = time.perf_counter()
    for number in range(500):
        tracker.log(episode(ARM, f"p{number}", 1.0))
    each = (time.perf_counter() - started) / 500
    tracker.finish(ARM, "nowhere")
    tracker.close(0.1)
    # the importer keeps the thread for 30 s: had any call waited for it, this would be over
    assert time.perf_counter() - started < 20
    assert each < 0.05
    assert 489 <= tracker.state["dropped"] <= 490
    assert tracker.state["notes"] == ["not everything was sent within 0.1 s; see `parley upload`"]
    release.set()


def test_nothing_is_begun_by_an_episode_of_an_arm_that_was_never_opened() -> None:
    tracker = WandbTracker(importer=exit_now)
    tracker.log(episode(ARM, "p0", 1.0))
    tracker.finish(ARM, "nowhere")
    tracker.close()
    assert tracker.state["status"] == "offline"


def test_an_api_key_is_found_where_wandb_finds_it(tmp_path: Path) -> None:
    netrc = tmp_path / ".netrc"
    assert key_source({}, tmp_path) is None
    assert key_source({"WANDB_API_KEY": "k"}, tmp_path) == "WANDB_API_KEY"
    netrc.write_text("machine example.org login me password p\n", encoding="utf-8")
    assert key_source({}, tmp_path) is None
    netrc.write_text("machine api.wandb.ai login user password p\n", encoding="utf-8")
    assert key_source({}, tmp_path) == str(netrc)
    assert key_source({"WANDB_BASE_URL": "https://wandb.example.org"}, tmp_path) is None
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("machine wandb.example.org login user password p\n", encoding="utf-8")
    environment = {"WANDB_BASE_URL": "https://wandb.example.org", "NETRC": str(elsewhere)}
    assert key_source(environment, tmp_path) == str(elsewhere)
    netrc.write_text("not a netrc file", encoding="utf-8")
    assert key_source({}, tmp_path) is None


def test_an_agent_is_one_that_gives_a_run() -> None:
    assert agent_sweep({"WANDB_SWEEP_ID": "s", "WANDB_RUN_ID": "r"}) == "s"
    assert agent_sweep({"WANDB_SWEEP_ID": "s"}) == ""
    assert agent_sweep({"WANDB_RUN_ID": "r"}) == ""


def test_nothing_is_said_of_tracking_that_went_as_asked() -> None:
    assert warning(NoTracker().state) == ""
    assert warning(WandbTracker().state) == ""
    assert warning(WandbTracker(mode="disabled").state) == ""
    assert warning({}) == ""


def test_what_was_not_tracked_is_one_warning_with_its_remedy() -> None:
    tracker = WandbTracker(importer=exit_now)
    tracker.start(ARM, STARTED)
    tracker.close()
    first, second = warning(tracker.state).split("\n")
    assert first == "W&B: SystemExit: 1"
    assert "parley upload" in second
    assert "no API key" in warning(WandbTracker(mode="online").state)
    several = {**tracker.state, "notes": ["one", "two"], "dropped": 7}
    assert "(and 3 more" in warning(several)


def test_an_arm_that_had_nothing_to_do_is_no_run_unless_an_agent_waits(tmp_path: Path) -> None:
    home = write_arm(tmp_path / "pilot" / ARM, STARTED, [episode(ARM, "p0", 1.0)])
    quiet = WandbTracker(importer=exit_now)
    quiet.finish(ARM, str(home))
    quiet.report(str(home.parent))
    quiet.close()
    assert quiet.state["status"] == "offline"
    waited_for = WandbTracker(importer=exit_now, sweep="s1")
    waited_for.finish(ARM, str(home))
    waited_for.close()
    assert waited_for.state["status"] == "disabled: SystemExit: 1"


def test_an_arm_that_cannot_be_read_is_not_sent_to_an_agent(tmp_path: Path) -> None:
    tracker = WandbTracker(importer=exit_now, sweep="s1")
    tracker.finish(ARM, str(tmp_path / "gone"))
    tracker.close()
    assert tracker.state["status"] == "offline"
