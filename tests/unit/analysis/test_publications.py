"""The data files of published figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from parley.analysis.publications import Published, publication, shipped
from parley.errors import ConfigError

PAPER = publication("paper")


def _one(**wanted: str) -> Published:
    found = [
        row
        for row in PAPER.rows
        if all(getattr(row, name) == value for name, value in wanted.items())
    ]
    assert len(found) == 1
    return found[0]


def test_every_row_says_what_whence_and_how_sure() -> None:
    assert shipped() == ["paper"]
    assert len(
        {(row.table, row.method, row.benchmark, row.model, row.note) for row in PAPER.rows}
    ) == (len(PAPER.rows))
    for row in PAPER.rows:
        assert row.table
        assert row.source
        assert row.method
        assert row.values
        assert set(row.confidence) == set(row.units) == set(row.values)
        assert set(row.confidence.values()) <= set(PAPER.confidence) == set("ABCD")
        # What can be matched says what it is a figure of.
        assert not row.topology or (row.benchmark and row.model)


def test_scores_are_percentages_and_tokens_are_counts() -> None:
    for row in PAPER.rows:
        for name in ("em", "f1_squad", "accuracy"):
            # Each is given as published: whole percents or tenths, never a share.
            assert row.values.get(name, 50) > 1
            assert row.values.get(name, 50) <= 100
        for name in ("tokens_total", "tokens_output"):
            assert row.values.get(name, 1000) > 100


def test_known_figures() -> None:
    result = _one(table="PACT, Table 3", method="PACT, Result")
    assert result.values == {"f1_squad": 64.3, "tokens_total": 7571}
    assert result.confidence == {"f1_squad": "A", "tokens_total": "B"}
    assert result.settings == {"strategy.fields": ["Result"]}
    assert result.conditions["answer"] == "none"
    whole = _one(table="PACT, Table 3", method="PACT, Action+State+Result")
    change = _one(method="PACT with Result alone against all its fields").values["tokens_change"]
    ratio = result.values["tokens_total"] / whole.values["tokens_total"]
    assert 100 * (ratio - 1) == pytest.approx(change, abs=0.05)
    textmas = _one(
        table="LatentMAS, sequential", method="TextMAS", benchmark="aime2025", model="qwen3-14b"
    )
    assert textmas.values == {"accuracy": 60.0, "tokens_output": 44618}
    assert textmas.conditions["sampling.max_tokens"] == 20000
    assert (textmas.topology, textmas.strategy) == ("pipeline", "full")
    headline = _one(method="PACT against its baselines, mean over baselines and scales")
    assert headline.values == {"tokens_change": -38.7}
    short = _one(method="PACT with short answers, rows 0-49")
    assert (short.conditions["answer"], short.conditions["problems"]) == ("short", 50)
    assert short.values == {"em": 68, "f1_squad": 79.2, "tokens_output": 322, "tokens_total": 4811}
    swe = _one(method="SWE-agent with PACT").values
    assert swe["tokens_input"] / 121 == pytest.approx(swe["tokens_resolved"], abs=0.02)


HEAD = """\
units: {em: '%'}
confidence: {A: sure}
tables:
- name: t
  source: s
  confidence: A
"""


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "[]",
        "a: [",
        "tables: 3",
        HEAD,
        f"{HEAD}  rows: [{{method: m, valeus: {{em: 1}}}}]",
        f"{HEAD}  rows: [{{method: m, topolgy: x, values: {{em: 1}}}}]",
        f"{HEAD}  rows: [{{method: m, values: {{em: high}}}}]",
        f"{HEAD}  rows: [{{method: m, values: {{unitless: 1}}}}]",
    ],
)
def test_an_unusable_file_is_a_clear_error(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "mine.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=r"(?s)--against .*\n  allowed: paper, or"):
        publication(str(path))


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"{HEAD}"
        "  shared: {benchmark: b, settings: {strategy.fields: [x]}, conditions: {shots: 0}}\n"
        "  rows:\n  - {method: m, conditions: {answer: none}, values: {em: 1.5}}\n"
    )
    row = publication(str(path)).rows[0]
    assert (row.benchmark, row.values) == ("b", {"em": 1.5})
    assert row.conditions == {"shots": 0, "answer": "none"}
