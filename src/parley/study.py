"""A study: arms x problems x samples, in one process, against shared engines.

Engines are started once and shared by all arms that need them. Those arms are interleaved,
problem by problem, so that one arm's tail does not leave an engine idle. Arms that need the
records of others come after those, while their engine is still open.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field

from parley.arm import Arm
from parley.calls import Reuse, Run
from parley.episode import run_episode
from parley.errors import RunStopped
from parley.ledger.sizing import Memory
from parley.progress import Progress
from parley.protocols import Chat, Engine, Model, Tracker
from parley.types import Episode
from parley.works import Outcome, Preparation, Settings, Work, explained, interleaved

__all__ = ["Outcome", "Settings", "run_study"]


@dataclass(slots=True, kw_only=True)
class Group:
    """Arms that one engine serves with one model: the work at hand, and the arms that wait."""

    engine: Engine
    model: Model
    works: list[Work] = field(default_factory=list)
    waiting: list[Arm] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Served:
    """An engine that opens when it is first needed, and stays open as long as its stack."""

    engine: Engine
    model: Model
    stack: AsyncExitStack
    memory: Memory = field(default_factory=dict)
    _chat: Chat | None = None

    async def chat(self) -> Chat:
        """The open connection. Raises what opening the engine raises."""
        if self._chat is None:
            self._chat = await self.stack.enter_async_context(self.engine.open(self.model))
        return self._chat


async def run_study(
    arms: Sequence[Arm],
    settings: Settings,
    *,
    progress: Progress,
    tracker: Tracker,
    reuse: Reuse | None = None,
) -> Outcome:
    """Runs or resumes all arms. An arm that cannot be run leaves the others alone. Arms that need
    the records of others run after those that the same engine serves.

    Raises nothing that concerns single episodes or arms: those are rows, and entries of
    `failures`. Cancelling it (Ctrl-C) keeps all finished episodes and marks the arms `stopped`.
    """
    outcome = Outcome()
    with ExitStack() as stack:
        study = Study(
            settings=settings,
            progress=progress,
            tracker=tracker,
            reuse=reuse,
            outcome=outcome,
            preparation=Preparation(settings=settings, outcome=outcome, stack=stack),
        )
        works = study.prepare([arm for arm in arms if not arm.waits])
        stack.callback(progress.stop)
        stack.enter_context(_rare_collections())
        for group in by_engine(works, [arm for arm in arms if arm.waits]):
            # The next engine opens when the one before has closed.
            try:
                await study.run_group(group)
            except RunStopped as error:
                outcome.stopped = str(error)
                break
    return outcome


def by_engine(works: Sequence[Work], waiting: Sequence[Arm] = ()) -> list[Group]:
    """Arms with something to do, grouped by the engine and model that serve them."""
    groups: list[Group] = []

    def group_of(arm: Arm) -> Group:
        for group in groups:
            if group.engine == arm.engine and group.model == arm.model:
                return group
        groups.append(Group(engine=arm.engine, model=arm.model))
        return groups[-1]

    for work in works:
        if work.pending:
            group_of(work.arm).works.append(work)
    for arm in waiting:
        group_of(arm).waiting.append(arm)
    return groups


@dataclass(slots=True, kw_only=True)
class Study:
    """A study under way, and all that its arms share."""

    settings: Settings
    progress: Progress
    tracker: Tracker
    reuse: Reuse | None
    outcome: Outcome
    preparation: Preparation

    def prepare(self, arms: Sequence[Arm]) -> list[Work]:
        """Opens the arms and says what there is to do; those without anything end here."""
        if not arms:
            return []
        works = self.preparation.works(arms)
        todo = sum(len(work.pending) for work in works)
        done = sum(work.planned for work in works) - todo
        resumed = f" ({done} already recorded)" if done else ""
        arms_word = "1 arm" if len(works) == 1 else f"{len(works)} arms"
        self.progress.expect(todo, f"{arms_word}, {todo} episodes to run{resumed}")
        for work in works:
            if work.pending:
                folder = work.writer.folder
                self.outcome.active.append(folder)
                self.tracker.start(work.arm.name, work.writer.manifest.to_dict(), str(folder))
            else:
                work.finish()
        return works

    async def run_group(self, group: Group) -> None:
        """The work at hand, then that of the arms that waited for it. Raises RunStopped."""
        async with AsyncExitStack() as stack:
            served = Served(engine=group.engine, model=group.model, stack=stack)
            await self._run_wave(group.works, served)
            if group.waiting:
                await self._run_wave(self.prepare(group.waiting), served)

    async def _run_wave(self, works: Sequence[Work], served: Served) -> None:
        """Arms that need nothing of each other. Raises RunStopped."""
        works = [work for work in works if work.pending]
        try:
            try:
                if works:
                    await self._run_episodes(works, served)
            finally:
                for work in works:
                    work.finish()
        except RunStopped:
            raise
        except Exception as error:
            self.outcome.failures |= {work.arm.name: explained(error) for work in works}

    async def _run_episodes(self, works: Sequence[Work], served: Served) -> None:
        """All pending episodes of the arms, a bounded number at once."""
        queue, chat = interleaved(works), await served.chat()
        runs = {
            work.writer.folder: Run(
                arm=work.arm,
                chat=chat,
                recorded=work.recorded,
                grants=work.grants,
                reuse=self.reuse,
                memory=served.memory,
            )
            for work in works
        }

        async def worker() -> None:
            for work, problem, sample in queue:
                episode = await run_episode(runs[work.writer.folder], problem, sample)
                # Appended before anybody is told of it.
                work.writer.append(episode)
                _count(self.outcome, episode)
                self.tracker.log(episode)
                self.progress.advance(episode)
                _stop_past_threshold(self.outcome, self.settings)

        concurrency = self.settings.concurrency or served.engine.concurrency
        workers = [asyncio.create_task(worker()) for _ in range(concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)


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


def _count(outcome: Outcome, episode: Episode) -> None:
    outcome.episodes += 1
    if episode.failure is not None:
        outcome.errors[episode.failure.error] += 1
        outcome.repeatable += episode.failure.repeat
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
