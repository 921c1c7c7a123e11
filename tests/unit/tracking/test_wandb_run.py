"""The real wandb package, offline: whole studies in processes of their own, and their files read.

No process may outlive its study, and nothing may connect: every study runs behind a proxy that
counts who calls.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

import tracking_cases
from parley.tracking.rows import CHARTED, run_id
from parley.tracking.wandb_run import _artifact_name
from tracking_cases import SECRET, STUDY, services
from wandb_files import Logged, read_run

pytestmark = pytest.mark.slow

pytest.importorskip("wandb", reason="the extra 'wandb' is not installed")

SOURCE = Path(__file__).resolve().parents[3] / "src"


@dataclass
class Calls:
    """A server that takes calls, keeps them open, and never says a word."""

    port: int = 0
    open: list[socket.socket] = field(default_factory=list)


@contextlib.contextmanager
def silent_server() -> Iterator[Calls]:
    with socket.create_server(("127.0.0.1", 0)) as server, contextlib.ExitStack() as stack:
        calls = Calls(port=server.getsockname()[1])

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    calls.open.append(stack.enter_context(server.accept()[0]))

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield calls
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@dataclass
class Played:
    """A study that ended: the tracker's state, its folder, who called out, and its process."""

    state: dict[str, Any]
    folder: Path
    calls: int
    code: int
    error: str
    seconds: float

    def run(self, arm: str) -> Logged:
        return read_run(Path(self.state["runs"][arm]["path"]))


def play(scenario: str, folder: Path, environment: dict[str, str], /, **settings: Any) -> Played:
    """Runs the scenario; asserts that no service of it is left."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tmp").mkdir()
    kept = {key: value for key, value in os.environ.items() if not key.startswith("WANDB")}
    with silent_server() as calls:
        proxy = f"http://127.0.0.1:{calls.port}"
        started = time.monotonic()
        child = subprocess.Popen(
            [
                *(sys.executable, "-W", "error", "-W", "ignore::ResourceWarning"),
                *(tracking_cases.__file__, scenario, str(folder)),
                orjson.dumps(settings).decode(),
            ],
            env={
                **kept,
                "PYTHONPATH": os.pathsep.join([str(SOURCE), str(SOURCE.parent / "tests")]),
                "HOME": str(folder / "home"),
                "TMPDIR": str(folder / "tmp"),
                "http_proxy": proxy,
                "https_proxy": proxy,
                "HTTPS_PROXY": proxy,
                **{key: value.format(port=calls.port) for key, value in environment.items()},
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
        try:
            out, error = child.communicate(timeout=120)
        finally:
            child.kill()
        seconds = time.monotonic() - started
    for _ in range(100):
        if not services(child.pid):
            break
        time.sleep(0.1)
    assert not services(child.pid)
    state = orjson.loads(out.splitlines()[-1]) if out else {}
    text = error.decode()
    return Played(state, folder, len(calls.open), child.returncode, text, seconds)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play("several", tmp_path_factory.mktemp("several"), {})


def test_a_study_without_a_key_is_offline_and_calls_nobody(several: Played) -> None:
    assert several.code == 0, several.error
    assert (several.state["status"], several.state["notes"]) == ("offline", [])
    assert several.calls == 0
    assert several.error == ""


def test_every_arm_has_its_run_in_the_study_folder(several: Played) -> None:
    assert set(several.state["runs"]) == {"arm-full", "arm-pact", "arm-concise"}
    for arm, run in several.state["runs"].items():
        assert run["id"] == run_id(STUDY, arm)
        assert Path(run["path"]).parent == several.folder / STUDY / "wandb"
        logged = several.run(arm)
        assert (logged.run.run_id, logged.run.project) == (run["id"], "parley")
        assert (logged.run.run_group, logged.run.display_name) == (STUDY, arm.removeprefix("arm-"))
        assert logged.run.resume


def test_the_config_is_flat_and_without_secrets(several: Played) -> None:
    config = several.run("arm-pact").config
    assert (config["strategy"], config["benchmark"], config["arm"]) == (
        "pact",
        "fictional",
        "arm-pact",
    )
    assert config["identity/sampling/temperature"] == 0.6
    written = [path for path in several.folder.rglob("*") if path.is_file()]
    records = [several.folder / STUDY / arm / "manifest.json" for arm in several.state["runs"]]
    holders = [path for path in written if SECRET.encode() in path.read_bytes()]
    assert sorted(holders) == sorted(records)


def test_each_episode_is_charted_against_the_own_step(several: Played) -> None:
    logged = several.run("arm-full")
    episodes = logged.episodes
    assert [row["episode"] for row in episodes] == [1, 2, 3]
    assert [row["episode/f1"] for row in episodes] == [1, 0.5, 0]
    assert [row["running/f1"] for row in episodes] == [1, 0.75, 0.5]
    assert [row["episode/tokens_total"] for row in episodes] == [215, 215, 215]
    assert [row["running/tokens_spent"] for row in episodes] == [215, 430, 645]
    assert {"episode/em", "episode/messages_ok", "running/score", "running/tokens"} <= set(
        episodes[0]
    )
    stepped = {item.glob_name or item.name: item for item in logged.metrics}
    assert stepped["running/*"].step_metric == "episode"
    assert stepped["running/score_by_tokens"].step_metric == "running/tokens_spent"
    assert stepped["episode/*"].options.hidden


def test_what_one_bar_an_arm_is_drawn_from_is_logged_once(several: Played) -> None:
    expected = {*CHARTED, "score/f1", "score/em"}
    for arm in several.state["runs"]:
        bars = [row for row in several.run(arm).history if "score" in row]
        assert [expected - set(row) for row in bars] == [set()], arm


def test_the_summary_is_named_alike_for_all_arms(several: Played) -> None:
    names = {arm: set(several.run(arm).summary) for arm in several.state["runs"]}
    assert len({frozenset(found) for found in names.values()}) == 1
    assert not any(name.startswith("episode/") for name in names["arm-full"])
    summary = several.run("arm-pact").summary
    expected = {
        **{"score": 0.5, "score/f1": 0.5, "score/em": 1 / 3, "score_low": 0, "score_high": 1},
        **{"tokens/total": 415, "tokens/prompt": 400, "tokens/completion": 15},
        **{"tokens/total_low": 415, "tokens/total_high": 415, "front": 0, "front_chance": 0},
        **{"truncated": 0, "messages/ok": 1, "n": 3, "recorded": 3, "errors": 0},
    }
    assert {name: summary[name] for name in expected} == pytest.approx(expected)


def test_arms_can_be_told_apart_on_axes_of_parallel_coordinates(several: Played) -> None:
    for arm in several.state["runs"]:
        config = several.run(arm).config
        chosen = {name: config[name] for name in ("strategy", "topology", "benchmark", "model")}
        assert chosen["strategy"] == arm.removeprefix("arm-")
        assert all(isinstance(value, str) and len(value) < 40 for value in chosen.values())
        assert config["seed"] == 42


def test_a_study_has_a_run_of_its_own_beside_its_arms(several: Played) -> None:
    study = several.state["study"]
    logged = read_run(Path(study["path"]))
    assert (study["id"], logged.run.run_id) == (run_id(STUDY, ""), run_id(STUDY, ""))
    assert (logged.run.run_group, logged.run.job_type) == (STUDY, "study")
    assert several.run("arm-full").run.job_type == "arm"
    assert logged.exit_code == 0
    assert logged.summary["study/arms"] == 3
    assert logged.summary["study/front of fictional, tiny"] == "full"
    # else it would stand among the arms in every chart
    assert "score" not in logged.summary


def test_the_table_of_a_study_has_a_row_an_arm(several: Played) -> None:
    logged = read_run(Path(several.state["study"]["path"]))
    files = Path(several.state["study"]["path"]) / "files"
    table = orjson.loads((files / logged.summary["results/path"]).read_bytes())
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    assert [row["arm"] for row in rows] == ["arm-full", "arm-pact", "arm-concise"]
    assert [row["front"] for row in rows] == [1, 0, 0]
    assert [row["front_chance"] for row in rows] == [1, 0, 0]
    expected = {"strategy": "pact", "benchmark": "fictional", "score": 0.5, "score_high": 1}
    expected |= {"tokens_total": 415, "tokens_prompt": 400, "n": 3, "truncated": 0}
    assert {name: rows[1][name] for name in expected} == expected


def test_the_frontier_of_a_study_is_a_chart_and_a_picture(several: Played) -> None:
    path = Path(several.state["study"]["path"])
    logged = read_run(path)
    charts = {name.split("/")[-1] for name in logged.config if name.startswith("_wandb/visualize")}
    assert charts == {"frontier", "score_by_arm", "tokens_by_arm"}
    frontier = logged.config["_wandb/visualize/frontier"]["panel_config"]
    assert frontier["panelDefId"] == "wandb/scatter/v0"
    assert frontier["fieldSettings"] == {"x": "tokens per problem", "y": "score"}
    table = orjson.loads((path / "files" / logged.summary["frontier_table/path"]).read_bytes())
    assert table["columns"] == ["tokens per problem", "score", "arm"]
    assert table["data"] == [[215, 0.5, "full"], [415, 0.5, "pact"], [615, 0.5, "concise"]]
    (figure,) = [row for row in logged.history if "report/frontier/path" in row]
    assert (path / "files" / figure["report/frontier/path"]).exists()


def test_the_table_holds_the_conversations(several: Played) -> None:
    logged = several.run("arm-pact")
    assert logged.summary["episodes/_type"] == "table-file"
    files = Path(several.state["runs"]["arm-pact"]["path"]) / "files"
    table = orjson.loads((files / logged.summary["episodes/path"]).read_bytes())
    assert [line[0] for line in table["data"]] == ["p0", "p1", "p2"]
    said = dict(zip(table["columns"], table["data"][1], strict=True))
    assert said["messages"].startswith("Agent A: The museum is in Lyon.")
    assert (said["gold"], said["score"], said["tokens"]) == ("Lyon | Lyons", 0.5, 415)


def test_the_records_are_an_artifact(several: Played) -> None:
    artifact = several.run("arm-full").artifacts["records"]
    assert artifact.name == "records-arm-full"
    stored = {entry.path: Path(entry.local_path) for entry in artifact.manifest.contents}
    assert set(stored) == {"episodes.jsonl", "manifest.json"}
    recorded = several.folder / STUDY / "arm-full" / "episodes.jsonl"
    assert stored["episodes.jsonl"].read_bytes() == recorded.read_bytes()
    assert orjson.loads(stored["manifest.json"].read_bytes())["label"] == "full"


def test_artifacts_have_names_that_the_server_takes() -> None:
    assert _artifact_name("arm-full") == "records-arm-full"
    odd = ["\u00dcn\u00ef", "\u65e5\u672c", "a+b=c", "x" * 300, "x" * 299]
    names = [_artifact_name(arm) for arm in odd]
    assert len(set(names)) == len(odd)
    assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,128}", name) for name in names)


def test_a_stopped_arm_is_a_failed_run(several: Played) -> None:
    assert several.run("arm-full").exit_code == 0
    assert several.run("arm-concise").exit_code == 1


@pytest.mark.slow
def test_a_resumed_arm_goes_on_where_it_was(tmp_path: Path) -> None:
    played = play("resumed", tmp_path, {})
    assert played.code == 0, played.error
    first, second = sorted((tmp_path / STUDY / "wandb").glob("offline-run-*"))
    before, after = read_run(first), read_run(second)
    assert before.run.run_id == after.run.run_id
    assert (before.exit_code, after.exit_code) == (1, 0)
    assert [row["episode"] for row in before.history] == [1, 2]
    charted = after.episodes
    assert [row["episode"] for row in charted] == [3, 4]
    assert [row["running/f1"] for row in charted] == [0.75, 0.5]
    assert (after.summary["n"], after.summary["score"], after.summary["errors"]) == (3, 0.5, 0)


@pytest.mark.slow
def test_recorded_arms_can_be_sent_later_and_again(tmp_path: Path) -> None:
    played = play("replayed", tmp_path, {}, capacity=2)
    assert played.code == 0, played.error
    assert (played.state["status"], played.state["dropped"]) == ("offline", 0)
    folders = sorted((tmp_path / STUDY / "wandb").glob("offline-run-*"))
    runs = [read_run(folder) for folder in folders]
    assert len(runs) == 4
    assert {run.run.run_id for run in runs} == {
        run_id(STUDY, "arm-full"),
        run_id(STUDY, "arm-pact"),
    }
    for run in runs:
        # sent anew, not appended to what was sent before
        assert not run.run.resume
        assert [row["episode/f1"] for row in run.episodes] == [0, 0.25, 0.5, 0.75, 1]
        assert (run.summary["n"], run.summary["score"]) == (5, 0.5)
        assert "records" in run.artifacts


def test_an_arm_is_sent_with_its_newest_grades(tmp_path: Path) -> None:
    played = play("regraded", tmp_path, {})
    assert played.code == 0, played.error
    run = played.run("arm-full")
    assert [row["episode/f1"] for row in run.episodes] == [1, 1]
    assert run.summary["score"] == 1
    files = Path(played.state["runs"]["arm-full"]["path"]) / "files"
    table = orjson.loads((files / run.summary["episodes/path"]).read_bytes())
    lines = [dict(zip(table["columns"], line, strict=True)) for line in table["data"]]
    assert [(line["extracted"], line["score"]) for line in lines] == [("Lyons", 1), ("Lyon", 1)]


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_is_a_file_disables_tracking_and_nothing_goes_elsewhere(
    tmp_path: Path, place: str
) -> None:
    (tmp_path / "file").write_text("taken", encoding="utf-8")
    played = play("several", tmp_path / "study", {}, folder=str(tmp_path / place))
    assert played.code == 0, played.error
    assert played.state["status"].startswith(
        ("disabled: FileExistsError", "disabled: NotADirectory")
    )
    assert not played.state["runs"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "taken"
    assert not list((tmp_path / "study" / "tmp").rglob("*.wandb"))
    assert (tmp_path / "study" / STUDY / "arm-full" / "episodes.jsonl").exists()


def test_an_arm_that_cannot_have_a_run_leaves_the_others_theirs(tmp_path: Path) -> None:
    played = play("partly", tmp_path, {})
    assert played.code == 0, played.error
    assert (played.state["status"], set(played.state["runs"])) == (
        "offline",
        {"arm-full", "arm-concise"},
    )
    (note,) = played.state["notes"]
    assert note.startswith("arm-pact: run not sent: FileExistsError")
    assert played.run("arm-concise").summary["n"] == 1


def test_the_variable_of_wandb_does_not_move_a_run_to_another_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("taken", encoding="utf-8")
    played = play("several", tmp_path / "study", {"WANDB_DIR": str(tmp_path / "file")})
    assert (played.state["status"], len(played.state["runs"])) == ("offline", 3)
    assert played.run("arm-full").summary["n"] == 3


def test_a_service_that_does_not_start_disables_tracking(tmp_path: Path) -> None:
    token = f"4-{os.getpid()}-unix-{tmp_path / 'nobody-listens'}"
    played = play("several", tmp_path, {"WANDB_SERVICE": token})
    assert played.code == 0, played.error
    assert played.state["status"].startswith("disabled: ")
    assert not played.state["runs"]


def test_a_service_that_dies_disables_tracking(tmp_path: Path) -> None:
    played = play("beheaded", tmp_path, {})
    assert played.code == 0, played.error
    assert played.state["status"].startswith("disabled: ConnectionResetError")
    assert set(played.state["runs"]) == {"arm-full"}


def test_a_killed_study_leaves_no_service(tmp_path: Path) -> None:
    assert play("killed", tmp_path, {}).code == -9


@pytest.mark.slow
def test_a_server_that_never_answers_costs_no_more_than_the_time_limits(tmp_path: Path) -> None:
    environment = {
        "WANDB_API_KEY": "0" * 40,
        "WANDB_BASE_URL": "http://127.0.0.1:{port}",
        "no_proxy": "127.0.0.1",
    }
    limits = {"has_key": True, "init_timeout_s": 2, "finish_timeout_s": 8}
    played = play("several", tmp_path, environment, **limits)
    assert played.code == 0, played.error
    assert played.calls > 0
    assert played.state["status"].startswith("disabled: CommError")
    assert "0" * 40 not in str(played.state)
    assert played.seconds < 60
    assert (tmp_path / STUDY / "arm-full" / "episodes.jsonl").exists()
