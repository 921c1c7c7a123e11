"""The page as a file: whole, inert, the same each time, and no larger than it may be."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson
import pytest

from parley.analysis.frames import load
from parley.analysis.notes import notes
from parley.analysis.page.document import SCRIPTS, page
from parley.analysis.style import COLOURS
from parley.analysis.tables import results
from parley.analysis.token_bars import PARTS
from parley.types import Episode
from records import call, conversation, episode, sample_episodes, turn, write_arm

ASSETS = files("parley.analysis.page") / "assets"
HOSTILE = "</script><script>window.pwned=1</script><!--<img src=x onerror=window.pwned=1>"


def _page(study: Path, **limits: Any) -> str:
    frames = load(study)
    table = results(frames)
    return page(study.name, frames, table, notes(frames, table), **limits)


def _blocks(html: str) -> dict[str, str]:
    found = re.findall(r'<script type="application/octet-stream" id="([^"]+)">(.*?)</script>', html)
    return dict(found)


def _unpacked(text: str) -> Any:
    return orjson.loads(gzip.decompress(base64.b64decode(text)))


def _study(tmp_path: Path, problems: int = 6) -> Path:
    for name in ("full", "pact"):
        write_arm(tmp_path / "s", name, sample_episodes(name, problems))
    return tmp_path / "s"


def _wordy(problem: str, size: int) -> Episode:
    text = hashlib.shake_256(problem.encode()).hexdigest(size // 2)
    made = call(visible=text)
    return episode(problem, turns=(turn(0, made, answers=True),))


def test_it_holds_every_arm_problem_and_transcript(tmp_path: Path) -> None:
    blocks = _blocks(_page(_study(tmp_path)))
    seen = orjson.loads(blocks["overview"])
    assert {arm["label"] for arm in seen["arms"]} == {"full", "pact"}
    assert seen["transcripts"] == {"held": 6, "of": 6}
    index = _unpacked(blocks["index"])
    assert sorted(index["id"]) == [f"{i:04d}" for i in range(6)]
    for place, block in enumerate(index["block"]):
        shown = _unpacked(blocks[f"block-{block}"])
        assert [each["arm"] for each in shown] == [0, 1]
        assert index["question"][place] == shown[0]["question"]


def test_it_is_the_same_each_time(tmp_path: Path) -> None:
    study = _study(tmp_path)
    assert _page(study) == _page(study)


def test_it_asks_nothing_of_any_network(tmp_path: Path) -> None:
    html = _page(_study(tmp_path))
    for name in SCRIPTS:
        html = html.replace(ASSETS.joinpath(f"{name}.js").read_text(encoding="utf-8"), "")
    library = ASSETS.joinpath("vendor/d3.min.js").read_text(encoding="utf-8")
    rest = html.replace(library, "")
    assert not re.search(r"<(?:link|img|iframe|object|embed)\b|\bsrc=|url\(|@import", rest)
    assert "default-src &#x27;none&#x27;" in rest


def test_the_policy_names_exactly_what_stands_in_the_page(tmp_path: Path) -> None:
    html = _page(_study(tmp_path))
    scripts = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", html, flags=re.DOTALL)
    assert (len(scripts), len(styles)) == (2, 1)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    for text in (*scripts, *styles):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy[1]
    assert "unsafe" not in policy[1]
    assert html.index("Content-Security-Policy") < html.index("<style>") < html.index("<script")


def test_hostile_text_never_stands_as_markup(tmp_path: Path) -> None:
    made = dataclasses.replace(call(visible=HOSTILE, flags=(HOSTILE,)), reasoning=HOSTILE)
    turns = (turn(0, made, title=HOSTILE), *conversation(turns=2)[1:])
    record = episode(HOSTILE, question=HOSTILE, answers=(HOSTILE,), kind=HOSTILE, turns=turns)
    write_arm(tmp_path / "s", "full", [record], strategy=HOSTILE, model=HOSTILE)
    html = _page(tmp_path / "s")
    assert "window.pwned=1</script>" not in html
    assert "<img" not in html
    plain = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert "pwned" not in plain


def test_our_scripts_have_no_way_to_parse_markup() -> None:
    own = "\n".join(ASSETS.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", ".html("):
        assert word not in own
    assert not re.search(r"\b(?:new Function|setTimeout\(\"|javascript:|fetch\(|XMLHttp)", own)


def test_the_library_is_the_one_that_is_named() -> None:
    vendor = ASSETS / "vendor"
    digest = hashlib.sha256(vendor.joinpath("d3.min.js").read_bytes()).hexdigest()
    told = vendor.joinpath("README.md").read_text(encoding="utf-8")
    assert digest in told
    version = re.search(r"v(\d+\.\d+\.\d+)", vendor.joinpath("d3.min.js").read_text("utf-8")[:99])
    assert version is not None
    assert f"d3@{version[1]}" in told
    assert "Permission to use" in vendor.joinpath("d3.LICENSE.txt").read_text(encoding="utf-8")


def test_the_library_comes_with_its_licence(tmp_path: Path) -> None:
    assert "Permission to use, copy, modify" in _page(_study(tmp_path))


def test_colours_are_those_of_the_pictures() -> None:
    css = ASSETS.joinpath("colours.css").read_text(encoding="utf-8").lower()
    for place, colour in enumerate(COLOURS):
        assert f"--series-{place}: {colour.lower()};" in css
    for place, (_, colour, _) in enumerate(PARTS):
        assert f"--part-{place}: {colour.lower()};" in css


def test_the_largest_blocks_stop_at_the_limit(tmp_path: Path) -> None:
    for name in ("full", "pact"):
        write_arm(tmp_path / "s", name, [_wordy(f"p{i}", 8000) for i in range(40)])
    html = _page(tmp_path / "s", most_bytes=100_000)
    blocks = _blocks(html)
    kept = [text for name, text in blocks.items() if name.startswith("block-")]
    assert 5 < len(kept) < 40
    assert sum(map(len, kept)) <= 100_000
    assert orjson.loads(blocks["overview"])["transcripts"] == {"held": len(kept), "of": 40}
    index = _unpacked(blocks["index"])
    assert sum(block >= 0 for block in index["block"]) == len(kept)


def test_transcripts_held_at_once_are_bounded(tmp_path: Path) -> None:
    html = _page(_study(tmp_path, problems=10), most_episodes=7)
    assert orjson.loads(_blocks(html)["overview"])["transcripts"] == {"held": 3, "of": 10}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_null(tmp_path: Path, value: float) -> None:
    record = episode("p1", metrics={"em": 1.0, "f1": value, "f1_squad": 1.0})
    write_arm(tmp_path / "s", "full", [record, episode("p2")])
    blocks = _blocks(_page(tmp_path / "s"))
    assert orjson.loads(blocks["overview"])["arms"][0]["score"] is None


def test_a_study_without_any_arm_is_a_page_too(tmp_path: Path) -> None:
    (tmp_path / "s" / "full").mkdir(parents=True)
    (tmp_path / "s" / "full" / "episodes.jsonl").write_text("{}\n")
    seen = orjson.loads(_blocks(_page(tmp_path / "s"))["overview"])
    assert seen["arms"] == []
    assert any("half-written" in note for note in seen["notes"])
