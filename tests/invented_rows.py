"""Rows of every benchmark in the shape of its hub copy, all invented, for tests without a hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from parley.benchmarks.fictional import Fictional
from parley.types import Problem


def write_all(folder: Path, number: int = 3) -> None:
    """`<benchmark>.jsonl` of each, as `data=FOLDER` finds them."""
    folder.mkdir(parents=True, exist_ok=True)
    two_hop = Fictional(problems=number, distractors=4).load().problems
    tables: dict[str, list[dict[str, Any]]] = {
        "hotpotqa": [hotpotqa(problem) for problem in two_hop],
        "two_wiki": [{**hotpotqa(problem), "type": "compositional"} for problem in two_hop],
        "aime2024": [aime(index) for index in range(number)],
        "aime2025": [aime(index + 50) for index in range(number)],
        "gpqa_diamond": [gpqa(index) for index in range(number)],
        "openbookqa": [openbookqa(index) for index in range(number)],
    }
    for name, rows in tables.items():
        lines = b"".join(orjson.dumps(row) + b"\n" for row in rows)
        (folder / f"{name}.jsonl").write_bytes(lines)


def hotpotqa(problem: Problem) -> dict[str, Any]:
    paragraphs = [paragraph for share in problem.shares for paragraph in share]
    gold = [share[0].title for share in problem.shares]
    return {
        "id": problem.id,
        "question": problem.question,
        "answer": problem.answers[0],
        "type": problem.kind,
        "level": "hard",
        "supporting_facts": {"title": gold, "sent_id": [0, 0]},
        "context": {
            "title": [paragraph.title for paragraph in paragraphs],
            "sentences": [[paragraph.text] for paragraph in paragraphs],
        },
    }


def aime(index: int) -> dict[str, Any]:
    text = f"Find the remainder when ${index + 7}^2$ is divided by $1000$."
    return {"id": index, "problem": text, "answer": str((index + 7) ** 2 % 1000)}


def gpqa(index: int) -> dict[str, Any]:
    right = 12 + index
    return {
        "Record ID": f"rec{index}",
        "Question": f"A vessel holds {right} litres and loses none. How many are left?",
        "Correct Answer": str(right),
        **{f"Incorrect Answer {place}": str(right + place) for place in (1, 2, 3)},
        "High-level domain": "Physics",
    }


def openbookqa(index: int) -> dict[str, Any]:
    return {
        "id": f"row-{index}",
        "question_stem": f"Which of these keeps {index + 2} hands warm",
        "choices": {"text": ["gloves", "ice", "a kite", "a map"], "label": ["A", "B", "C", "D"]},
        "answerKey": "A",
    }
