"""`parley rescore DIR`: grades recorded answers again, with today's rules. No engine needed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import yaml

from parley.analysis.rescored import SCORES
from parley.building import build_benchmark
from parley.protocols import Benchmark
from parley.store import find_arms, latest_rows, write_atomic
from parley.types import Problem


def command(arguments: Sequence[str]) -> int:
    """Writes scores.jsonl beside the records, which stay as they are; reports read it first."""
    parser = argparse.ArgumentParser("parley rescore", description=__doc__)
    parser.add_argument("folder", type=Path, help="an arm's or a study's folder")
    folder = parser.parse_args(arguments).folder
    for arm in find_arms(folder):
        values = yaml.safe_load((arm / "config.yaml").read_text(encoding="utf-8"))
        graded, changed = rescore(arm, build_benchmark(values))
        print(f"{arm.name}: {graded} answers graded again, {changed} scores changed")
    return 0


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
    return benchmark.grade(problem, row["answer"]["text"], truncated=row["answer"]["truncated"])
