"""The results table and its three forms."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

from parley.analysis.frames import load, plain_rows
from parley.analysis.tables import results, to_csv, to_markdown
from parley.analysis.terminal import to_rich
from parley.metrics import FATES, PARTS
from parley.types import Answer, Episode, Score
from records import call, conversation, episode, failed, sample_episodes, turn, write_arm

REQUIRED = {
    *("study", "arm", "benchmark", "topology", "strategy", "model", "n", "errors"),
    *("em", "f1", "accuracy", "tokens_total", "tokens_prompt", "tokens_completion"),
    *("tokens_cached", "tokens_reasoning", "tokens_published", "tokens_reread"),
    *("messages_ok", "truncated"),
}


def _table(path: Path) -> pd.DataFrame:
    return results(load(path))


def _printed(table: pd.DataFrame, width: int = 120) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(to_rich(table, width=width))
    return console.export_text()


def test_one_row_per_arm_cheapest_first(tmp_path: Path) -> None:
    for name, size in (("full", 6.0), ("concise", 1.0), ("pact", 2.0)):
        write_arm(tmp_path / "s", name, sample_episodes(name, 5, size=size))
    table = _table(tmp_path)
    assert table["strategy"].tolist() == ["concise", "pact", "full"]
    assert set(table.columns) >= REQUIRED
    assert table["n"].tolist() == [5, 5, 5]


def test_parts_sum_to_the_totals(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 5))
    row = _table(tmp_path).iloc[0]
    assert math.fsum(row[f"tokens_{p}"] for p in PARTS) == pytest.approx(row["tokens_prompt"])
    assert math.fsum(row[f"tokens_{f}"] for f in FATES) == pytest.approx(row["tokens_completion"])
    both = row["tokens_prompt"] + row["tokens_completion"]
    assert row["tokens_total"] == pytest.approx(both)


def test_errors_stay_in_the_denominator(tmp_path: Path) -> None:
    scores = [("p1", s, {"em": 1.0, "f1": 1.0}) for s in (0, 2, 3)]
    scores += [("p2", s, {"em": 0.0, "f1": 0.0}) for s in range(4)]
    episodes = [episode(problem, sample=s, metrics=metrics) for problem, s, metrics in scores]
    broken = failed("p1", sample=1)
    write_arm(tmp_path / "s", "full", [*episodes, broken], samples=4, metric="em")
    row = _table(tmp_path).iloc[0]
    assert (row["n"], row["episodes"], row["errors"], row["missing"]) == (2, 8, 1, 0)
    assert row["em"] == row["score"] == 0.375
    assert row["score_completed"] == 0.5


def test_what_is_missing_is_in_no_mean(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", [episode("p1")], problems=4)
    row = _table(tmp_path).iloc[0]
    assert (row["n"], row["missing"], row["f1"]) == (1, 3, 1.0)
    assert math.isnan(row["score_low"])


def test_a_metric_without_a_number_empties_the_mean(tmp_path: Path) -> None:
    scores: list[float] = [1.0, float("nan"), 1.0]
    episodes = [episode(f"p{i}", metrics={"em": 1.0, "f1": f1}) for i, f1 in enumerate(scores)]
    write_arm(tmp_path / "s", "full", episodes)
    row = _table(tmp_path).iloc[0]
    assert math.isnan(row["f1"])
    assert row["em"] == 1.0
    assert (row["unscored"], row["front"]) == (1, False)


def test_metrics_a_benchmark_lacks_are_empty(tmp_path: Path) -> None:
    right = [episode(f"p{i}", metrics={"accuracy": 1.0}) for i in range(3)]
    write_arm(tmp_path / "s", "math", right, metrics=("accuracy",), metric="accuracy")
    write_arm(tmp_path / "s", "qa", sample_episodes("qa", 3), benchmark="hotpotqa")
    qa, maths = sorted(plain_rows(_table(tmp_path)), key=lambda row: row["arm"] == "math")
    assert (maths["accuracy"], maths["em"], qa["accuracy"]) == (1.0, None, None)


def test_front_is_within_a_benchmark_and_model(tmp_path: Path) -> None:
    for model, score in (("8b", 0.2), ("14b", 0.9)):
        for name, size in (("cheap", 1.0), ("dear", 9.0)):
            one = {"em": score, "f1": score}
            made = [episode(f"p{i}", metrics=one, turns=conversation(size=size)) for i in range(3)]
            write_arm(tmp_path / "s", f"{name}-{model}", made, strategy=name, model=model)
    table = _table(tmp_path).set_index("arm")
    assert table["front"].to_dict() == {
        "cheap-8b": True,
        "cheap-14b": True,
        "dear-8b": False,
        "dear-14b": False,
    }


def test_shares_of_messages_and_episodes(tmp_path: Path) -> None:
    cut = episode("p1", turns=(turn(0, call(finish="length"), status="truncated"),))
    overflow = failed("p2", "ContextOverflow")
    fine = episode("p3", turns=(turn(0, call()), turn(1, call()), turn(2, call())))
    write_arm(tmp_path / "s", "full", [cut, overflow, fine])
    row = _table(tmp_path).iloc[0]
    assert row["messages_ok"] == 0.75
    assert row["messages_truncated"] == 0.25
    assert row["truncated"] == row["overflow"] == pytest.approx(1 / 3)


def test_csv_reads_back(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 4), shots=0)
    write_arm(tmp_path / "s", "empty", [], problems=4)
    text = to_csv(_table(tmp_path))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["arm"] for row in rows] == ["full", "empty"]
    assert rows[0]["shots"] == "0"
    assert rows[1]["f1"] == rows[1]["tokens_total"] == ""
    assert rows[1]["missing"] == "4"
    assert "nan" not in text.lower()


def test_markdown_escapes_what_would_break_a_row(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 2), answer="a|b\nc")
    lines = to_markdown(_table(tmp_path), ["arm", "answer", "n", "f1"]).splitlines()
    assert lines[0] == "| arm | answer | n | f1 |"
    assert lines[1] == "| --- | --- | ---: | ---: |"
    assert lines[2].startswith("| full | a\\|b c | 2 | 0.")


def test_terminal_table_fits_and_says_its_settings(tmp_path: Path) -> None:
    names = ("full", "concise", "conclusion", "summary", "artifact", "pact")
    for name in names:
        made = sample_episodes(name, 6, size=30, score=0.9)
        worst = [failed(f"e{i}") for i in range(12)]
        write_arm(tmp_path / "s", name, [*made, *worst], problems=2000)
    text = _printed(_table(tmp_path))
    assert all(len(line.rstrip()) <= 120 for line in text.splitlines())
    assert "…" not in text
    for word in ("shots 2", "answer short", "model smollm2-135m", "95% bootstrap over problems"):
        assert word in text
    for name in names:
        assert sum(name in line.split() for line in text.splitlines()) == 2


def test_terminal_table_groups_by_benchmark_and_model(tmp_path: Path) -> None:
    for model in ("8b", "14b"):
        for name in ("full", "pact"):
            made = sample_episodes(name, 3)
            write_arm(tmp_path / "s", f"{name}-{model}", made, strategy=name, model=model)
    lines = [line.strip() for line in _printed(_table(tmp_path)).splitlines()]
    assert lines.index("8b") < lines.index("14b")
    assert sum(line.split()[:1] == ["full"] or line.startswith("● full") for line in lines) == 2


@pytest.mark.parametrize("arms", [0, 1])
def test_a_study_without_finished_episodes_has_a_table(tmp_path: Path, arms: int) -> None:
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "config.yaml").write_text("a: 1\n")
    for index in range(arms):
        write_arm(tmp_path, f"a{index}", [], problems=3)
    table = _table(tmp_path)
    assert len(table) == arms
    assert to_csv(table).startswith("study,arm,")
    assert to_markdown(table).startswith("| study | arm |")
    assert "Pareto" in _printed(table)


def test_a_markup_like_name_stays_text(tmp_path: Path) -> None:
    write_arm(tmp_path / "s", "full", sample_episodes("full", 2), strategy="[red]x[/red]")
    assert plain_rows(_table(tmp_path))[0]["strategy"] == "[red]x[/red]"
    assert "[red]x[/red]" in _printed(_table(tmp_path))


def _sampled(problem: str, answers: str, **changes: Any) -> list[Episode]:
    """An episode per letter, of which B is right; "!" is one that failed, " " none at all."""
    return [
        failed(problem, sample=sample)
        if letter == "!"
        else episode(
            problem,
            sample=sample,
            metrics={"accuracy": float(letter == "B")},
            answer=Answer(text=f"Answer: {letter}", turn=3),
            score=Score(metrics={"accuracy": float(letter == "B")}, extracted=letter),
            **changes,
        )
        for sample, letter in enumerate(answers)
        if letter != " "
    ]


def test_samples_become_avg_pass_and_majority(tmp_path: Path) -> None:
    made = [*_sampled("p1", "BBA!"), *_sampled("p2", "AAAB"), *_sampled("p3", "B A ")]
    accuracy: dict[str, Any] = {"metrics": ("accuracy",), "metric": "accuracy"}
    write_arm(tmp_path / "s", "a", made, samples=4, problems=4, **accuracy)
    write_arm(tmp_path / "s", "b", _sampled("p1", "B"), **accuracy)
    several, one = sorted(plain_rows(_table(tmp_path)), key=lambda row: row["arm"])
    # p3 lacks two samples, p1 one; none of p4 was made.
    assert (several["samples"], several["samples_missing"], several["missing"]) == (4, 7, 6)
    assert several["avg@k"] == pytest.approx((2 / 4 + 1 / 4 + 1 / 4) / 3)
    assert several["pass@k"] == 1
    assert several["majority@k"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert several["accuracy"] == pytest.approx((2 / 4 + 1 / 4 + 1 / 2) / 3)
    assert (one["samples"], one["avg@k"], one["samples_missing"]) == (1, None, 0)
    printed = _printed(_table(tmp_path), 160)
    for title in ("avg@4", "pass@4", "maj.@4", "lost", "trunc."):
        assert title in printed


def test_a_sample_without_a_number_empties_its_means(tmp_path: Path) -> None:
    wrong = {"accuracy": float("nan")}
    made = [episode("p1", sample=sample, metrics=wrong) for sample in range(2)]
    write_arm(tmp_path / "s", "a", made, samples=2, metrics=("accuracy",), metric="accuracy")
    row = plain_rows(_table(tmp_path))[0]
    assert (row["avg@k"], row["pass@k"], row["majority@k"]) == (None, None, None)


def test_more_samples_than_planned_change_nothing(tmp_path: Path) -> None:
    accuracy: dict[str, Any] = {"metrics": ("accuracy",), "metric": "accuracy"}
    write_arm(tmp_path / "s", "a", _sampled("p1", "BABBBB"), samples=2, **accuracy)
    row = plain_rows(_table(tmp_path))[0]
    assert (row["avg@k"], row["pass@k"], row["majority@k"]) == (0.5, 1, 0.5)


def test_how_answers_were_read_is_in_every_form(tmp_path: Path) -> None:
    statuses = ("ok", "multi_box", "no_answer", "a_word_of_its_own")
    right = {"em": 1.0, "f1": 1.0}
    made = [
        episode(f"p{i}", score=Score(metrics=right, extracted="x", status=status))
        for i, status in enumerate(statuses)
    ]
    write_arm(tmp_path / "s", "a", [*made, failed("p9")])
    table = _table(tmp_path)
    row = plain_rows(table)[0]
    names = ("answers_ok", "answers_multi_box", "no_answer", "answers_a_word_of_its_own")
    assert [row[name] for name in (*names, "answers_failed")] == [0.2] * 5
    assert row["answers_option_text"] == 0
    for text in (to_csv(table), to_markdown(table)):
        assert all(name in text for name in (*names, "truncated"))
    printed = " ".join(_printed(table, 200).split())
    for words in ("20% multi box", "20% no answer", "20% a word of its own", "20% failed"):
        assert words in printed


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_a_narrow_terminal_gets_several_tables_and_whole_names(tmp_path: Path, width: int) -> None:
    for name in ("full", "conclusion"):
        made = sample_episodes(name, 3, samples=2, size=30)
        write_arm(tmp_path / "s", name, [*made, failed("e")], problems=2000, samples=2)
    text = _printed(_table(tmp_path), width)
    tables = sum(line.startswith("arm ") for line in text.splitlines())
    assert (tables == 1) == (width == 160)
    assert sum("conclusion" in line.split() for line in text.splitlines()) == tables
    assert text.count("trunc.") == tables
    assert "…" not in text
    for title in ("tokens", "avg@2", "reread", "other", "messages", "answers", "miss"):
        assert title in text
