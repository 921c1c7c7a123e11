"""The report page in a real browser: what a reader does with it, and what it must not do."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from browser import chromium, opened
from command_line import FAST, parley
from parley.analysis.frames import load, plain_rows
from parley.analysis.page.document import page as made
from parley.analysis.report import write_report
from parley.analysis.tables import results
from records import call, conversation, episode, failed, sample_episodes, turn, write_arm

pytestmark = pytest.mark.slow
SIZES = {"full": 1.6, "concise": 0.5, "pact": 1.0}
SCORES = {"full": 0.45, "concise": 0.4, "pact": 0.6}
PROBLEMS = 40
HOSTILE = (
    "</script><script>window.pwned=1</script><!--<img src=x onerror='window.pwned=1'>"
    "<svg onload=window.pwned=1><a href='javascript:window.pwned=1'>x</a>{{7*7}}${window.pwned=1}"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page") / "study"
    for name, size in SIZES.items():
        made = sample_episodes(name, PROBLEMS, score=SCORES[name], size=size)
        write_arm(folder, name, made)
    write_report(folder)
    return folder


@pytest.fixture(scope="module")
def file(study: Path) -> Path:
    return study / "report" / "index.html"


def _column(page: Page, table: str, key: str) -> list[str]:
    heads = page.locator(f"#{table} thead button")
    place = [heads.nth(i).get_attribute("data-sort") for i in range(heads.count())].index(key)
    cells = page.locator(f"#{table} tbody tr > :nth-child({place + 1})")
    return [text.strip() for text in cells.all_inner_texts()]


def _numbers(texts: Sequence[str]) -> list[float]:
    found = [re.search(r"[−-]?\d[\d,]*\.?\d*", text) for text in texts]
    return [float(n[0].replace(",", "").replace("−", "-")) if n else np.nan for n in found]


def _rows(study: Path) -> dict[str, dict[str, Any]]:
    return {row["strategy"]: row for row in plain_rows(results(load(study)))}


def _write(folder: Path) -> Path:
    write_report(folder)
    return folder / "report" / "index.html"


def test_numbers_are_rounded_as_in_the_written_tables(browser: Browser, tmp_path: Path) -> None:
    for name, right in (("full", 1), ("concise", 3), ("pact", 5), ("summary", 7)):
        write_arm(
            tmp_path,
            name,
            [
                episode(
                    f"{at:04d}",
                    metrics={"em": float(at < right), "f1": float(at < right)},
                    turns=(
                        turn(0, call(reasoning=50 + right // 2 + at % 2, answer=9), answers=True),
                    ),
                )
                for at in range(16)
            ],
        )
    file = _write(tmp_path)
    rows = list(_rows(tmp_path).values())
    assert {row["tokens_total"] % 1 for row in rows} == {0.5}
    with opened(browser, file) as page:
        costs, scores = (
            sorted(text.split()[0] for text in _column(page, "results-table", key))
            for key in ("cost", "score")
        )
    assert costs == sorted(f"{row['tokens_total']:,.0f}" for row in rows)
    assert scores == sorted(f"{100 * row['score']:.1f}" for row in rows)


def test_a_mean_never_leaves_a_value_out(browser: Browser, tmp_path: Path) -> None:
    problems = [f"p{place}" for place in range(20)]
    right = {"em": 1.0, "f1": 1.0}
    holed = [episode(name, metrics=right) for name in problems]
    holed[3] = episode("p3", metrics={"em": float("nan"), "f1": 1.0})
    reused = call(reused=True, latency=0.0)
    again = (turn(0, reused), turn(1, call(), answers=True))
    write_arm(tmp_path / "s", "full", [episode(name, metrics=right) for name in problems])
    write_arm(tmp_path / "s", "pact", holed)
    write_arm(tmp_path / "s", "summary", [episode(n, metrics=right, turns=again) for n in problems])
    with opened(browser, _write(tmp_path / "s")) as page:
        cells = dict(
            zip(
                (text.split()[0] for text in _column(page, "results-table", "arm")),
                _column(page, "results-table", "score-em"),
                strict=True,
            )
        )
        assert cells == {"full": "100.0", "pact": "\u2013", "summary": "100.0"}
        page.locator("#cost").select_option("seconds")
        labels = page.locator("#frontier .point").evaluate_all("x => x.map(p => p.dataset.arm)")
        assert len(labels) == 2  # nobody knows what the reused calls would have taken
        page.locator("#metric").select_option("em")
        scores = _column(page, "results-table", "score")
        assert sorted(text.partition(" ")[2] for text in scores) == [
            "",
            "83.9\u2013100.0",
            "83.9\u2013100.0",
        ]


def test_what_decides_nothing_is_not_recommended(browser: Browser, tmp_path: Path) -> None:
    problems = [f"p{place}" for place in range(12)]
    right = {"em": 1.0, "f1": 1.0}
    wrong = {"em": 0.0, "f1": 0.5}
    write_arm(tmp_path / "s", "full", [episode(name, metrics=wrong) for name in problems])
    write_arm(tmp_path / "s", "pact", [episode(name, metrics=wrong) for name in problems])
    write_arm(tmp_path / "s", "begun", [episode(name, metrics=right) for name in problems[:2]])
    write_arm(tmp_path / "s", "dead", [failed(name) for name in problems])
    with opened(browser, _write(tmp_path / "s")) as page:
        page.locator("#budget-number").fill("1000000")
        said = page.locator("#verdict").inner_text()
        assert page.locator("#verdict .use").inner_text().split()[1] in ("full", "pact")
        assert "Without begun: too few of the same problems" in said
        assert "Clear" not in said  # twelve problems
        names = [text.split()[0] for text in _column(page, "results-table", "arm")]
        best = dict(zip(names, _column(page, "results-table", "best"), strict=True))
        assert (best["begun"], best["dead"]) == ("\u2013", "\u2013")


def test_the_table_sorts_by_any_column_and_says_how(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        for key in ("score", "cost", "output", "best", "cut"):
            button = page.locator(f'#results-table [data-sort="{key}"]')
            button.click()
            head = page.locator(f'#results-table th:has([data-sort="{key}"])')
            first = _numbers(_column(page, "results-table", key))
            order = head.get_attribute("aria-sort")
            assert order in ("ascending", "descending")
            assert first == sorted(first, reverse=order == "descending")
            button.click()
            assert head.get_attribute("aria-sort") != order
            assert _numbers(_column(page, "results-table", key)) == first[::-1] or key == "cut"


def test_the_filter_narrows_table_and_charts(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        assert page.locator("#frontier .point").count() == 3
        page.locator("#filter").fill("strategy pact")
        assert page.locator("#results-table tbody tr").count() == 1
        assert page.locator("#frontier .point").count() == 1
        assert page.locator(".ledger-bar").count() == 1
        page.locator("#filter").fill("nothing like that")
        assert "No arm matches" in page.locator("#results-key").inner_text()


def test_an_unticked_arm_takes_no_part(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        assert "pact" in page.locator("#verdict .use").inner_text()
        page.get_by_label("pact takes part").uncheck()
        assert "pact" not in page.locator("#verdict .use").inner_text()
        assert page.locator("#results-table tbody tr").count() == 3


def test_it_tells_the_best_arm_of_a_budget(browser: Browser, file: Path, study: Path) -> None:
    rows = _rows(study)
    spent = [row["tokens_total"] for row in rows.values()]
    with opened(browser, file) as page:
        for budget in (*(round(tokens + 1) for tokens in spent), round(min(spent) - 1)):
            page.locator("#budget-number").fill(str(budget))
            within = [row for row in rows.values() if row["tokens_total"] <= budget]
            if not within:
                assert "No arm shown is that cheap" in page.locator("#verdict").inner_text()
                continue
            best = max(within, key=lambda row: row["score"])
            said = page.locator("#verdict").inner_text()
            assert page.locator("#verdict .use").inner_text().split() == ["Use", best["strategy"]]
            assert f"{100 * best['score']:.1f}%" in said
            assert f"{100 * best['score_low']:.1f}–{100 * best['score_high']:.1f}" in said
            assert re.search(r"Clear|Likely|Open|only arm", said)
            shares = _numbers(page.locator(".chances td.number").all_inner_texts())
            assert sum(shares) == pytest.approx(100, abs=3)


def test_the_slider_and_the_number_are_one(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        slider = page.locator("#slider")
        slider.focus()
        for _ in range(3):
            page.keyboard.press("PageUp")
        budget = float(page.locator("#budget-number").input_value())
        assert budget == pytest.approx(float(slider.input_value()), rel=0.01)
        assert f"{budget:,.0f}"[:3] in page.locator('[data-sort="best"]').inner_text()


def test_paired_numbers_are_those_of_another_bootstrap(
    browser: Browser, file: Path, study: Path
) -> None:
    held = {
        name: {row["problem"]: row for row in plain_rows(load(study / name).episodes)}
        for name in ("pact", "full")
    }
    pairs = [(row, held["full"][problem]) for problem, row in held["pact"].items()]
    gaps = np.array([one["f1"] - two["f1"] for one, two in pairs])
    drawn = np.random.default_rng(1).integers(0, len(gaps), (9999, len(gaps)))
    low, high = np.quantile(gaps[drawn].mean(axis=1), [0.025, 0.975])
    with opened(browser, file) as page:
        page.locator("#arm-a").select_option(label="pact")
        page.locator("#arm-b").select_option(label="full")
        said = page.locator("#paired").inner_text().replace("−", "-")
        found = re.search(r"A - B = (\S+) points \(95%: (\S+) to (\S+)\)", said)
        assert found is not None, said
        assert float(found[1]) == pytest.approx(100 * gaps.mean(), abs=0.06)
        assert float(found[2]) == pytest.approx(100 * low, abs=1.5)
        assert float(found[3]) == pytest.approx(100 * high, abs=1.5)
        one, two = (sum(pair[side]["tokens_total"] for pair in pairs) for side in (0, 1))
        ratio = one / two
        assert f"A costs {ratio:.2f} × B" in said
        assert f"A is better on {(gaps > 0).sum()}, worse on {(gaps < 0).sum()}" in said


def test_disputed_problems_come_first_and_open_their_transcript(
    browser: Browser, file: Path
) -> None:
    with opened(browser, file) as page:
        gaps = [abs(gap) for gap in _numbers(_column(page, "problem-table", "difference"))]
        assert gaps == sorted(gaps, reverse=True)
        first = page.locator("#problem-table [data-problem]").first
        name = first.inner_text()
        first.click()
        page.wait_for_selector("dialog[open]")
        assert name in page.locator("dialog").inner_text()
        assert page.locator(".cell-turn").count() == 8
        assert page.locator(".cell-turn[data-side=A] mark").count() == 3
        assert not page.locator(".thought").first.evaluate("fold => fold.open")
        page.get_by_role("button", name="unfold reasoning").click()
        assert page.locator(".thought").first.evaluate("fold => fold.open")
        assert "So the mill is there too" in page.locator("dialog").inner_text()


def test_arms_are_switched_inside_a_transcript(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        page.locator("#problem-table [data-problem]").first.click()
        page.wait_for_selector("dialog[open]")
        for arm in SIZES:
            page.locator("#side-B").select_option(label=arm)
            page.wait_for_function("arm => location.hash.includes(`b=${arm}`)", arg=arm)
            assert page.locator("#side-B option:checked").inner_text() == arm
        page.locator("#close").click()
        assert page.locator("#arm-b option:checked").inner_text() == list(SIZES)[-1]


def test_everything_can_be_done_by_keyboard(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        focused = "document.activeElement.{}"
        page.locator("#results-table [data-sort=score]").focus()
        page.keyboard.press("Enter")
        assert page.evaluate(focused.format("dataset.sort")) == "score"
        page.locator("#frontier .point").first.focus()
        assert not page.locator("#tip").is_hidden()
        arm = page.evaluate(focused.format("dataset.arm"))
        page.keyboard.press("Enter")
        assert page.locator("#arm-a").input_value() == arm
        page.locator("#problem-table [data-problem]").first.focus()
        page.keyboard.press("ArrowDown")
        name = page.evaluate(focused.format("innerText"))
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[open]")
        question = page.locator("dialog > header").inner_text
        assert name in question()
        page.keyboard.press("j")
        page.wait_for_function(
            "name => !document.querySelector('dialog').innerText.includes(name)", arg=name
        )
        page.keyboard.press("k")
        page.wait_for_function(
            "name => document.querySelector('dialog').innerText.includes(name)", arg=name
        )
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="hidden")
        assert page.evaluate(focused.format("innerText")) == name


def test_a_link_opens_its_transcript(browser: Browser, file: Path) -> None:
    with opened(browser, file, hash="#problem=0007&a=full&b=concise") as page:
        page.wait_for_selector("dialog[open]")
        assert "0007" in page.locator("dialog").inner_text()
        assert page.locator("#side-A option:checked").inner_text() == "full"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1360])
def test_it_fits_the_window_and_can_be_read(
    browser: Browser, file: Path, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 800}
    with opened(browser, file, viewport=size, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for text in ("body", ".soft", "#results-table button.link .arm", "svg .label"):
            assert _contrast(page, text) >= 4.5, text


def _contrast(page: Page, selector: str) -> float:
    """Contrast of a text with the page, as WCAG counts it."""
    return float(
        page.evaluate(
            """selector => {
              const style = getComputedStyle(document.querySelector(selector));
              const text = selector.startsWith("svg") ? style.fill : style.color;
              const back = getComputedStyle(document.body).backgroundColor;
              const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3)
                .map((part) => part / 255)
                .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
                .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
              const [one, two] = [light(text), light(back)].sort((a, b) => b - a);
              return (one + 0.05) / (two + 0.05);
            }""",
            selector,
        )
    )


def test_text_of_models_and_data_sets_never_runs(browser: Browser, tmp_path: Path) -> None:
    spoken = dataclasses.replace(call(visible=HOSTILE, flags=(HOSTILE,)), reasoning=HOSTILE)
    last = conversation(turns=2)[1:]
    for name in ("full", "<img src=x onerror=window.pwned=1>"):
        record = episode(
            HOSTILE,
            question=HOSTILE,
            answers=(HOSTILE,),
            kind=HOSTILE,
            options=(HOSTILE,),
            segments=(
                ("system", "system", HOSTILE + "\n", None),
                ("question", "user", HOSTILE + "\n", None),
            ),
            turns=(turn(0, spoken, title=HOSTILE), *last),
        )
        write_arm(tmp_path / "s", name, [record, failed("p2")], strategy=name, model=HOSTILE)
    with opened(browser, _write(tmp_path / "s")) as page:
        assert HOSTILE[:30] in page.locator("#problem-table").inner_text()
        page.locator("#problem-table [data-problem]").first.click()
        page.wait_for_selector("dialog[open]")
        for fold in page.locator("dialog details").all():
            fold.evaluate("fold => { fold.open = true; }")
        said = page.locator("dialog").inner_text()
        assert said.count("window.pwned=1</script>") > 6
        page.locator("#frontier .point").first.focus()
        page.wait_for_timeout(200)
        assert page.evaluate("window.pwned") is None
        assert page.evaluate("document.querySelectorAll('img, iframe, object').length") == 0


def test_even_markup_that_got_in_would_not_run(browser: Browser, file: Path) -> None:
    """The content policy stands behind the code: a script it does not name is refused."""
    page = browser.new_page()
    page.goto(file.resolve().as_uri())
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.pwned = 1";
          document.body.append(script);
          document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.pwned = 1'>");
        }"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None
    page.close()


def test_several_samples_models_and_failures(browser: Browser, tmp_path: Path) -> None:
    for model in ("small", "large"):
        for name in ("full", "pact"):
            records = sample_episodes(name, 5, samples=3)
            records += [failed("0009", "ContextOverflow", sample=sample) for sample in range(3)]
            arm = f"{name}-{model}"
            write_arm(tmp_path / "s", arm, records, samples=3, model=model, strategy=name)
    with opened(browser, _write(tmp_path / "s")) as page:
        assert page.locator("#facet option").count() == 2
        page.locator("#facet").select_option(index=1)
        assert page.locator("#results-table tbody tr").count() == 2
        assert page.locator('#results-table [data-sort="errors"]').count() == 1
        page.locator("#problem-filter").fill("0003")
        page.locator("#problem-table [data-problem]").click()
        page.wait_for_selector("dialog[open]")
        page.locator("#sample").select_option("2")
        page.wait_for_function("location.hash.includes('sample=2')")
        page.keyboard.press("Escape")
        page.locator("#problem-filter").fill("0009")
        page.locator("#problem-table [data-problem]").click()
        page.wait_for_selector("dialog[open]")
        assert "ContextOverflow" in page.locator("dialog").inner_text()


def test_costs_are_what_the_table_says(browser: Browser, file: Path, study: Path) -> None:
    rows = _rows(study)
    columns = {"output": "tokens_output", "uncached": "tokens_uncached"}
    with opened(browser, file) as page:
        for cost, column in columns.items():
            page.locator("#cost").select_option(cost)
            page.locator('#results-table [data-sort="cost"]').click()
            names = page.locator("#results-table tbody .arm").all_inner_texts()
            shown = _numbers(_column(page, "results-table", "cost"))
            for name, value in zip(names, shown, strict=True):
                assert value == pytest.approx(rows[name][column], abs=0.51)
        page.locator("#cost").select_option("weighted")
        page.locator("#weight-prompt").fill("0")
        page.locator("#weight-cached").fill("0")
        page.locator("#weight-output").fill("1")
        shown = _numbers(_column(page, "results-table", "cost"))
        assert sorted(shown) == pytest.approx(
            sorted(row["tokens_output"] for row in rows.values()), abs=0.51
        )


@pytest.mark.parametrize("kind", ["no arm", "one arm", "no episode", "one problem", "no number"])
def test_an_odd_study_is_still_a_page(browser: Browser, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "s"
    if kind == "no arm":
        (folder / "full").mkdir(parents=True)
        (folder / "full" / "episodes.jsonl").write_text("{}\n")
    elif kind == "one arm":
        write_arm(folder, "full", sample_episodes("full", 4))
    elif kind == "no episode":
        write_arm(folder, "full", [], problems=4)
        write_arm(folder, "pact", sample_episodes("pact", 4))
    elif kind == "one problem":
        for name in ("full", "pact"):
            write_arm(folder, name, [episode("p1")])
    else:
        nothing = {"em": 1.0, "f1": float("nan"), "f1_squad": 1.0}
        write_arm(folder, "full", [episode("p1", metrics=nothing), episode("p2")])
        write_arm(folder, "pact", sample_episodes("pact", 4))
    with opened(browser, _write(folder)) as page:
        assert page.locator("#notes li").count() > 0
        assert page.locator("#broken").is_hidden()
        assert not re.search(r"NaN|undefined|null|Infinity", page.locator("body").inner_text())


def test_different_problems_are_said(browser: Browser, tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 4))
    write_arm(tmp_path / "s", "pact", sample_episodes("pact", 9))
    with opened(browser, _write(tmp_path / "s")) as page:
        assert "of the 4 problems" in page.locator("#verdict").inner_text()
        assert re.search(r"Left out: \d that only A", page.locator("#paired").inner_text())


def test_transcripts_that_did_not_fit_are_said(browser: Browser, tmp_path: Path) -> None:
    for name in ("full", "pact"):
        write_arm(tmp_path / "s", name, sample_episodes(name, 10))
    frames = load(tmp_path / "s")
    file = tmp_path / "page.html"
    file.write_text(made("s", frames, results(frames), (), most_episodes=8), encoding="utf-8")
    with opened(browser, file) as page:
        assert "Transcripts of 4 of 10 problems" in page.locator("#problem-count").inner_text()
        assert page.locator("#problem-table [data-problem]").count() == 4
        assert page.locator("#problem-table tbody tr").count() == 10


def test_a_thousand_scripted_episodes_are_a_small_page(browser: Browser, tmp_path: Path) -> None:
    sweep = "strategy=full,concise,conclusion,artifact,pact"
    ran = parley("run", "-m", *FAST, sweep, "study=big", "limit=200", at=tmp_path)
    assert ran.code == 0, ran.said
    file = _write(tmp_path / "outputs" / "big")
    assert file.stat().st_size < 20_000_000
    with opened(browser, file) as page:
        assert "1,000 episodes" in page.locator("#settings").inner_text()
        page.locator("#problem-table [data-problem]").first.click()
        page.wait_for_selector("dialog[open]")
        assert page.locator(".cell-turn").count() == 8
