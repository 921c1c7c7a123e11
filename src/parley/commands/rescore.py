"""`parley rescore DIR`: grades recorded answers again, with today's rules. No engine needed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import yaml

from parley.building import build_benchmark
from parley.errors import ParleyError, StoreError
from parley.grading.thinking import noted
from parley.protocols import Benchmark
from parley.store import SCORES, STRANGE, find_arms, latest_rows, unreadable, write_atomic
from parley.types import Problem


def command(arguments: Sequence[str]) -> int:
    """Writes scores.jsonl beside the records, which stay as they are; reports read it first.

    Returns 1 where an arm of several could not be graded.
    """
    parser = argparse.ArgumentParser("parley rescore", description=__doc__)
    parser.add_argument("folder", type=Path, help="an arm's or a study's folder")
    folder = parser.parse_args(arguments).folder
    arms = find_arms(folder)
    unread = 0
    for arm in arms:
        try:
            graded, changed = rescore(arm, build_benchmark(_config(arm)))
        except (ParleyError, *STRANGE) as error:
            told = unreadable(arm, error)
            if len(arms) == 1:
                raise told from error
            unread += 1
            print(f"{arm.name}: not graded: {told.what}", file=sys.stderr)
            continue
        print(f"{arm.name}: {graded} answers graded again, {changed} scores changed")
    return 1 if unread else 0


def _config(arm: Path) -> dict[str, Any]:
    """The configuration that an arm was run with. Raises StoreError."""
    path = arm / "config.yaml"
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise StoreError(f"cannot read {path}: {error}") from error
    if not isinstance(values, dict):
        raise StoreError(f"{path} is no configuration")
    return values


def rescore(folder: Path, benchmark: Benchmark) -> tuple[int, int]:
    """Grades every answered episode of an arm; returns how many, and how many changed."""
    lines, changed = [], 0
    for row in latest_rows(folder):
        if row["answer"] is None:
            continue
        score = asdict(grade(row, benchmark))
        before = row["score"]
        changed += before is None or before["metrics"] != score["metrics"]
        lines.append({"problem": row["problem"], "sample": row["sample"], "score": score})
    write_atomic(folder / SCORES, b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return len(lines), changed


def grade(row: Mapping[str, Any], benchmark: Benchmark) -> Any:
    """The score of a recorded answer; the record holds all that grading needs."""
    problem = Problem(
        id=row["problem"],
        question=row["question"],
        answers=tuple(row["answers"]),
        kind=row["kind"],
        options=tuple(row.get("options", ())),
    )
    answer = row["answer"]
    score = benchmark.grade(problem, answer["text"], truncated=answer["truncated"])
    for turn in row["turns"]:
        if turn["index"] == answer["turn"]:
            said, cut = turn["calls"][0]["reasoning"], turn["calls"][0]["truncated_in_thinking"]
            return noted(score, benchmark, problem, said, truncated=cut)
    return score
