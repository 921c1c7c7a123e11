"""Tables of tokens sum to what the results say."""

from __future__ import annotations

from pathlib import Path

import pytest

from parley.analysis import token_tables
from parley.analysis.opening import open_study
from records import sample_episodes, write_arm


def test_parts_turns_edges_and_cache(tmp_path: Path) -> None:
    for name, size in (("full", 2.0), ("pact", 1.0)):
        write_arm(tmp_path / "s", name, sample_episodes(name, 5, size=size))
    write_arm(tmp_path / "s", "begun", [], problems=5)
    study = open_study(tmp_path / "s")
    row = study.rows[study.names.index("full")]
    parts = token_tables.parts(study.rows)
    assert list(parts.index) == ["pact", "full"]
    assert parts.loc["full"].drop(["tokens", "read"]).sum() == pytest.approx(1)
    assert parts.loc["full", "read"] == pytest.approx(row["tokens_prompt"] / row["tokens_total"])
    turns = token_tables.turns(study.records("full"))
    assert list(turns.index) == [0, 1, 2, 3]
    assert turns["tokens"].sum() == pytest.approx(row["tokens_total"], abs=2)
    edges = token_tables.edges(study.rows, study.flows)
    assert edges.loc["full"].sum() == pytest.approx(row["tokens_reread"])
    cache = token_tables.caching(study.rows, study.flows)
    assert cache.loc["full", "prompt"] == round(row["tokens_prompt"])
    share = row["tokens_cached"] / row["tokens_prompt"]
    assert cache.loc["full", "served"] == pytest.approx(share)
    assert (cache["could have been"] >= cache["served"]).all()


def test_tables_of_nothing_are_empty() -> None:
    assert token_tables.parts([]).empty
    assert token_tables.caching([], []).empty
    assert token_tables.edges([], []).empty
    assert token_tables.turns([]).empty
