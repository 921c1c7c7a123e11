"""What Parley itself costs: the whole loop against a bare aiohttp client, over real HTTP.

    python scripts/benchmark_loop.py             both, side by side, without and with latency
    python scripts/benchmark_loop.py --memory    growth over 20,000 episodes
    python scripts/benchmark_loop.py --profile   where the loop's time goes

A server in a process of its own speaks vLLM's dialect and answers at once. The loop runs a study
of all strategies through `engine=remote`: prompts of about 600 words, client, parsing, ledger,
store. The bare client then posts the very same bodies. Rounds alternate, since machines drift.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import cProfile
import json
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
from fast_server import CHAT, MODEL, serving

from parley import config
from parley.arm import Arm
from parley.progress import Progress
from parley.study import Settings, run_study
from parley.types import Episode

CONCURRENCY = 256
STRATEGIES = ("full", "concise", "conclusion", "summary", "artifact", "pact")
MOST_RATIO = 2.5
MOST_GROWTH_MB = 100
WORDS_PER_SHARE = 500


def main() -> int:
    """Prints what was measured; 1 where a bound is passed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--problems", type=int, default=500, help="problems of each of six arms")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds of each side")
    parser.add_argument("--memory", action="store_true", help="grow over 20,000 episodes instead")
    parser.add_argument("--profile", action="store_true", help="profile one round of the loop")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        data = Path(home, "problems.jsonl")
        write_problems(data, given.problems)
        bench = Bench(home=Path(home), data=data)
        if given.memory:
            return memory(bench)
        if given.profile:
            return profile(bench)
        return compare(bench, given.rounds)


@dataclass(slots=True, kw_only=True)
class Bench:
    """One study over and over, each time into a fresh folder."""

    home: Path
    data: Path
    runs: int = 0

    def arms(self, url: str, **more: object) -> list[Arm]:
        shared = [f"benchmark=jsonl benchmark.path={self.data} engine=remote engine.urls=[{url}]"]
        shared += ["model=qwen3-8b limit=null", f"model.name={MODEL}"]
        shared += [f"{key}={value}" for key, value in more.items()]
        words = " ".join(shared).split()
        jobs = [(words, config.compose_one([*words, f"strategy={name}"])) for name in STRATEGIES]
        arms, _, failures = config.arms(jobs)
        if failures:
            raise config.combined(failures)
        return arms

    def loop(self, arms: Sequence[Arm], tracker: Sampler) -> None:
        """One run of the whole loop."""
        self.runs += 1
        settings = Settings(outputs=self.home / f"run{self.runs}", concurrency=CONCURRENCY)
        progress = Progress(lambda text: None)
        outcome = asyncio.run(run_study(arms, settings, progress=progress, tracker=tracker))
        if outcome.errors or outcome.failures or outcome.stopped:
            raise SystemExit(f"the loop failed: {outcome}")


@dataclass(slots=True, kw_only=True)
class Sampler:
    """A tracker that counts calls and tokens, and reads the process's memory now and then."""

    every: int = 0
    episodes: int = 0
    calls: int = 0
    estimated: int = 0
    memory: list[tuple[int, float]] = field(default_factory=list)

    @property
    def state(self) -> Mapping[str, Any]:
        return {}

    def start(self, arm: str, config: Mapping[str, object], folder: str | None = None) -> None:
        pass

    def log(self, episode: Episode) -> None:
        self.episodes += 1
        for turn in episode.turns:
            self.calls += len(turn.calls)
            self.estimated += sum(call.tokens.estimated for call in turn.calls)
        if self.every and self.episodes % self.every == 0:
            self.memory.append((self.episodes, resident_mb()))

    def finish(self, arm: str, folder: str) -> None:
        pass

    def report(self, folder: str) -> None:
        pass

    def close(self) -> None:
        pass


async def bare(url: str, bodies: Sequence[bytes]) -> None:
    """A plain client that posts the bodies and decodes the answers."""
    queue = iter(bodies)
    headers = {"Content-Type": "application/json"}

    async def worker(session: aiohttp.ClientSession) -> None:
        for body in queue:
            async with session.post(f"{url}{CHAT}", data=body, headers=headers) as response:
                await response.json()

    connector = aiohttp.TCPConnector(limit=CONCURRENCY)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(worker(session) for _ in range(CONCURRENCY)))


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of the clock, and of this process's CPU, which other processes disturb less."""

    wall: float
    cpu: float

    def each(self, calls: int) -> str:
        return f"{calls / self.wall:5,.0f} calls/s ({self.cpu / calls * 1e3:.2f} ms of CPU a call)"


def timed(work: Callable[[], object]) -> Spent:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def compare(bench: Bench, rounds: int) -> int:
    """The ratio of the two, and both with 200 ms of latency."""
    with serving(remember=True) as server:
        arms = bench.arms(server.url)
        first = Sampler()
        bench.loop(arms, first)  # fills the server's memory, so that it answers at once
        bodies = server.bodies()
        calls, words = len(bodies), statistics.mean(map(prompt_words, bodies[:200]))
        print(f"{first.episodes} episodes, {calls} calls, {words:.0f} words a prompt")
        print(f"tokens by part are exact in {first.calls - first.estimated} calls")
        sides = {
            "bare client": lambda: asyncio.run(bare(server.url, bodies)),
            "whole loop": lambda: bench.loop(arms, Sampler()),
        }
        spent: dict[str, list[Spent]] = {name: [] for name in sides}
        for _ in range(rounds):
            for name, work in sides.items():
                spent[name].append(timed(work))
                print(f"  {name:<12}{spent[name][-1].each(calls)}", flush=True)
        pairs = zip(spent["bare client"], spent["whole loop"], strict=True)
        # Neighbours in time, and the median of them: machines have other things to do as well.
        ratio = statistics.median(loop.wall / plain.wall for plain, loop in pairs)
        for name, taken in spent.items():
            print(f"{name:<12}{min(taken, key=lambda one: one.wall).each(calls)} at best")
        print(f"ratio {ratio:.2f}, the median of {rounds} rounds (at most {MOST_RATIO})")
        server.delay(0.2)
        for name, work in sides.items():
            print(f"with 200 ms latency: {name:<12}{timed(work).each(calls)}")
    return int(ratio > MOST_RATIO)


def memory(bench: Bench) -> int:
    """Resident memory of this process over 20,000 episodes."""
    with serving() as server:
        samples = -(-20_000 // (len(STRATEGIES) * sum(1 for _ in bench.data.open())))
        tracker = Sampler(every=500)
        bench.loop(bench.arms(server.url, samples=samples), tracker)
    shown = tracker.memory[:: max(1, len(tracker.memory) // 10)]
    for episodes, size in shown:
        print(f"  {episodes:>6} episodes: {size:,.0f} MB")
    growth = max(size for _, size in tracker.memory) - tracker.memory[0][1]
    print(f"growth over {tracker.episodes} episodes: {growth:.0f} MB (less than {MOST_GROWTH_MB})")
    return int(growth >= MOST_GROWTH_MB)


def profile(bench: Bench) -> int:
    """The functions in which the loop spends its time."""
    with serving(remember=True) as server:
        arms = bench.arms(server.url)
        bench.loop(arms, Sampler())
        profiler = cProfile.Profile()
        with profiler:
            bench.loop(arms, Sampler())
    for order in ("tottime", "cumtime"):
        pstats.Stats(profiler).sort_stats(order).print_stats(45)
    return 0


def prompt_words(body: bytes) -> int:
    return sum(len(message["content"].split()) for message in json.loads(body)["messages"])


def resident_mb() -> float:
    """Memory of this process that is in RAM, in MB (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.split("\n") if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def write_problems(path: Path, number: int) -> None:
    """Invented questions with two shares of prose-like words, as JSON lines."""
    rng = Random(7)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "in", "or", "u")]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(6000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]  # few words are common, as in prose

    def text(length: int) -> str:
        return " ".join(rng.choices(words, weights, k=length)).capitalize() + "."

    with path.open("w", encoding="utf-8") as file:
        for index in range(number):
            shares = [
                [{"title": text(2), "text": text(WORDS_PER_SHARE // 5)} for _ in range(5)]
                for _ in range(2)
            ]
            row = {"id": f"q{index}", "question": text(14), "answer": text(2), "shares": shares}
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
