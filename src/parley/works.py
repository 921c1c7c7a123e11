"""What a study has to do: each arm's folder, opened, and the episodes it still lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from parley.arm import Arm, with_data
from parley.budgets import Grants, with_budget
from parley.choosing import choose
from parley.components import plain
from parley.donors import with_donor
from parley.errors import ConfigError, ParleyError
from parley.protocols import Benchmark, Dataset
from parley.store import ArmWriter, Manifest, write_atomic
from parley.types import VERSION, Episode, Problem

CONFIG = "config.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a study is run; nothing here changes what a model says."""

    outputs: Path
    concurrency: int | None = None
    """Most episodes in flight at once; None is what the engine says it serves well."""
    limit_seed: int = 42
    max_error_rate: float = 0.5
    """Share of failed episodes past which the run stops, once `min_episodes` are done."""
    min_episodes: int = 10
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Work:
    """An arm under way: its folder's writer, and what is left to do."""

    arm: Arm
    writer: ArmWriter
    pending: list[tuple[Problem, int]]
    planned: int
    recorded: Sequence[Episode] = ()
    """The donor's episodes, for an arm that needs one."""
    grants: Grants = field(default_factory=dict)
    """Completion tokens by problem, for an arm whose problems have budgets of their own."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left that a resumed run would do."""
        done = self.writer.done()
        return all(done.get((problem.id, sample)) for problem, sample in self.pending)

    def finish(self) -> None:
        """Ends the arm: from here on its records may serve others."""
        self.writer.finish("finished" if self.complete else "stopped")


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How a study ended: the folders written, and what failed as a whole."""

    folders: list[Path] = field(default_factory=list)
    active: list[Path] = field(default_factory=list)
    """The folders to which this run added episodes."""
    episodes: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """Failed episodes by the class of their error."""
    repeatable: int = 0
    """Those among them that resuming tries again."""
    examples: dict[str, str] = field(default_factory=dict)
    """The first message of each class of errors."""
    failures: dict[str, str] = field(default_factory=dict)
    """Arm -> why it could not be run at all, or to its end."""
    stopped: str = ""


@dataclass(slots=True, kw_only=True)
class Preparation:
    """Loads data, opens the folders and finds what is left to do, arm by arm.

    What it opens is closed by `stack`; an arm that cannot be prepared is a failure of `outcome`,
    and leaves the others alone. Data is loaded once for all arms.
    """

    settings: Settings
    outcome: Outcome
    stack: ExitStack
    _loaded: list[tuple[Benchmark, Dataset]] = field(default_factory=list)
    _names: set[tuple[str, str]] = field(default_factory=set)

    def works(self, arms: Sequence[Arm]) -> list[Work]:
        """The arms' work, that of an arm without any included."""
        found: list[Work] = []
        for arm in arms:
            try:
                work = self._work(arm)
            except (Exception, SystemExit) as error:
                self.outcome.failures[arm.name] = explained(error)
            else:
                found.append(work)
                self.outcome.folders.append(work.writer.folder)
        return found

    def _work(self, arm: Arm) -> Work:
        dataset = self._dataset(arm.benchmark)
        problems = choose(dataset.problems, arm.limit, self.settings.limit_seed)
        study = self.settings.outputs / arm.study
        arm, recorded = with_donor(with_data(arm, dataset.source), study)
        arm, grants = with_budget(arm, study, problems)
        if (arm.study, arm.name) in self._names:
            raise ConfigError(
                f"two arms of the study are the same: {arm.name}",
                remedy="sweep over a setting that tells them apart",
            )
        work = open_work(arm, dataset, problems, self.settings)
        work.recorded, work.grants = recorded, grants
        self._names.add((arm.study, arm.name))
        self.stack.enter_context(work.writer)
        return work

    def _dataset(self, benchmark: Benchmark) -> Dataset:
        dataset = next((data for known, data in self._loaded if known == benchmark), None)
        if dataset is None:
            dataset = benchmark.load()
            self._loaded.append((benchmark, dataset))
        return dataset


def explained(error: BaseException) -> str:
    """What to tell a user: our own errors explain themselves, of others the kind helps."""
    return str(error) if isinstance(error, ParleyError) else f"{type(error).__name__}: {error}"


def open_work(arm: Arm, dataset: Dataset, problems: Sequence[Problem], settings: Settings) -> Work:
    """The arm's folder, locked, and its pending (problem, sample) pairs in their seeded order."""
    manifest = Manifest(
        version=VERSION,
        study=arm.study,
        arm=arm.name,
        label=arm.label,
        choices=arm.choices,
        identity=arm.identity,
        fingerprint=arm.fingerprint,
        metric=arm.metric or arm.benchmark.metric,
        metrics=arm.benchmark.metrics,
        planned={"problems": len(problems), "samples": arm.samples},
        data={
            "source": dataset.source,
            "problems": len(dataset.problems),
            "notes": dict(dataset.notes),
        },
        provenance=settings.provenance,
    )
    writer = ArmWriter.open(settings.outputs / arm.study / arm.name, manifest)
    write_atomic(
        writer.folder / CONFIG, yaml.safe_dump(plain(arm.config), sort_keys=False).encode()
    )
    done = writer.done()
    wanted = [(problem, sample) for sample in range(arm.samples) for problem in problems]
    pending = [pair for pair in wanted if not done.get((pair[0].id, pair[1]), False)]
    return Work(arm=arm, writer=writer, pending=pending, planned=len(wanted))


def interleaved(group: Sequence[Work]) -> Iterator[tuple[Work, Problem, int]]:
    """Every arm's first episode, then every arm's second, and so on."""
    longest = max((len(work.pending) for work in group), default=0)
    for place in range(longest):
        for work in group:
            if place < len(work.pending):
                yield work, *work.pending[place]
