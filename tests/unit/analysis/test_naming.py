"""Labels that tell arms apart."""

from __future__ import annotations

import math
from typing import Any

import pytest

from parley.analysis.naming import by_size, facets, parameters, settings, shortest


def _arm(**changes: Any) -> dict[str, Any]:
    plain = {"strategy": "pact", "model": "m", "benchmark": "b", "seed": 42, "shots": 2}
    return {**plain, "fingerprint": "00000000", **changes}


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        ([{"strategy": "full"}, {"strategy": "pact"}], ["full", "pact"]),
        ([{"strategy": "full", "seed": 1}, {"seed": 2}], ["full", "pact"]),
        ([{"seed": 1}, {"seed": 2}], ["seed 1", "seed 2"]),
        ([{"model": "8b"}, {"model": "14b"}], ["8b", "14b"]),
        ([{"label": "pact"}, {"label": "pact[state]"}], ["pact", "pact[state]"]),
        (
            [
                {"strategy": "full", "seed": 1},
                {"strategy": "full", "seed": 2},
                {"seed": 1},
                {"seed": 2},
            ],
            ["full · seed 1", "full · seed 2", "pact · seed 1", "pact · seed 2"],
        ),
        ([{"fingerprint": "aa"}, {"fingerprint": "bb"}], ["pact · aa", "pact · bb"]),
        ([{"shots": None}, {}], ["shots -", "shots 2"]),
        ([{"topology": "a"}, {"topology": "b"}], ["pact · a", "pact · b"]),
        (
            [{"strategy": "full", "topology": "a"}, {"topology": "b"}],
            ["full · a", "pact · b"],
        ),
        (
            [{"strategy": "full", "label": "textmas", "topology": "a"}, {"topology": "b"}],
            ["textmas", "pact · b"],
        ),
        ([{"channel": "identity"}, {"channel": "no_message"}], ["pact", "pact · no_message"]),
        (
            [{"strategy": "full", "channel": "identity"}, {"channel": "no_message"}],
            ["full", "pact · no_message"],
        ),
        (
            [{"strategy": "full", "label": "x"}, {"strategy": "pact", "label": "x"}],
            ["full", "pact"],
        ),
        ([{}], ["pact"]),
        ([], []),
    ],
)
def test_the_fewest_choices_that_tell_arms_apart(
    arms: list[dict[str, Any]], expected: list[str]
) -> None:
    assert shortest([_arm(**arm) for arm in arms]) == expected


def test_facets_keep_an_arm_whose_benchmark_is_unknown() -> None:
    arms = [_arm(), _arm(benchmark=None), _arm(strategy="full")]
    assert facets(arms) == {("b", "m"): [0, 2], ("-", "m"): [1]}


def test_settings_name_what_moves_scores() -> None:
    said = settings([_arm(answer="short"), _arm(answer="none")])
    assert "model m" in said
    assert "shots 2" in said
    assert "answer short, none" in said


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("qwen3-8b", 8e9),
        ("Qwen/Qwen3-0.6B", 0.6e9),
        ("smollm2-135m", 135e6),
        ("qwen3-30b-a3b", 30e9),
        ("gpt-4.1", math.inf),
        ("scripted", math.inf),
    ],
)
def test_a_models_size_is_read_from_its_name(model: str, size: float) -> None:
    assert parameters(model) == size


def test_models_stand_by_size() -> None:
    names = ["qwen3-14b", "other", "qwen3-8b", "smollm2-135m", "qwen3-32b"]
    found = by_size(names)
    assert found == ["smollm2-135m", "qwen3-8b", "qwen3-14b", "qwen3-32b", "other"]
    rows = [{"benchmark": "hotpotqa", "model": name} for name in names]
    assert [model for _, model in facets(rows)] == found


def test_the_same_arm_of_two_studies_has_two_names() -> None:
    rows = [{"strategy": "full", "fingerprint": "f27c428c", "study": study} for study in "xy"]
    assert shortest(rows) == ["study x", "study y"]
    assert shortest([*rows, {**rows[0], "strategy": "pact"}])[:2] == [
        "full \u00b7 study x",
        "full \u00b7 study y",
    ]
