"""Arms, episodes and whole tracked studies for the tests of tracking.

Run as a script, it plays one study against the real wandb package in a process of its own, so
that settings from the environment, exit hooks and the service process are those of a user's run:
`python tracking_cases.py SCENARIO FOLDER` prints the tracker's state, as JSON.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson

from parley.store import SCORES
from parley.tracking import WandbTracker
from parley.types import (
    Answer,
    Call,
    Episode,
    Failure,
    Message,
    Score,
    Tokens,
    Turn,
    Usage,
)
from parley.upload import upload

STUDY = "pilot"
SECRET = "hunter2-do-not-tell"


def call(number: int, prompt: int, completion: int, visible: str) -> Call:
    return Call(
        kind="speak",
        number=number,
        prompt=(0,),
        request_hash="00",
        seed=1,
        thinking=True,
        max_tokens=512,
        reasoning="",
        visible=visible,
        finish="stop",
        usage=Usage(prompt=prompt, completion=completion),
        tokens=Tokens(prompt={"question": prompt}, published=completion),
    )


def episode(arm: str, problem: str, f1: float | None, tokens: int = 100) -> Episode:
    """Two turns, the second of which answers. Without an F1 it failed, as a call did."""
    turns = (
        Turn(
            index=0,
            seat="agent_a",
            title="Agent A",
            round=0,
            hears=(),
            answers=False,
            calls=(call(0, tokens, 10, "it is in Lyon"),),
            message=Message(text="The museum is in Lyon."),
        ),
        Turn(
            index=1,
            seat="agent_b",
            title="Agent B",
            round=1,
            hears=(0,),
            answers=True,
            calls=(call(0, tokens, 5, "Answer: Lyon"),),
        ),
    )
    failed = f1 is None
    return Episode(
        version=1,
        arm=arm,
        problem=problem,
        sample=0,
        kind="bridge",
        question=f"Where is {problem}?",
        answers=("Lyon", "Lyons"),
        segments=(("question", "user", f"Where is {problem}?\n", None),),
        turns=() if failed else turns,
        answer=None if failed else Answer(text="Answer: Lyon", turn=1),
        score=None
        if f1 is None
        else Score(metrics={"f1": f1, "em": float(f1 == 1)}, extracted="Lyon"),
        failure=Failure(error="TransportError", message="reset", repeat=True) if failed else None,
        started=time.time(),
    )


def manifest(arm: str, strategy: str, status: str = "finished") -> dict[str, Any]:
    return {
        "version": 1,
        "study": STUDY,
        "arm": arm,
        "label": strategy,
        "choices": {
            "benchmark": "fictional",
            "topology": "pair",
            "strategy": strategy,
            "model": "tiny",
            "seed": 42,
        },
        "identity": {
            "sampling": {"temperature": 0.6},
            "engine": {"url": f"http://me:{SECRET}@localhost/v1", "api_key": SECRET},
        },
        "fingerprint": "0123abcd",
        "metric": "f1",
        "metrics": ["em", "f1"],
        "status": status,
        "planned": {"problems": 4, "samples": 1},
        "tracking": {},
    }


def write_arm(folder: Path, facts: dict[str, Any], episodes: Sequence[Episode]) -> Path:
    """An arm's folder as a study leaves it; later lines of a problem win."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_bytes(orjson.dumps(facts))
    with (folder / "episodes.jsonl").open("ab") as stream:
        stream.writelines(orjson.dumps(one) + b"\n" for one in episodes)
    return folder


def several(folder: Path, tracker: WandbTracker) -> None:
    """Three arms, interleaved; one fails an episode first, one is stopped."""
    from parley.analysis.report import write_report

    strategies = ("full", "pact", "concise")
    arms = {f"arm-{name}": manifest(f"arm-{name}", name) for name in strategies}
    arms["arm-concise"]["status"] = "stopped"
    for arm, facts in arms.items():
        tracker.start(arm, facts, str(folder / STUDY / arm))
    told: dict[str, list[Episode]] = {arm: [] for arm in arms}
    for number, f1 in enumerate((1.0, 0.5, 0.0)):
        for place, arm in enumerate(arms):
            told[arm].append(episode(arm, f"p{number}", f1, 100 * (place + 1)))
            if (arm, number) == ("arm-pact", 1):
                told[arm].insert(1, episode(arm, "p1", None))
                tracker.log(told[arm][1])
            tracker.log(told[arm][-1])
    for arm, facts in arms.items():
        write_arm(folder / STUDY / arm, facts, told[arm])
    write_report(folder / STUDY)
    for arm in arms:
        tracker.finish(arm, str(folder / STUDY / arm))
    tracker.report(str(folder / STUDY))
    tracker.close()


def resumed(folder: Path, tracker: WandbTracker) -> None:
    """One arm in two sessions of one process, the first of which ends without a word."""
    arm, home = "arm-full", folder / STUDY / "arm-full"
    facts = manifest(arm, "full")
    tracker.start(arm, facts, str(home))
    first = [episode(arm, "p0", 1.0), episode(arm, "p1", None)]
    for one in first:
        tracker.log(one)
    write_arm(home, facts, first)
    tracker.close()
    tracker.start(arm, facts, str(home))
    time.sleep(0.5)
    again = [episode(arm, "p1", 0.5), episode(arm, "p2", 0.0)]
    for one in again:
        tracker.log(one)
    write_arm(home, facts, again)
    tracker.finish(arm, str(home))
    tracker.close()


def replayed(folder: Path, tracker: WandbTracker) -> None:
    """Arms that nobody tracked, sent later, twice; one is still running."""
    arms = (("arm-full", "finished"), ("arm-pact", "finished"), ("arm-summary", "running"))
    for arm, status in arms:
        facts = manifest(arm, arm.removeprefix("arm-"), status)
        write_arm(folder / STUDY / arm, facts, [episode(arm, f"p{n}", n / 4) for n in range(5)])
    for _ in range(2):
        sent = upload(folder / STUDY, tracker)
        assert (sent.arms, sent.episodes) == (("arm-full", "arm-pact"), 10), sent
        assert sent.skipped == {"arm-summary": "is running, not finished"}


def regraded(folder: Path, tracker: WandbTracker) -> None:
    """An arm of one right answer and one that was graded wrong and later right."""
    home = folder / STUDY / "arm-full"
    write_arm(home, manifest("arm-full", "full"), [episode("arm-full", f"p{n}", n) for n in (0, 1)])
    later = Score(metrics={"f1": 1.0, "em": 1.0}, extracted="Lyons")
    line = {"problem": "p0", "sample": 0, "score": later}
    (home / SCORES).write_bytes(orjson.dumps(line, default=dict) + b"\n")
    upload(folder / STUDY, tracker)


def services(parent: int) -> list[int]:
    """Process ids of the W&B services that serve the process; zombies left out.

    `ps` is told not to cut its lines, which it does where COLUMNS is set, as in pytest's workers.
    """
    listed = subprocess.run(["ps", "-wweo", "pid,args"], capture_output=True, text=True, check=True)
    lines = (line.split() for line in listed.stdout.splitlines())
    return [
        int(words[0])
        for words in lines
        if len(words) > 2 and "wandb-core" in words[1] and words[-2:] == ["--pid", str(parent)]
    ]


def _beheaded(folder: Path, tracker: WandbTracker, victim: Callable[[], int]) -> None:
    arm, home = "arm-full", folder / STUDY / "arm-full"
    tracker.start(arm, manifest(arm, "full"), str(home))
    tracker.log(episode(arm, "p0", 1.0))
    while not tracker.state["runs"]:
        time.sleep(0.05)
    os.kill(victim(), signal.SIGKILL)
    for number in range(1, 4):
        tracker.log(episode(arm, f"p{number}", 1.0))
    write_arm(home, manifest(arm, "full"), [episode(arm, "p0", 1.0)])
    tracker.finish(arm, str(home))
    tracker.close()


def beheaded(folder: Path, tracker: WandbTracker) -> None:
    """W&B's service is killed in the middle of the study."""
    _beheaded(folder, tracker, lambda: services(os.getpid())[0])


def killed(folder: Path, tracker: WandbTracker) -> None:
    """The study itself is killed in the middle."""
    _beheaded(folder, tracker, os.getpid)


def partly(folder: Path, tracker: WandbTracker) -> None:
    """The second of three arms cannot have a run; the others do."""
    (folder / "file").write_text("taken", encoding="utf-8")
    homes = {"arm-full": STUDY, "arm-pact": "file", "arm-concise": STUDY}
    for arm, home in homes.items():
        tracker.start(arm, manifest(arm, arm), str(folder / home / arm))
    for arm in homes:
        tracker.log(episode(arm, "p0", 1.0))
        written = write_arm(folder / STUDY / arm, manifest(arm, arm), [episode(arm, "p0", 1.0)])
        tracker.finish(arm, str(written))
    tracker.close()


SCENARIOS: dict[str, Callable[[Path, WandbTracker], None]] = {
    "several": several,
    "resumed": resumed,
    "replayed": replayed,
    "regraded": regraded,
    "beheaded": beheaded,
    "killed": killed,
    "partly": partly,
}


def main() -> None:
    scenario, folder, settings = sys.argv[1], Path(sys.argv[2]), orjson.loads(sys.argv[3])
    tracker = WandbTracker(**settings)
    hooks = sys.exit, sys.excepthook
    SCENARIOS[scenario](folder, tracker)
    assert (sys.exit, sys.excepthook) == hooks
    print(orjson.dumps(tracker.state).decode())


if __name__ == "__main__":
    main()
