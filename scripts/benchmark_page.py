"""How large the report page is and how fast it opens, at a thousand episodes.

    python scripts/benchmark_page.py                     1,000 episodes of the scripted engine
    python scripts/benchmark_page.py --words 1500        each call as long as a reasoner's
    python scripts/benchmark_page.py --folder outputs/x  a study of your own

Prints the size, the time that `page` takes, and the milliseconds from asking for the file until
everything is drawn and can be used, in a headless Chromium (the best and the median of five).
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import orjson
from playwright.sync_api import sync_playwright

import parley
from parley.analysis.frames import load
from parley.analysis.notes import notes
from parley.analysis.page.document import page
from parley.analysis.tables import results
from parley.store import iter_lines

STRATEGIES = ("full", "concise", "conclusion", "artifact", "pact")
ROUNDS = 5
MOST_BYTES = 20_000_000
MOST_SECONDS = 2.0


def main() -> int:
    """Prints what was measured; 1 where a bound is passed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--words", type=int, default=0, help="random words added to every thought")
    parser.add_argument("--folder", type=Path, help="a study that is already there")
    parser.add_argument("--browser", default=found(), help="path of a Chromium")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        study = given.folder or run(Path(home), given.episodes // len(STRATEGIES), given.words)
        started = time.perf_counter()
        frames = load(study)
        table = results(frames)
        told = notes(frames, table)
        read = time.perf_counter()
        html = page(study.name, frames, table, told)
        done = time.perf_counter()
        size = len(html.encode())
        print(f"{len(frames.episodes):,} episodes: {size / 1e6:.2f} MB")
        print(f"frames and table {read - started:.1f} s, page {done - read:.1f} s")
        file = Path(home, "index.html")
        file.write_text(html, encoding="utf-8")
        seconds = opening(file, given.browser)
    best, median = min(seconds), statistics.median(seconds)
    print(f"opens in {1000 * best:.0f} ms (median {1000 * median:.0f} ms)")
    return int(size > MOST_BYTES or best > MOST_SECONDS)


def found() -> str | None:
    """A Chromium of this machine; None leaves it to Playwright to use its own."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


def run(home: Path, problems: int, words: int) -> Path:
    """A study of the scripted engine, its private thoughts lengthened where that is asked for."""
    with contextlib.chdir(home):
        parley.run(
            "engine=scripted",
            "model=scripted",
            "study=page",
            f"limit={problems}",
            strategy=list(STRATEGIES),
        )
    study = home / "outputs" / "page"
    if words:
        for file in study.glob("*/episodes.jsonl"):
            lengthen(file, words)
    return study


def lengthen(file: Path, words: int) -> None:
    """Adds so many random words to the reasoning of every call: text that compresses as prose
    does, a few words being common."""
    rng = Random(file.parent.name)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "in", "or", "u")]
    known = ["".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(6000)]
    weights = [1 / (rank + 5) for rank in range(len(known))]
    episodes = list(iter_lines(file))
    for episode in episodes:
        for turn in episode["turns"]:
            for call in turn["calls"]:
                call["reasoning"] += " " + " ".join(rng.choices(known, weights, k=words))
    file.write_bytes(b"".join(orjson.dumps(episode) + b"\n" for episode in episodes))


def opening(file: Path, path: str | None) -> list[float]:
    """Seconds from asking for the file until the page says that it is ready, in fresh tabs."""
    seconds = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        for _ in range(ROUNDS):
            tab = browser.new_page(viewport={"width": 1360, "height": 900})
            started = time.perf_counter()
            tab.goto(file.as_uri())
            tab.wait_for_selector("html[data-ready]", state="attached")
            seconds.append(time.perf_counter() - started)
            tab.close()
        browser.close()
    return seconds


if __name__ == "__main__":
    sys.exit(main())
