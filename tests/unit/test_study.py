"""Studies: order, sharing of engines, stopping, resuming. Real parts, files and episodes; the
engine is the shipped fake inside a wrapper that watches what is asked of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from core_cases import arm as bare_arm
from core_cases import problem
from parley.arm import Arm
from parley.engines.plausible import plausible
from parley.engines.scripted import Scripted, ScriptedChat
from parley.errors import DataError, EngineError, RequestRefused, TransportError
from parley.grading import METRICS, grade_text
from parley.progress import Progress
from parley.protocols import Chat, Dataset, Model
from parley.store import latest_rows, read_manifest
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.study import Outcome, Settings, by_engine, run_study
from parley.topologies.single import Single
from parley.topologies.split_evidence import SplitEvidence
from parley.tracking import NoTracker
from parley.types import Completion, Episode, Problem, Request, Score

Fail = Callable[[int], Exception | None]
"""The error that call number n, from 1 on, ends in; None where it goes well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """A benchmark of as many problems as are asked for."""

    name: ClassVar[str] = "questions"
    metric: ClassVar[str] = "f1"
    metrics: ClassVar[tuple[str, ...]] = METRICS

    number: int = 10
    broken: BaseException | None = None

    def load(self) -> Dataset:
        if self.broken is not None:
            raise self.broken
        return Dataset(
            problems=tuple(problem(f"q{n}") for n in range(self.number)), source="questions"
        )

    def answer_format(self, problem: Problem) -> str:
        return 'End with one line that starts with "Answer:".'

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        return grade_text(problem.answers, text, truncated=truncated)


@dataclass(slots=True)
class Watch:
    """What an engine saw: how often it was opened, and who was served at once."""

    opened: list[str] = field(default_factory=list)
    open_now: list[str] = field(default_factory=list)
    calls: int = 0
    now: int = 0
    most: int = 0
    seeds: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """An engine that only one holder may have open, like a device's memory."""

    name: str = "A"
    concurrency: int = 4
    latency_s: float = 0.0
    fail: Fail = field(default=lambda number: None, compare=False)
    refuses: EngineError | None = field(default=None, compare=False)
    watch: Watch = field(default_factory=Watch, compare=False)

    @asynccontextmanager
    async def open(self, model: Model) -> AsyncIterator[Chat]:
        if self.refuses is not None:
            raise self.refuses
        assert not self.watch.open_now, f"{self.watch.open_now} still holds the device"
        self.watch.opened.append(f"{self.name} {model.name}")
        self.watch.open_now.append(self.name)
        inner = ScriptedChat(engine=Scripted(), served=model, script=plausible)
        try:
            yield WatchedChat(inner=inner, engine=self)
        finally:
            await asyncio.sleep(0.02)  # a server takes its time to end
            self.watch.open_now.remove(self.name)


@dataclass(slots=True, kw_only=True)
class WatchedChat:
    inner: Chat
    engine: Watched

    @property
    def model(self) -> str:
        return self.inner.model

    async def complete(self, request: Request) -> Completion:
        watch = self.engine.watch
        watch.calls += 1
        watch.now += 1
        watch.most = max(watch.most, watch.now)
        watch.seeds.append(request.seed)
        number = watch.calls
        try:
            await asyncio.sleep(self.engine.latency_s)
            if error := self.engine.fail(number):
                raise error
            return await self.inner.complete(request)
        finally:
            watch.now -= 1

    async def count(self, texts: Sequence[str]) -> tuple[int, ...] | None:
        return await self.inner.count(texts)

    async def template_tokens(self, request: Request) -> int | None:
        return await self.inner.template_tokens(request)


@dataclass(slots=True, kw_only=True)
class Noted:
    """A tracker that keeps what it is told."""

    episodes: list[Episode] = field(default_factory=list)
    started: list[str] = field(default_factory=list)

    @property
    def state(self) -> Mapping[str, Any]:
        return {}

    def start(self, arm: str, config: Mapping[str, object], folder: str | None = None) -> None:
        self.started.append(arm)

    def log(self, episode: Episode) -> None:
        self.episodes.append(episode)

    def finish(self, arm: str, folder: str) -> None: ...

    def report(self, folder: str) -> None: ...

    def close(self) -> None: ...


def arm(name: str = "full", *, engine: Any = None, number: int = 10, **changes: Any) -> Arm:
    """An arm of two turns on `number` problems, whose folder is its name."""
    made = bare_arm(
        Conclusion() if name == "conclusion" else Full(),
        topology=SplitEvidence(turns=2),
        benchmark=changes.pop("benchmark", Questions(number=number)),
    )
    told = {"label": name, "folder_name": name, "identity": {"arm": name}}
    return replace(made, engine=engine or Watched(), **{**told, **changes})


async def run(
    arms: Sequence[Arm], folder: Path, *, tracker: Any = None, **settings: Any
) -> Outcome:
    return await run_study(
        arms,
        Settings(outputs=folder, **settings),
        progress=Progress(lambda text: None),
        tracker=tracker or NoTracker(),
    )


def rows(folder: Path, name: str = "full") -> list[dict[str, Any]]:
    return list(latest_rows(folder / "study" / name))


def status(folder: Path, name: str = "full") -> str:
    return read_manifest(folder / "study" / name).status


def keys(found: Sequence[Mapping[str, Any]]) -> set[tuple[str, int]]:
    return {(row["problem"], row["sample"]) for row in found}


async def test_every_problem_of_every_arm_is_recorded_once(tmp_path: Path) -> None:
    tracker = Noted()
    outcome = await run([arm(samples=2), arm("conclusion")], tmp_path, tracker=tracker)
    assert len(rows(tmp_path)) == 20
    assert keys(rows(tmp_path)) == {(f"q{n}", sample) for n in range(10) for sample in (0, 1)}
    assert keys(rows(tmp_path, "conclusion")) == {(f"q{n}", 0) for n in range(10)}
    assert (outcome.episodes, outcome.errors, outcome.failures) == (30, Counter(), {})
    assert [folder.name for folder in outcome.folders] == ["full", "conclusion"]
    assert status(tmp_path) == status(tmp_path, "conclusion") == "finished"
    assert len(tracker.episodes) == 30
    assert tracker.started == ["full", "conclusion"]


async def test_arms_take_turns_problem_by_problem(tmp_path: Path) -> None:
    """With one episode at a time the order is exact: no arm runs ahead of another."""
    tracker = Noted()
    arms = [arm(limit=4), arm("conclusion", limit=4), arm("short", limit=2)]
    await run(arms, tmp_path, tracker=tracker, concurrency=1)
    names = [episode.arm for episode in tracker.episodes]
    assert names == ["full", "conclusion", "short"] * 2 + ["full", "conclusion"] * 2
    problems = [e.problem for e in tracker.episodes if e.arm == "full"]
    assert problems == [e.problem for e in tracker.episodes if e.arm == "conclusion"]


async def test_an_engine_is_opened_once_for_all_arms_that_need_it(tmp_path: Path) -> None:
    engine = Watched()
    await run([arm(engine=engine), arm("conclusion", engine=engine)], tmp_path)
    assert engine.watch.opened == ["A fake"]


async def test_an_engine_closes_before_the_next_opens(tmp_path: Path) -> None:
    """Case D08: the second finds the device free, though it stands between two of the first."""
    watch = Watch()
    first, second = Watched(name="A", watch=watch), Watched(name="B", watch=watch)
    arms = [arm("one", engine=first), arm("two", engine=second), arm("three", engine=first)]
    outcome = await run(arms, tmp_path)
    assert watch.opened == ["A fake", "B fake"]
    assert (watch.open_now, outcome.failures, outcome.episodes) == ([], {}, 30)


async def test_arms_that_wait_find_their_engine_still_open(tmp_path: Path) -> None:
    """Each engine is opened once, though some of its arms need the records of others of its."""
    watch = Watch()
    engines = [Watched(name=name, watch=watch) for name in "AB"]

    def waiting(name: str, engine: Any) -> Arm:
        named = {key: key for key in ("benchmark", "topology", "strategy", "model")}
        return arm(
            "waits" + name,
            engine=engine,
            identity={"engine": name},
            topology=Single(),
            budget="donor" + name,
            choices={**named, "budget": "donor"},
        )

    donors = [arm("donor" + e.name, engine=e, identity={"engine": e.name}) for e in engines]
    arms = [*(waiting(engine.name, engine) for engine in engines), *donors]
    outcome = await run(arms, tmp_path)
    assert outcome.failures == {}
    assert watch.opened == ["A fake", "B fake"]
    for name in ("donorA", "donorB", "waitsA", "waitsB"):
        assert (len(rows(tmp_path, name)), status(tmp_path, name)) == (10, "finished")
    assert [folder.name for folder in outcome.active] == ["donorA", "donorB", "waitsA", "waitsB"]
    # With the donors recorded, only what waits needs an engine; with all recorded, nothing does.
    again = [replace(made, limit=None, samples=1) for made in arms]
    watch.opened.clear()
    (tmp_path / "study" / "waitsB" / "episodes.jsonl").write_bytes(b"")
    assert (await run(again, tmp_path)).episodes == 10
    assert watch.opened == ["B fake"]
    assert (await run(again, tmp_path)).episodes == 0
    assert watch.opened == ["B fake"]


async def test_another_model_is_another_server(tmp_path: Path) -> None:
    engine = Watched()
    other = replace(arm("two", engine=engine).model, name="other")
    await run([arm(engine=engine), arm("two", engine=engine, model=other)], tmp_path)
    assert engine.watch.opened == ["A fake", "A other"]


async def test_no_engine_is_opened_where_nothing_is_left_to_do(tmp_path: Path) -> None:
    await run([arm()], tmp_path)
    engine, tracker = Watched(), Noted()
    outcome = await run([arm(engine=engine)], tmp_path, tracker=tracker)
    assert (engine.watch.opened, tracker.started, outcome.episodes) == ([], [], 0)
    assert (outcome.active, len(outcome.folders)) == ([], 1)
    assert status(tmp_path) == "finished"


def test_arms_without_pending_work_are_in_no_group() -> None:
    assert by_engine([]) == []


@pytest.mark.parametrize(("wanted", "most"), [(None, 4), (1, 1), (7, 7)])
async def test_so_many_episodes_are_in_flight_and_no_more(
    wanted: int | None, most: int, tmp_path: Path
) -> None:
    engine = Watched(latency_s=0.005, concurrency=4)
    await run([arm(engine=engine, number=12)], tmp_path, concurrency=wanted)
    assert engine.watch.most == most


async def test_one_failure_among_many_is_one_row(tmp_path: Path) -> None:
    """Case D09: its siblings' results are kept, and none of them fails for its sake."""
    engine = Watched(
        latency_s=0.01,
        concurrency=64,
        fail=lambda number: TransportError("reset") if number == 10 else None,
    )
    outcome = await run([arm(engine=engine, number=64)], tmp_path)
    failed = [row for row in rows(tmp_path) if row["failure"]]
    assert (len(rows(tmp_path)), len(failed)) == (64, 1)
    assert failed[0]["failure"]["error"] == "TransportError"
    assert outcome.errors == {"TransportError": 1}
    assert outcome.examples == {"TransportError": "reset"}
    assert status(tmp_path) == "stopped"  # a transport failure is left to repeat


async def test_transport_failures_are_repeated_and_outcomes_are_not(tmp_path: Path) -> None:
    def fail(number: int) -> Exception | None:
        return TransportError("reset") if number in (3, 9) else None

    failed = await run([arm(engine=Watched(fail=fail, concurrency=1))], tmp_path)
    assert sum(1 for row in rows(tmp_path) if row["failure"]) == failed.repeatable == 2
    small = replace(arm().model, context=64)  # nothing fits: an outcome
    overflown = await run([arm("small", model=small)], tmp_path, max_error_rate=1.0)
    assert (overflown.errors, overflown.repeatable) == ({"ContextOverflow": 10}, 0)
    assert {row["failure"]["error"] for row in rows(tmp_path, "small")} == {"ContextOverflow"}
    assert status(tmp_path, "small") == "finished"

    again, tracker = Watched(), Noted()
    await run([arm(engine=again), arm("small", model=small)], tmp_path, tracker=tracker)
    assert [episode.arm for episode in tracker.episodes] == ["full", "full"]
    assert not [row for row in rows(tmp_path) if row["failure"]]
    assert len(rows(tmp_path)) == 10
    assert status(tmp_path) == "finished"


async def test_a_run_stops_past_the_error_threshold_and_keeps_its_rows(tmp_path: Path) -> None:
    engine = Watched(fail=lambda number: TransportError("connection refused"), concurrency=2)
    arms = [arm(engine=engine, number=100), arm("other", engine=Watched(name="B"))]
    outcome = await run(arms, tmp_path, concurrency=1)
    assert "stopped: 10 of 10 episodes failed" in outcome.stopped
    assert "connection refused" in outcome.stopped
    assert "max_error_rate=0.5" in outcome.stopped
    assert len(rows(tmp_path)) == 10 == outcome.episodes
    assert status(tmp_path) == status(tmp_path, "other") == "stopped"
    healed = await run([arm(number=100), arms[1]], tmp_path)
    assert (len(rows(tmp_path)), healed.stopped) == (100, "")
    assert status(tmp_path) == "finished"


async def test_the_threshold_waits_for_enough_episodes(tmp_path: Path) -> None:
    engine = Watched(
        fail=lambda number: RequestRefused("no") if number <= 4 else None, concurrency=1
    )
    outcome = await run([arm(engine=engine, number=30)], tmp_path)
    assert (outcome.stopped, outcome.errors.total()) == ("", 4)
    strict = await run([arm("two", engine=Watched(fail=engine.fail))], tmp_path, min_episodes=2)
    assert "stopped: 2 of 2" in strict.stopped


async def test_resuming_runs_only_what_is_missing(tmp_path: Path) -> None:
    first = Watched()
    await run([arm(engine=first, limit=6)], tmp_path)
    before = rows(tmp_path)
    second, tracker = Watched(), Noted()
    await run([arm(engine=second, limit=10)], tmp_path, tracker=tracker)
    assert keys(before) < keys(rows(tmp_path))  # the sample is nested
    assert len(tracker.episodes) == 4
    assert rows(tmp_path)[:6] == before
    assert read_manifest(tmp_path / "study" / "full").planned == {"problems": 10, "samples": 1}
    third = Noted()
    await run([arm(limit=10, samples=2)], tmp_path, tracker=third)
    assert {episode.sample for episode in third.episodes} == {1}
    assert len(rows(tmp_path)) == 20


async def test_samples_and_arms_differ_in_their_seeds_as_they_should(tmp_path: Path) -> None:
    """Samples of a problem draw other tokens; arms draw the same at the same place."""
    one, two = Watched(concurrency=1), Watched(concurrency=1, name="B")
    await run([arm(engine=one, limit=2, samples=2)], tmp_path)
    await run([arm("two", engine=two, limit=2, samples=2)], tmp_path)
    assert len(set(one.watch.seeds)) == 2 * 2 * 2
    assert one.watch.seeds == two.watch.seeds


async def test_what_a_run_records_does_not_depend_on_its_concurrency(tmp_path: Path) -> None:
    await run([arm()], tmp_path / "a", concurrency=1)
    await run([arm()], tmp_path / "b", concurrency=9)

    def said(folder: Path) -> dict[str, list[str]]:
        return {r["problem"]: [t["calls"][0]["visible"] for t in r["turns"]] for r in rows(folder)}

    assert said(tmp_path / "a") == said(tmp_path / "b")


@pytest.mark.parametrize(
    "broken",
    [DataError("no such file"), KeyError("column"), SystemExit(3)],
    ids=["ours", "any", "exit"],
)
async def test_an_arm_that_cannot_be_prepared_leaves_the_others_alone(
    broken: BaseException, tmp_path: Path
) -> None:
    """Case E09: one, two, three, four; the second fails, the others are complete."""
    arms = [arm(name, limit=3) for name in ("one", "two", "three", "four")]
    arms[1] = replace(arms[1], benchmark=Questions(broken=broken))
    outcome = await run(arms, tmp_path)
    assert list(outcome.failures) == ["two"]
    assert str(broken) in outcome.failures["two"]
    for name in ("one", "three", "four"):
        assert (len(rows(tmp_path, name)), status(tmp_path, name)) == (3, "finished")


async def test_an_engine_that_does_not_start_fails_its_own_arms_only(tmp_path: Path) -> None:
    bad = Watched(name="B", refuses=EngineError("the port is taken"))
    arms = [arm("one", engine=bad), arm("two"), arm("three", engine=bad)]
    outcome = await run(arms, tmp_path)
    assert outcome.failures == {"one": "the port is taken", "three": "the port is taken"}
    assert status(tmp_path, "one") == "stopped"
    assert status(tmp_path, "two") == "finished"


async def test_the_same_arm_twice_is_refused_once(tmp_path: Path) -> None:
    outcome = await run([arm(), arm()], tmp_path)
    assert "two arms of the study are the same: full" in outcome.failures["full"]
    assert len(rows(tmp_path)) == 10
    two_studies = await run([arm(), arm(study="another")], tmp_path)
    assert two_studies.failures == {}
    assert len(two_studies.folders) == 2


async def test_other_settings_in_the_same_folder_are_refused(tmp_path: Path) -> None:
    await run([arm(identity={"sampling": {"temperature": 0.6}})], tmp_path)
    before = rows(tmp_path)
    outcome = await run([arm(identity={"sampling": {"temperature": 0.8}})], tmp_path)
    assert "sampling.temperature: 0.6 there, 0.8 now" in outcome.failures["full"]
    assert rows(tmp_path) == before


async def test_cancelling_keeps_what_is_finished_and_says_stopped(tmp_path: Path) -> None:
    done = arm("done", limit=2)
    await run([done], tmp_path)
    engine, tracker = Watched(latency_s=0.01, concurrency=2), Noted()
    task = asyncio.create_task(
        run([arm(engine=engine, number=200), done], tmp_path, tracker=tracker)
    )
    while len(tracker.episodes) < 6:
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.watch.open_now == []
    assert status(tmp_path) == "stopped"
    assert status(tmp_path, "done") == "finished"
    assert len(rows(tmp_path)) == len(tracker.episodes) < 200
    outcome = await run([arm(number=200)], tmp_path)
    assert outcome.episodes == 200 - len(tracker.episodes)
    assert status(tmp_path) == "finished"


async def test_the_folder_holds_its_settings_and_its_facts(tmp_path: Path) -> None:
    given = arm(limit=3, config={"seed": 42, "strategy": {"thinks": True}})
    await run([given], tmp_path, provenance={"python": "3"})
    folder = tmp_path / "study" / "full"
    assert (folder / "config.yaml").read_text() == "seed: 42\nstrategy:\n  thinks: true\n"
    manifest = read_manifest(folder)
    assert manifest.data == {"source": "questions", "problems": 10, "notes": {}}
    assert manifest.identity == {"arm": "full", "data": "questions"}
    assert (manifest.metric, manifest.metrics) == ("f1", METRICS)
    assert manifest.provenance == {"python": "3"}
