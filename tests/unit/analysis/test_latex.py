"""A table for a paper: it compiles in the mind, and says what the records say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from parley.analysis.comparing import compare_study
from parley.analysis.frames import load
from parley.analysis.latex import escaped, to_latex
from parley.analysis.placed import place
from parley.analysis.tables import results
from records import sample_episodes, write_arm


def _latex(path: Path) -> str:
    frames = load(path)
    return to_latex(place(frames, results(frames)), compare_study(frames))


def _study(path: Path, models: tuple[str, ...] = ("8b",)) -> Path:
    for model in models:
        for index, name in enumerate(("full", "pact", "a_b")):
            made = sample_episodes(name + model, 9, score=0.2 + 0.2 * index, size=3 - index)
            write_arm(path / "s", f"{name}-{model}", made, strategy=name, model=model)
    return path / "s"


@pytest.mark.parametrize("models", [("8b",), ("8b", "14b")])
def test_the_table_is_whole(tmp_path: Path, models: tuple[str, ...]) -> None:
    text = _latex(_study(tmp_path, models))
    for rule in ("toprule", "midrule", "bottomrule"):
        assert f"\\{rule}" in text
    body = text.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    rows = [row for row in body.splitlines() if "&" in row]
    assert len(rows) == 1 + 3 * len(models)
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {7}
    assert all(row.endswith(r"\\") for row in rows)
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert re.findall(r"\\begin{(\w+)}", text) == re.findall(r"\\end{(\w+)}", text)[::-1]
    assert text.count(r"\multicolumn{8}") == (len(models) if len(models) > 1 else 0)


def test_the_best_and_the_cheapest_are_bold(tmp_path: Path) -> None:
    frames = load(_study(tmp_path))
    table = results(frames)
    best, least = table["score"].max(), table["tokens_total"].min()
    text = to_latex(place(frames, table), compare_study(frames))
    bold = re.findall(r"\\textbf{([^}]*)}", text)
    assert sorted(bold) == sorted([f"{100 * best:.1f}", f"{least:,.0f}"])


def test_the_caption_says_what_is_compared(tmp_path: Path) -> None:
    text = _latex(_study(tmp_path, ("8b", "14b")))
    assert "share of the cost of full (ratio of means)" in text
    assert "Holm-corrected for 4 comparisons" in text
    assert "$n = 9$" in text
    assert "a\\_b" in text


def test_arms_without_numbers_have_dashes(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 4))
    write_arm(tmp_path / "s", "empty", [], problems=4)
    text = _latex(tmp_path)
    assert "empty & -- & -- & -- & -- & -- & -- & --" in text
    assert "nan" not in text.lower()


def test_signs_of_latex_are_printed_as_they_are() -> None:
    assert escaped("a_b 5% & {x} ~ \\y^2") == (
        r"a\_b 5\% \& \{x\} \textasciitilde{} \textbackslash{}y\textasciicircum{}2"
    )
