"""Costs other than the headline one, and price tables."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from parley.analysis.costs import charged, choose, read_prices
from parley.analysis.frames import load
from parley.errors import ConfigError
from records import call, episode, turn, write_arm

PRICES = """
currency: EUR
models:
  smollm2-135m: {input: 2.0, cached: 0.5, output: 10}
  default: {input: 1, output: 1}
"""


def _episodes(path: Path, *calls: object) -> object:
    turns = tuple(turn(index, each) for index, each in enumerate(calls))  # type: ignore[arg-type]
    write_arm(path / "s", "full", [episode("p1", turns=turns)])
    return load(path / "s").episodes


def _cost(path: Path, kind: str, model: str = "smollm2-135m", **changes: object) -> float:
    episodes = _episodes(path, call(cached=100, **changes), call(cached=200))  # type: ignore[arg-type]
    table = path / "prices.yaml"
    table.write_text(PRICES)
    found = charged(episodes, model, choose(kind, table))["cost"]  # type: ignore[arg-type]
    return float(found.iloc[0])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("tokens", 2 * (501 + 94)),
        ("total", 2 * (501 + 94)),
        ("output", 2 * 94),
        ("uncached", 2 * (501 + 94) - 300),
        ("latency", 1.0),
        ("priced", ((1002 - 300) * 2 + 300 * 0.5 + 188 * 10) / 1e3),
    ],
)
def test_costs_by_hand(tmp_path: Path, kind: str, expected: float) -> None:
    assert _cost(tmp_path, kind) == pytest.approx(expected)


def test_a_model_without_a_price_of_its_own_has_the_default(tmp_path: Path) -> None:
    assert _cost(tmp_path, "priced", "other") == pytest.approx((1002 + 188) / 1e3)


@pytest.mark.parametrize("kind", ["latency", "uncached", "priced"])
def test_reused_calls_have_no_latency_or_cache(tmp_path: Path, kind: str) -> None:
    assert math.isnan(_cost(tmp_path, kind, reused=True))


@pytest.mark.parametrize("kind", ["total", "output"])
def test_reused_calls_have_tokens(tmp_path: Path, kind: str) -> None:
    assert _cost(tmp_path, kind, reused=True) > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "no 'models'"),
        ("models: {}", "no 'models'"),
        ("models: {a: {input: 1}}", "price of 'a'"),
        ("models: {a: {input: -1, output: 1}}", "price of 'a'"),
        ("models: {a: {input: .nan, output: 1}}", "price of 'a'"),
        ("models: {a: {input: 1, output: 1, outputs: 2}}", "price of 'a'"),
        ("models: {a: free}", "price of 'a'"),
        ("a: [", "cannot be read"),
    ],
)
def test_a_table_of_another_shape_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "prices.yaml").write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_prices(tmp_path / "prices.yaml")


def test_a_missing_table_and_an_unknown_cost_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        choose("priced", tmp_path / "absent.yaml")
    with pytest.raises(ConfigError, match="needs a price table"):
        choose("priced")
    with pytest.raises(ConfigError, match="no cost is named 'gold'"):
        choose("gold")


def test_a_model_without_any_price_is_named(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text("models: {a: {input: 1, output: 1}}")
    episodes = _episodes(tmp_path, call())
    with pytest.raises(ConfigError, match="no price for the model 'b'"):
        charged(episodes, "b", choose("priced", tmp_path / "prices.yaml"))  # type: ignore[arg-type]
