"""An arm: one cell of a study, as built objects and as the facts that identify it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from parley.protocols import Benchmark, Channel, Engine, Model, Strategy, Topology
from parley.types import Episode, Problem, Sampling

Opening = Callable[[Problem, int], Episode]
"""The recorded turns that an episode of a problem and sample begins with. Raises DataError where
there are none."""

PLAIN = "identity"
"""The channel that goes without saying."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Benchmark x topology x strategy x channel x model/engine x sampling x seed.

    `identity` holds all that affects outputs (prompt texts, data, model, sampling ...), but not
    `limit`, `samples` or concurrency, so that the same command resumes and a changed setting is
    another arm. `choices` are its readable names.
    """

    study: str
    label: str
    choices: Mapping[str, str | int | float]
    identity: Mapping[str, Any]
    config: Mapping[str, Any]
    benchmark: Benchmark
    topology: Topology
    strategy: Strategy
    channel: Channel
    model: Model
    engine: Engine
    sampling: Sampling
    seed: int = 42
    shots: int = 0
    limit: int | None = None
    samples: int = 1
    metric: str = ""
    """The metric that leads tables and figures; empty is the benchmark's own."""
    folder_name: str = ""
    needs: tuple[str, ...] = ()
    """The donor whose records the channel hears, at most one: the folder of an arm of the study,
    or the strategy of the arm that is like this one otherwise, with channel=identity."""
    budget: str = ""
    """The arm whose completion tokens this one may spend: the folder of an arm of the study, or a
    name of the arm that is like this one but for topology and strategy."""
    budget_per_problem: bool = False
    """Whether each problem is granted the donor's own use of it, which makes this an oracle."""
    opening: Opening | None = field(default=None, repr=False, compare=False)
    """What its episodes begin with, where they are not played from the start."""

    fingerprint: str = field(init=False)
    """Eight hex digits of everything that affects outputs."""
    name: str = field(init=False)
    """The arm's folder: its readable choices, the channel unless it is plain, its fingerprint."""

    def __post_init__(self) -> None:
        mark = fingerprint(self.identity)
        channel = self.choices.get("channel", PLAIN)
        parts = ("benchmark", "topology", "strategy", *(["channel"] * (channel != PLAIN)), "model")
        readable = [str(self.choices[key]) for key in parts]
        readable += [f"budget={self.choices['budget']}"] if "budget" in self.choices else []
        object.__setattr__(self, "fingerprint", mark)
        object.__setattr__(self, "name", self.folder_name or _folder([*readable, mark]))

    @property
    def waits(self) -> bool:
        """Whether another arm of the study has to be finished first."""
        return bool(self.needs or self.budget)


def _folder(parts: Sequence[str]) -> str:
    """A name that no shell needs in quotes: `pact(fields=Result)` is `pact+fields=Result`."""
    return "-".join(parts).replace("(", "+").replace(")", "")


def with_data(arm: Arm, source: str) -> Arm:
    """The arm identified by its data too: another file under the same path is another arm."""
    return replace(arm, identity={**arm.identity, "data": source})


def fingerprint(identity: Mapping[str, Any]) -> str:
    """Eight hex digits that change with any value in the mapping, not with the order of keys."""
    canonical = orjson.dumps(identity, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.sha256(canonical).hexdigest()[:8]
