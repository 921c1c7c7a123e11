"""A study: arms x problems x samples, in one process, against shared engines.

Engines are started once and shared by all arms that need them. Those arms are interleaved,
problem by problem, so that one arm's tail does not leave an engine idle.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from parley.arm import Arm, with_data
from parley.calls import Reuse, Run
from parley.choosing import choose
from parley.components import plain
from parley.donors import waves, with_donor
from parley.episode import run_episode
from parley.errors import ConfigError, ParleyError, RunStopped
from parley.ledger.sizing import Memory
from parley.progress import Progress
from parley.protocols import Benchmark, Dataset, Tracker
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

    @property
    def complete(self) -> bool:
        """Whether nothing is left that a resumed run would do."""
        done = self.writer.done()
        return all(done.get((problem.id, sample)) for problem, sample in self.pending)


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How a study ended: the folders written, and what failed as a whole."""

    folders: list[Path] = field(default_factory=list)
    active: list[Path] = field(default_factory=list)
    """The folders to which this run added episodes."""
    episodes: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """Failed episodes by the class of their error."""
    examples: dict[str, str] = field(default_factory=dict)
    """The first message of each class of errors."""
    failures: dict[str, str] = field(default_factory=dict)
    """Arm -> why it could not be run at all, or to its end."""
    stopped: str = ""


async def run_study(
    arms: Sequence[Arm],
    settings: Settings,
    *,
    progress: Progress,
    tracker: Tracker,
    reuse: Reuse | None = None,
) -> Outcome:
    """Runs or resumes all arms. An arm that cannot be run leaves the others alone. Arms that need
    the records of others run after them, when their engine is opened again.

    Raises nothing that concerns single episodes or arms: those are rows, and entries of
    `failures`. Cancelling it (Ctrl-C) keeps all finished episodes and marks the arms `stopped`.
    """
    outcome = Outcome()
    for wave in waves(arms):
        await _run_wave(wave, settings, progress, tracker, reuse, outcome)
        if outcome.stopped:
            break
    return outcome


async def _run_wave(
    arms: Sequence[Arm],
    settings: Settings,
    progress: Progress,
    tracker: Tracker,
    reuse: Reuse | None,
    outcome: Outcome,
) -> None:
    """Arms that need nothing of each other."""
    with ExitStack() as stack:
        works = prepare(arms, settings, outcome, stack)
        todo = sum(len(work.pending) for work in works)
        done = sum(work.planned for work in works) - todo
        resumed = f" ({done} already recorded)" if done else ""
        arms_word = "1 arm" if len(works) == 1 else f"{len(works)} arms"
        progress.start(todo, f"{arms_word}, {todo} episodes to run{resumed}")
        stack.callback(progress.stop)
        active = [work for work in works if work.pending]
        outcome.active += [work.writer.folder for work in active]
        for work in active:
            tracker.start(work.arm.name, work.writer.manifest.to_dict(), str(work.writer.folder))
        stack.enter_context(_rare_collections())
        try:
            await _run_groups(works, settings, progress, tracker, reuse, outcome)
        finally:
            for work in works:
                work.writer.finish("finished" if work.complete else "stopped")


def prepare(
    arms: Sequence[Arm], settings: Settings, outcome: Outcome, stack: ExitStack
) -> list[Work]:
    """Loads data, opens the folders and finds what is left to do, arm by arm."""
    loaded: list[tuple[Benchmark, Dataset]] = []
    works: list[Work] = []
    for arm in arms:
        try:
            dataset = next((data for known, data in loaded if known == arm.benchmark), None)
            if dataset is None:
                dataset = arm.benchmark.load()
                loaded.append((arm.benchmark, dataset))
            arm = with_data(arm, dataset.source)
            arm, recorded = with_donor(arm, settings.outputs / arm.study)
            if any((work.arm.study, work.arm.name) == (arm.study, arm.name) for work in works):
                raise ConfigError(
                    f"two arms of the study are the same: {arm.name}",
                    remedy="sweep over a setting that tells them apart",
                )
            work = open_work(arm, dataset, settings)
            work.recorded = recorded
            stack.enter_context(work.writer)
            works.append(work)
            outcome.folders.append(work.writer.folder)
        except (Exception, SystemExit) as error:
            outcome.failures[arm.name] = explained(error)
    return works


def explained(error: BaseException) -> str:
    """What to tell a user: our own errors explain themselves, of others the kind helps."""
    return str(error) if isinstance(error, ParleyError) else f"{type(error).__name__}: {error}"


def open_work(arm: Arm, dataset: Dataset, settings: Settings) -> Work:
    """The arm's folder, locked, and its pending (problem, sample) pairs in their seeded order."""
    problems = choose(dataset.problems, arm.limit, settings.limit_seed)
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


def by_engine(works: Sequence[Work]) -> list[list[Work]]:
    """Arms with something to do, grouped by the engine and model that serve them."""
    groups: list[list[Work]] = []
    for work in works:
        if not work.pending:
            continue
        for group in groups:
            first = group[0].arm
            if first.engine == work.arm.engine and first.model == work.arm.model:
                group.append(work)
                break
        else:
            groups.append([work])
    return groups


def interleaved(group: Sequence[Work]) -> Iterator[tuple[Work, Problem, int]]:
    """Every arm's first episode, then every arm's second, and so on."""
    longest = max((len(work.pending) for work in group), default=0)
    for place in range(longest):
        for work in group:
            if place < len(work.pending):
                yield work, *work.pending[place]


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Thousands of records are alive at once, none of them in a cycle: looking for cycles as
    often as usual would take a tenth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(20_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)


async def _run_groups(
    works: Sequence[Work],
    settings: Settings,
    progress: Progress,
    tracker: Tracker,
    reuse: Reuse | None,
    outcome: Outcome,
) -> None:
    """One engine after the other: the next opens when the one before has closed."""
    for group in by_engine(works):
        try:
            await _run_group(group, settings, progress, tracker, reuse, outcome)
        except RunStopped as error:
            outcome.stopped = str(error)
            return
        except Exception as error:
            outcome.failures |= {work.arm.name: explained(error) for work in group}


async def _run_group(
    group: Sequence[Work],
    settings: Settings,
    progress: Progress,
    tracker: Tracker,
    reuse: Reuse | None,
    outcome: Outcome,
) -> None:
    """All pending episodes of the arms that share one engine, a bounded number at once."""
    engine, model = group[0].arm.engine, group[0].arm.model
    concurrency = settings.concurrency or engine.concurrency
    queue = interleaved(group)
    async with engine.open(model) as chat:
        memory: Memory = {}
        runs = {
            work.writer.folder: Run(
                arm=work.arm, chat=chat, recorded=work.recorded, reuse=reuse, memory=memory
            )
            for work in group
        }

        async def worker() -> None:
            for work, problem, sample in queue:
                episode = await run_episode(runs[work.writer.folder], problem, sample)
                # Appended before anybody is told of it.
                work.writer.append(episode)
                _count(outcome, episode)
                tracker.log(episode)
                progress.advance(episode)
                _stop_past_threshold(outcome, settings)

        workers = [asyncio.create_task(worker()) for _ in range(concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)


def _count(outcome: Outcome, episode: Episode) -> None:
    outcome.episodes += 1
    if episode.failure is not None:
        outcome.errors[episode.failure.error] += 1
        outcome.examples.setdefault(episode.failure.error, episode.failure.message)


def _stop_past_threshold(outcome: Outcome, settings: Settings) -> None:
    failed = outcome.errors.total()
    if outcome.episodes < settings.min_episodes:
        return
    if failed > settings.max_error_rate * outcome.episodes:
        worst, n = outcome.errors.most_common(1)[0]
        raise RunStopped(
            f"stopped: {failed} of {outcome.episodes} episodes failed, {n} with {worst}: "
            + outcome.examples[worst].split("\n")[0],
            allowed=f"max_error_rate={settings.max_error_rate} of the episodes",
            remedy="mend the cause and run the same command again: it resumes",
        )
