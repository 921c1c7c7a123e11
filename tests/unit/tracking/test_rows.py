from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from parley.redaction import REDACTED
from parley.tracking.rows import (
    BY_TOKENS,
    CHARTED,
    COLUMNS,
    SPENT,
    STEP,
    Progress,
    run_config,
    run_id,
    summary,
    table_line,
)
from tracking_cases import SECRET, episode, manifest


def record(problem: str, f1: float | None) -> dict[str, Any]:
    return asdict(episode("arm", problem, f1))


def progress() -> Progress:
    return Progress(metric="f1", metrics=("em", "f1"))


def test_a_run_id_depends_on_study_and_arm_and_suits_wandb() -> None:
    ids = {run_id("a", "b"), run_id("a", "c"), run_id("c", "b"), run_id("ab", "")}
    assert len(ids) == 4
    assert run_id("a", "b") == run_id("a", "b")
    assert all(one.isalnum() and len(one) <= 64 for one in ids)


def test_a_config_is_flat_with_choices_on_top_and_no_secret_in_it() -> None:
    config = run_config(manifest("arm-pact", "pact"))
    assert config["strategy"] == "pact"
    assert config["benchmark"] == "fictional"
    assert config["identity/sampling/temperature"] == 0.6
    assert config["identity/engine/api_key"] == REDACTED
    assert SECRET not in str(config)
    assert not any(isinstance(value, dict) or "." in key for key, value in config.items())


def test_any_nested_mapping_makes_a_config() -> None:
    config = run_config({"seats": [{"name": "a"}, {"name": "b"}], "fields": ["x"], "t": "y" * 9999})
    assert config == {"seats/0/name": "a", "seats/1/name": "b", "fields": ["x"], "t": "y" * 1000}


def test_each_episode_charts_its_numbers_and_the_means_so_far() -> None:
    arm = progress()
    first, second = arm.add(record("p0", 1.0)), arm.add(record("p1", 0.5))
    assert (first[STEP], second[STEP]) == (1, 2)
    each = [second[f"episode/{name}"] for name in ("f1", "em", "score", "tokens_total")]
    assert each == [0.5, 0.0, 0.5, 215]
    running = [second[f"running/{name}"] for name in ("f1", "em", "score", "tokens")]
    assert running == [0.75, 0.5, 0.75, 215]
    assert (second[SPENT], second[BY_TOKENS]) == (430, 0.75)
    assert all(isinstance(value, int | float) for value in second.values())


def test_a_failed_episode_counts_as_zero_until_it_is_repeated() -> None:
    arm = progress()
    arm.add(record("p0", 1.0))
    failed = arm.add(record("p1", None))
    assert (failed["episode/failed"], failed["episode/f1"], failed["running/f1"]) == (1, 0, 0.5)
    repeated = arm.add(record("p1", 0.5))
    assert (repeated[STEP], repeated["running/f1"]) == (3, 0.75)
    assert (repeated["running/tokens"], repeated[SPENT]) == (215, 430)


def test_a_metric_that_is_no_number_is_left_out_of_the_means() -> None:
    arm = progress()
    odd = record("p0", 1.0)
    odd["score"]["metrics"]["f1"] = None
    charted = arm.add(odd)
    assert {"episode/f1", "running/f1", "running/score", BY_TOKENS} & set(charted) == set()
    assert arm.add(record("p1", 0.5))["running/f1"] == 0.5


def test_arms_share_the_names_of_their_summaries() -> None:
    arm = progress()
    rows = [("p0", arm.row(record("p0", 1.0))[1]), ("p1", arm.row(record("p1", 0.5))[1])]
    found = summary(rows, arm.metrics)
    assert {"score", "score/f1", "score/em", *CHARTED} <= set(found)
    assert (found["score"], found["score/f1"], found["score/em"]) == (0.75, 0.75, 0.5)
    assert (found["tokens/total"], found["tokens/prompt"]) == (215, 200)
    assert (found["tokens/completion"], found["tokens/published"]) == (15, 15)
    assert (found["messages/ok"], found["truncated"]) == (1, 0)
    assert (found["n"], found["recorded"], found["errors"]) == (2, 2, 0)


def test_samples_of_a_problem_are_averaged_first_and_a_failure_counts() -> None:
    arm = progress()
    scores = (("p0", 1.0), ("p0", 0.0), ("p0", 0.5), ("p1", 1.0), ("p1", None))
    found = summary([(name, arm.row(record(name, f1))[1]) for name, f1 in scores], arm.metrics)
    assert (found["score"], found["n"], found["recorded"], found["errors"]) == (0.5, 2, 5, 1)
    assert found["messages/ok"] == 1


def test_no_episode_makes_no_mean() -> None:
    assert summary([], ("f1",)) == {"n": 0, "recorded": 0, "errors": 0}


@pytest.mark.parametrize(
    ("f1", "score", "status"), [(0.5, 0.5, "ok"), (None, 0.0, "TransportError")]
)
def test_a_line_of_the_table_reads_like_the_episode(
    f1: float | None, score: float, status: str
) -> None:
    row, values = progress().row(record("p0", f1))
    line = dict(zip(COLUMNS, table_line(record("p0", f1), row, values), strict=True))
    assert (line["problem"], line["question"], line["gold"]) == (
        "p0",
        "Where is p0?",
        "Lyon | Lyons",
    )
    assert (line["score"], line["status"]) == (score, status)
    if f1 is not None:
        assert line["messages"] == "Agent A: The museum is in Lyon.\n\nAgent B: Answer: Lyon"
        assert (line["extracted"], line["tokens"]) == ("Lyon", 215)
