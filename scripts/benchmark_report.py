"""How long the report of a large study takes, and how much memory: first without a cache, then
with the one that the first left.

    python scripts/benchmark_report.py                   100,000 episodes of the scripted engine
    python scripts/benchmark_report.py --words 200       each call with so many words more
    python scripts/benchmark_report.py --folder outputs/x  a study of your own

A few hundred episodes of the scripted engine are run; the rest are copies under other ids, with
scores and tokens of their own. Prints seconds, seconds of processors and peak memory (resident) of
`parley report`, each time in a process of its own, and the sizes of what it read and wrote; 1 where
a bound is passed. On a machine that does other work, judge by the seconds of processors.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import orjson

import parley
from parley.analysis.cache import FOLDER
from parley.store import find_arms, iter_lines, read_manifest
from parley.store.archive import EPISODES
from parley.store.manifest import MANIFEST

STRATEGIES = ("full", "concise", "conclusion", "summary", "artifact", "pact")
RUN = 50
"""Episodes of each arm that are really run."""
MOST_SECONDS, MOST_MB = 60.0, 2000.0


def main() -> int:
    """Prints what was measured; 1 where a bound is passed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=0, help="random words added to every thought")
    parser.add_argument("--folder", type=Path, help="a study that is already there")
    parser.add_argument("--keep", type=Path, help="make the study here, and leave it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        place = given.keep or Path(home)
        study = given.folder or make(place, -(-given.episodes // len(STRATEGIES)), given.words)
        read = sum((arm / EPISODES).stat().st_size for arm in find_arms(study))
        print(f"records: {read / 1e6:,.0f} MB in {len(find_arms(study))} arms")
        for arm in find_arms(study):
            shutil.rmtree(arm / FOLDER, ignore_errors=True)
        measured = [report(study, name) for name in ("first", "again")]
        print(f"index.html: {(study / 'report' / 'index.html').stat().st_size / 1e6:.1f} MB")
    return int(any(s > MOST_SECONDS or mb > MOST_MB for s, mb in measured))


def report(study: Path, name: str) -> tuple[float, float]:
    """Seconds and peak resident MB of `parley report` in a process of its own."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "parley.cli", "report", str(study)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"parley report ended with {child.returncode}")
    peak = used.ru_maxrss / 1024
    spent = used.ru_utime + used.ru_stime
    print(f"{name}: {seconds:.1f} s, {spent:.1f} s of processors, {peak:,.0f} MB at most")
    return seconds, peak


def make(home: Path, problems: int, words: int) -> Path:
    """The study: each arm's run, then its copies."""
    home.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(home):
        parley.run(
            *("engine=scripted", "model=scripted", "study=large", f"limit={min(RUN, problems)}"),
            strategy=list(STRATEGIES),
        )
    study = home / "outputs" / "large"
    for arm in find_arms(study):
        multiply(arm, problems, words)
    return study


def multiply(arm: Path, problems: int, words: int) -> None:
    """Makes of an arm's episodes so many, and plans as many in its manifest."""
    rng = Random(arm.name)
    known = ["".join(rng.choices("aeionrstldm", k=rng.randint(2, 9))) for _ in range(6000)]
    run = list(iter_lines(arm / EPISODES))
    skill = rng.uniform(0.3, 0.7)
    with (arm / EPISODES).open("wb") as file:
        for number in range(problems):
            episode = run[number % len(run)]
            episode["problem"] = f"copy-{number:06d}"
            f1 = round(min(1.0, max(0.0, rng.gauss(skill, 0.4))), 4)
            if episode["score"]:
                episode["score"]["metrics"] = {"em": float(f1 == 1), "f1": f1, "f1_squad": f1}
            for turn in episode["turns"]:
                for call in turn["calls"]:
                    more = rng.randint(0, 40)
                    call["usage"]["completion"] += more
                    call["tokens"]["reasoning"] += more
                    if words:
                        call["reasoning"] = " ".join(rng.choices(known, k=words))
            file.write(orjson.dumps(episode) + b"\n")
    manifest = read_manifest(arm).to_dict()
    manifest["planned"] = {**manifest["planned"], "problems": problems}
    (arm / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))


if __name__ == "__main__":
    sys.exit(main())
