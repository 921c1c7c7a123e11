"""What an episode cost, in the currency a reader asks for. A cost that is not known is missing,
never 0: its arm then has no point, and a note says why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("total", "output", "uncached", "priced", "latency")
ALIASES = {"tokens": "total", "price": "priced", "seconds": "latency"}
RATES = ("input", "cached", "output")
MILLION = 1_000_000
PRICED = 1000
"""Problems that a price is given for: of one it would have too many zeros to read."""
_TOLD = {
    "total": ("tokens per problem (prompt + completion, all calls)", "tokens"),
    "output": ("completion tokens per problem, all calls", "output tokens"),
    "uncached": ("uncached + completion tokens per problem (all calls)", "uncached tokens"),
    "latency": ("seconds per problem (latency of all calls, summed)", "seconds"),
}
_COLUMNS = {"total": "tokens_total", "output": "tokens_output", "uncached": "tokens_uncached"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a price table says: per model, units of a currency per million tokens."""

    currency: str
    models: Mapping[str, Mapping[str, float]]
    """`input`, `cached` (prompt tokens served from a cache) and `output` by model label."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A kind of cost: `label` names its axis, `unit` is the word after a number."""

    kind: str = "total"
    label: str = _TOLD["total"][0]
    unit: str = _TOLD["total"][1]
    prices: Prices | None = field(default=None)

    @property
    def plain(self) -> bool:
        """Whether this is the headline cost."""
        return self.kind == "total"

    @property
    def ticks(self) -> str:
        """The format of a number on an axis."""
        return "{x:,.6g}" if self.kind in ("latency", "priced") else "{x:,.0f}"

    def amount(self, value: float) -> str:
        """The number as a reader wants it, without its unit."""
        if math.isnan(value):
            return "-"
        if self.kind == "latency":
            return f"{value:,.2f}"
        return f"{value:,.3g}" if self.kind == "priced" else f"{value:,.0f}"


def choose(kind: str, prices: Path | None = None) -> Cost:
    """The cost of that name. Raises ConfigError at another, or at a price table that is missing
    or of another shape."""
    kind = ALIASES.get(kind, kind)
    if kind not in KINDS:
        raise ConfigError(f"no cost is named {kind!r}", allowed=", ".join(KINDS))
    if kind != "priced":
        return Cost(kind=kind, label=_TOLD[kind][0], unit=_TOLD[kind][1])
    if prices is None:
        raise ConfigError(
            "a priced cost needs a price table",
            allowed="--prices FILE, a YAML such as {currency: USD, models: {qwen3-8b: "
            "{input: 0.05, cached: 0.01, output: 0.4}}}, per million tokens",
        )
    table = read_prices(prices)
    return Cost(
        kind=kind,
        label=f"{table.currency} per 1,000 problems (prices of {table.source})",
        unit=f"{table.currency} per 1,000 problems",
        prices=table,
    )


def read_prices(path: Path) -> Prices:
    """A YAML file: `currency`, and `models` with `input`, `output` and, where cached prompt
    tokens are cheaper, `cached`; the model `default` stands for all others."""
    import yaml

    try:
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"the price table {path} cannot be read: {error}") from error
    models = read.get("models") if isinstance(read, dict) else None
    if not isinstance(models, dict) or not models:
        raise ConfigError(f"the price table {path} has no 'models'", allowed="models: {NAME: ...}")
    return Prices(
        currency=str(read.get("currency", "USD")),
        models={str(name): _rates(path, str(name), rates) for name, rates in models.items()},
        source=path.name,
    )


def charged(episodes: pd.DataFrame, model: str, cost: Cost) -> pd.DataFrame:
    """The episodes with a column `cost`. Missing where a call was reused and the cost depends on
    when and where calls ran (latency, caching). Raises ConfigError at a model without a price."""
    if cost.kind in _COLUMNS:
        amounts = _number(episodes, _COLUMNS[cost.kind])
    elif cost.kind == "latency":
        amounts = _number(episodes, "latency_s")
    else:
        amounts = _price(episodes, model, cost)
    measured = cost.kind in ("latency", "uncached") or _cache_priced(cost, model)
    if measured:
        amounts = amounts.where(_number(episodes, "reused") == 0)
    return episodes.assign(cost=amounts)


def _price(episodes: pd.DataFrame, model: str, cost: Cost) -> pd.Series:
    rates = _rates_of(cost, model)
    cached = _number(episodes, "tokens_cached")
    fresh = _number(episodes, "tokens_prompt") - cached
    written = _number(episodes, "tokens_completion")
    spent = fresh * rates["input"] + cached * rates["cached"] + written * rates["output"]
    return spent / MILLION * PRICED


def _rates_of(cost: Cost, model: str) -> Mapping[str, float]:
    assert cost.prices is not None
    found = cost.prices.models.get(model, cost.prices.models.get("default"))
    if found is None:
        raise ConfigError(
            f"{cost.prices.source} has no price for the model {model!r}",
            allowed=", ".join(cost.prices.models),
            remedy="add it, or a model named 'default'",
        )
    return found


def _cache_priced(cost: Cost, model: str) -> bool:
    if cost.prices is None:
        return False
    rates = _rates_of(cost, model)
    return rates["cached"] != rates["input"]


def _rates(path: Path, model: str, rates: Any) -> dict[str, float]:
    given = rates if isinstance(rates, dict) else {}
    known = {"cached": given.get("input"), **given}
    wrong = set(known) - set(RATES)
    for name in RATES:
        value = known.get(name)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if wrong or not number or not 0 <= float(value) < math.inf:  # type: ignore[arg-type]
            raise ConfigError(
                f"the price of {model!r} in {path} is {rates!r}",
                allowed="input, output and, if it differs, cached: numbers per million tokens",
            )
    return {name: float(known[name]) for name in RATES}


def _number(episodes: pd.DataFrame, column: str) -> pd.Series:
    import pandas as pd

    return pd.to_numeric(episodes[column], errors="coerce").astype("float64")
