"""Sections of the report page in a real browser: what scale changes, what a cache served, what went
wrong."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from browser import chromium, opened
from parley.analysis.opening import open_study
from parley.analysis.report import write_report
from parley.types import Episode
from records import call, episode, failed, sample_episodes, turn, write_arm

pytestmark = pytest.mark.slow
MODELS = ("qwen3-14b", "qwen3-8b", "qwen3-32b")
SIZES = {"full": 2.0, "pact": 1.0, "concise": 0.5}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three arms of three models, and one benchmark more with a single one."""
    folder = tmp_path_factory.mktemp("sections") / "study"
    for place, model in enumerate(MODELS):
        for name, size in SIZES.items():
            score = 0.3 + 0.1 * place + (0.2 if name == "pact" else 0)
            made = sample_episodes(name + model, 20, score=score, size=size)
            if name == "full" and model == "qwen3-8b":
                made = [*made[:-5], *(failed(f"{i:04d}", "ContextOverflow") for i in range(15, 20))]
            write_arm(folder, f"{name}-{model}", made, strategy=name, model=model)
    made = sample_episodes("alone", 5)
    write_arm(folder, "alone", made, strategy="full", model="qwen3-8b", benchmark="two_wiki")
    write_report(folder)
    return folder


@pytest.fixture(scope="module")
def file(study: Path) -> Path:
    return study / "report" / "index.html"


def _turned(page: Page, model: str) -> None:
    page.locator("#facet").select_option(label=f"fictional · {model}")


def _write(folder: Path) -> Path:
    write_report(folder)
    return folder / "report" / "index.html"


def test_every_arm_of_every_model_has_a_place(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        _turned(page, "qwen3-8b")
        for panel in ("#scale-score", "#scale-cost"):
            assert page.locator(f"{panel} .trend").count() == 3
            assert page.locator(f"{panel} .place").count() == 9
            models = page.locator(f"{panel} .models .tick text").all_text_contents()
            assert models == ["qwen3-8b", "qwen3-14b", "qwen3-32b"]
        page.locator("#facet").select_option(label="two_wiki · qwen3-8b")
        assert page.locator("#scale").is_hidden()


def test_what_to_use_is_said_for_each_model(browser: Browser, file: Path, study: Path) -> None:
    rows = [row for row in open_study(study).rows if row["benchmark"] == "fictional"]
    with opened(browser, file) as page:
        _turned(page, "qwen3-8b")
        for budget in (2600, 1000, 9000):
            page.locator("#budget-number").fill(str(budget))
            lines = page.locator("#scale-table tbody tr").all_inner_texts()
            for model, said in zip(("qwen3-8b", "qwen3-14b", "qwen3-32b"), lines, strict=True):
                assert said.startswith(model)
                mine = [row for row in rows if row["model"] == model]
                within = [row for row in mine if row["tokens_total"] <= budget]
                if not within:
                    assert "no arm is that cheap" in said
                    continue
                best = max(within, key=lambda row: row["score"])
                assert best["strategy"] in said
                assert f"{100 * best['score']:.1f}" in said
                assert re.search(r"\d%\s+(Clear|Likely, not certain|Open|–)", said)


def test_a_point_turns_the_page_to_its_model(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        _turned(page, "qwen3-8b")
        page.locator("#metric").select_option("em")
        page.locator("#cost").select_option("output")
        page.locator("#scale-table button", has_text="qwen3-32b").click()
        assert page.locator("#facet option:checked").inner_text() == "fictional · qwen3-32b"
        assert page.locator("#metric").input_value() == "em"
        assert page.locator("#cost").input_value() == "output"
        point = page.locator("#scale-cost .trend").nth(1).locator(".place").first
        point.focus()
        assert "qwen3-8b" in page.locator("#tip").inner_text()
        arm = point.get_attribute("data-arm")
        page.keyboard.press("Enter")
        assert page.locator("#facet option:checked").inner_text() == "fictional · qwen3-8b"
        assert page.locator("#arm-a").input_value() == arm


def test_an_unticked_arm_leaves_the_lines(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        page.locator("#filter").fill("strategy pact")
        assert page.locator("#scale-score .place").count() == 3
        page.locator("#filter").fill("model qwen3-8b")
        assert page.locator("#scale").is_hidden()


def test_cached_shares_are_those_of_the_records(browser: Browser, file: Path, study: Path) -> None:
    found = open_study(study)
    with opened(browser, file) as page:
        _turned(page, "qwen3-8b")
        said = page.locator("#cache-chart .cache-bar").all_text_contents()
        assert len(said) == 3
        for row, flow in zip(found.rows, found.flows, strict=True):
            if (row["benchmark"], row["model"]) == ("fictional", "qwen3-8b"):
                missed = (flow.servable - flow.served) * flow.prompt / flow.episodes
                one = f"{flow.served:.0%} of {flow.servable:.0%}, {missed:,.0f} missed"
                assert any(row["strategy"] in text and one in text for text in said), (one, said)


def test_engines_without_a_cache_and_reused_calls_are_said(
    browser: Browser, tmp_path: Path
) -> None:
    plain = (turn(0, call(cached=0)), turn(1, call(cached=0), answers=True))
    again = (turn(0, call(reused=True)), turn(1, call(reused=True), answers=True))
    write_arm(tmp_path / "s", "full", [episode("p1", turns=plain)])
    write_arm(tmp_path / "s", "pact", [episode("p1", turns=again)])
    with opened(browser, _write(tmp_path / "s")) as page:
        assert "The engine reported no cached token" in page.locator("#cache-note").inner_text()
        assert "no call of its own" in page.locator("#cache-chart").text_content()  # type: ignore[operator]


def _answers(problem: str, first: str) -> Episode:
    spoken = turn(0, call(visible=f"Answer: {first}"), status="repaired")
    return episode(problem, turns=(spoken, turn(1, call(visible="Answer: mill"), answers=True)))


def test_what_went_wrong_stands_beside_the_score(browser: Browser, tmp_path: Path) -> None:
    cut = dataclasses.replace(call(visible="no end"), finish="length")
    records = [
        _answers("p1", "mill"),
        _answers("p2", "river"),
        episode("p3", turns=(turn(0, cut, status="truncated"), turn(1, call(), answers=True))),
        failed("p4", "ContextOverflow"),
    ]
    write_arm(tmp_path / "s", "full", records)
    write_arm(tmp_path / "s", "pact", [episode(f"p{place}") for place in range(1, 5)])
    with opened(browser, _write(tmp_path / "s")) as page:
        heads = page.locator("#conduct-table thead tr").last.locator("th").all_inner_texts()
        row = page.locator("#conduct-table tbody tr", has_text="full").locator("th, td")
        cells = dict(zip(heads, row.all_inner_texts(), strict=True))
        assert cells["F1 %"] == "75.0"
        assert cells["failed"] == cells["overflow"] == cells["cut short"] == "25%"
        assert cells["repaired"] == "67%"
        assert cells["cut"] == "33%"
        assert cells["disagreed"] == "50%"
        said = page.locator("#conduct-note").inner_text()
        assert "Never met: cut in thinking, no answer" in said
        listed = {}
        for place in range(page.locator("#conduct-table button").count()):
            page.locator("#conduct-table button").nth(place).click()
            word = page.locator("#problem-filter").input_value()
            listed[word] = page.locator("#problem-table [data-problem]").all_inner_texts()
        assert {word: sorted(problems) for word, problems in listed.items()} == {
            "A:failed": ["p4"],
            "A:overflow": ["p4"],
            "A:cut-short": ["p3"],
            "A:message-repaired": ["p1", "p2"],
            "A:message-cut": ["p3"],
            "A:disagreed": ["p2"],
        }


def test_a_share_lists_its_problems(browser: Browser, tmp_path: Path) -> None:
    cut = dataclasses.replace(call(visible="no end"), finish="length")
    short = (turn(0, cut, status="truncated"), turn(1, call(), answers=True))
    records = [episode("p1", turns=short), episode("p2"), failed("p3", "ContextOverflow")]
    write_arm(tmp_path / "s", "full", records)
    write_arm(tmp_path / "s", "pact", [episode("p1"), episode("p2", turns=short), episode("p3")])
    with opened(browser, _write(tmp_path / "s")) as page:
        row = page.locator("#conduct-table tbody tr", has_text="full")
        row.locator("button").first.click()  # failed
        listed = page.locator("#problem-table [data-problem]")
        assert listed.all_inner_texts() == ["p3"]
        assert page.locator("#arm-a option:checked").inner_text() == "full"
        row.locator("button").last.click()  # cut short: pact's own is not among them
        assert listed.all_inner_texts() == ["p1"]
        listed.click()
        page.wait_for_selector("dialog[open]")


def test_a_study_in_which_nothing_went_wrong_says_so(browser: Browser, tmp_path: Path) -> None:
    for name in ("full", "pact"):
        write_arm(tmp_path / "s", name, sample_episodes(name, 4))
    with opened(browser, _write(tmp_path / "s")) as page:
        assert "Nothing: no episode failed" in page.locator("#conduct-note").inner_text()
        assert page.locator("#conduct-table tr").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 700, 1280])
def test_the_sections_fit_the_window(browser: Browser, file: Path, scheme: str, width: int) -> None:
    size = {"width": width, "height": 900}
    with opened(browser, file, viewport=size, color_scheme=scheme) as page:
        _turned(page, "qwen3-8b")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for chart in ("scale-score", "scale-cost", "cache-chart"):
            inside = page.evaluate(
                """id => {
                  const edge = document.getElementById(id).getBoundingClientRect();
                  return [...document.querySelectorAll(`#${id} text`)].every((text) => {
                    const box = text.getBoundingClientRect();
                    return box.left >= edge.left - 1 && box.right <= innerWidth;
                  });
                }""",
                chart,
            )
            assert inside, chart


def _graded(*values: float) -> list[Episode]:
    return [
        episode(f"{i:04d}", metrics={"em": 1.0, "f1": value, "f1_squad": 0.5})
        for i, value in enumerate(values)
    ]


def test_scores_that_are_no_numbers_are_said_where_they_are_missed(
    browser: Browser, tmp_path: Path
) -> None:
    write_arm(tmp_path / "s", "full", _graded(math.nan, 0.5, 1.0))
    write_arm(tmp_path / "s", "none", _graded(math.nan, math.nan, math.nan))
    write_arm(tmp_path / "s", "pact", _graded(0.0, 0.5, 0.25))
    with opened(browser, _write(tmp_path / "s")) as page:
        said = page.locator("#frontier-key").inner_text()
        assert "Without a point, since a mean is missing: full, none" in said
        page.locator("#arm-a").select_option(label="pact")
        page.locator("#arm-b").select_option(label="full")
        said = page.locator("#paired").inner_text()
        assert "F1 is not a number on some of the 3 shared problems" in said
        assert "full 1" in said
        assert page.locator("#differences rect.filled").count() == 2
        assert page.locator("#problem-table tbody tr").count() == 3
        page.locator("#arm-b").select_option(label="none")
        assert page.locator("#differences svg").count() == 0
        head = page.locator("#conduct-table thead tr").last.inner_text()
        assert "no score" in head
        assert not re.search(r"NaN|undefined|null|Infinity", page.locator("body").inner_text())


def test_a_study_of_failures_has_no_ratio_and_no_tokens(browser: Browser, tmp_path: Path) -> None:
    for name in ("full", "pact"):
        write_arm(tmp_path / "s", name, [failed(f"p{i}", "ContextOverflow") for i in range(3)])
    with opened(browser, _write(tmp_path / "s")) as page:
        assert "there is no ratio of the two" in page.locator("#paired").inner_text()
        assert "No token was recorded" in page.locator("#ledger-chart").inner_text()
        assert not re.search(r"NaN|undefined|null|Infinity", page.locator("body").inner_text())


def test_what_is_compared_is_said_where_problems_differ(browser: Browser, tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", _graded(1.0, 1.0, 1.0, 1.0, 0.0, 0.0))
    write_arm(tmp_path / "s", "pact", _graded(0.0, 0.5, 0.5, 0.0))
    with opened(browser, _write(tmp_path / "s")) as page:
        said = page.locator("#verdict").inner_text()
        assert "66.7%" in said
        assert "on the 4 shared problems 100.0% for" in said
        page.locator("#filter").fill("full")
        assert "shared problems" not in page.locator("#verdict").inner_text()
