"""A table for a paper: it says what the records say, and compiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from parley.analysis.comparing import compare_study
from parley.analysis.frames import load
from parley.analysis.latex import to_latex
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


def _compiled(folder: Path, table: str, *, fits: bool = True) -> str:
    """The text of the document that takes in the table with what its first line asks for."""
    needs = re.search(r"The preamble needs: (.*)", table)
    assert needs is not None
    (folder / "results.tex").write_text(table, encoding="utf-8")
    document = [r"\documentclass{article}", needs[1], r"\begin{document}"]
    document += [r"\input{results}", r"\end{document}"]
    (folder / "paper.tex").write_text("\n".join(document), encoding="utf-8")
    program = ("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper")
    done = subprocess.run(program, cwd=folder, capture_output=True, check=False, timeout=120)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-2000:]
    assert not fits or "Overfull" not in said
    if not shutil.which("pdftotext"):
        return ""
    text = subprocess.run(
        ("pdftotext", "-layout", "paper.pdf", "-"), cwd=folder, capture_output=True, check=True
    )
    return text.stdout.decode()


ODD = ("a_b & 5% {x}", "c#d $e$ ~f^g", "back\\slash", "[x]*", "naïve – λ→β", "日本語 🙂", "-- ?`")


@pytest.mark.slow
@pytest.mark.skipif(
    not shutil.which("pdflatex"), reason="no pdflatex: texlive-latex-recommended brings one"
)
def test_pdflatex_prints_the_names_as_they_are(tmp_path: Path) -> None:
    for benchmark in ("hotpotqa", "gpqa & more_100%"):
        for index, name in enumerate(ODD):
            made = sample_episodes(f"{name}{benchmark}", 6, score=0.1 * index)
            arm = f"{benchmark[:4]}{index}"
            choices: dict[str, Any] = {
                "strategy": name,
                "model": "org/m_x#2",
                "benchmark": benchmark,
            }
            write_arm(tmp_path / "s & 50%_#", arm, made, **choices)
    text = _compiled(tmp_path, _latex(tmp_path / "s & 50%_#"), fits=False)
    if text:
        for one in ("& 5% {x}", "c#d $e$", "back\\slash", "[x]*", "λ→β", "U+65E5", "-- ?"):
            assert one in text, text
        assert "gpqa & more" in text  # an underscore is a rule, which is no text


@pytest.mark.slow
@pytest.mark.skipif(
    not shutil.which("pdflatex"), reason="no pdflatex: texlive-latex-recommended brings one"
)
def test_pdflatex_takes_the_committed_study_and_arms_without_numbers(tmp_path: Path) -> None:
    demo = Path(__file__).resolve().parents[3] / "notebooks" / "study" / "demo"
    text = _compiled(tmp_path, _latex(demo))
    assert "conclusion" in text or not text
    write_arm(tmp_path / "s", "full", [], problems=4)
    _compiled(tmp_path, _latex(tmp_path / "s"))
