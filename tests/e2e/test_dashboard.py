"""`parley dashboard` as a user has it, against a server that keeps views, and without one."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from command_line import Done, parley
from fake_wandb import serving
from tracking_cases import STUDY, episode, manifest, write_arm

pytest.importorskip("wandb_workspaces", reason="the extra 'wandb' is not installed")
pytestmark = pytest.mark.slow

SOURCE = Path(__file__).resolve().parents[2] / "src"
KEY = "0" * 40


@pytest.fixture
def study(tmp_path: Path) -> Path:
    for name in ("full", "pact"):
        told = manifest(f"arm-{name}", name)
        rows = [episode(f"arm-{name}", f"p{number}", 0.5) for number in range(2)]
        write_arm(tmp_path / STUDY / f"arm-{name}", told, rows)
    return tmp_path / STUDY


def dashboard(*arguments: str, at: Path, server: str = "") -> Done:
    env = {"PYTHONPATH": str(SOURCE), "HOME": str(at)}
    if server:
        env |= {"WANDB_API_KEY": KEY, "WANDB_BASE_URL": server}
    return parley("dashboard", *arguments, at=at, env=env)


def test_a_view_is_saved_where_a_server_is_and_again_replaced(study: Path) -> None:
    with serving() as fake:
        first = dashboard(STUDY, at=study.parent, server=fake.url)
        second = dashboard(STUDY, at=study.parent, server=fake.url)
    assert (first.code, second.code) == (0, 0), first.said + second.said
    (name, view), *others = fake.views.items()
    assert others == []
    assert (view["entityName"], view["projectName"]) == ("me", "parley")
    assert view["displayName"] == f"{STUDY}: score against tokens"
    sections = json.loads(view["spec"])["section"]["panelBankConfig"]["sections"]
    assert sections[0]["panels"][0]["viewType"] == "Scatter Plot"
    place = f"{fake.url}/me/parley?nw={name.removeprefix('nw-').removesuffix('-v')}"
    assert first.out == f"saved {place}\n"
    assert second.out == f"replaced {place}\n"


def test_the_place_of_the_view_can_be_named(study: Path) -> None:
    with serving() as fake:
        named = ("tracker.project=pilots", "tracker.entity=team")
        done = dashboard(STUDY, *named, at=study.parent, server=fake.url)
    assert done.code == 0, done.said
    (view,) = fake.views.values()
    assert (view["entityName"], view["projectName"]) == ("team", "pilots")


def test_without_a_login_nothing_is_tried_and_the_next_step_said(study: Path) -> None:
    done = dashboard(STUDY, at=study.parent)
    assert (done.code, done.out) == (1, "")
    assert "no W&B login" in done.err
    assert "allowed:" in done.err
    assert "wandb login" in done.err
    shown = dashboard(STUDY, "--print", at=study.parent)
    assert shown.code == 0
    assert orjson.loads(shown.out)["section"]["runSets"]


@pytest.mark.parametrize("named", [(), ("tracker.entity=team",)])
def test_a_server_out_of_reach_is_one_message(study: Path, named: tuple[str, ...]) -> None:
    done = dashboard(STUDY, *named, at=study.parent, server="http://127.0.0.1:9")
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "allowed:" in done.err
    assert "--print" in done.err
    assert KEY not in done.said


def test_a_folder_without_a_study_is_one_message(tmp_path: Path) -> None:
    done = dashboard("nowhere", at=tmp_path)
    assert done.code == 1
    assert "nowhere" in done.err
