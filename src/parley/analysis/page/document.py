"""The report page: one HTML file that holds its code, its numbers and its transcripts.

It loads nothing: a content policy in its head allows only the scripts and the style whose hashes
it names. Data blocks are never run; in them `<` is escaped, or all is base64.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from parley.analysis.digest import Index
from parley.analysis.flow import Flow
from parley.analysis.frames import Frames, plain_rows
from parley.analysis.page.overview import overview
from parley.analysis.page.scores import Problem, Scores, by_disagreement, scores
from parley.analysis.page.transcripts import MOST_BYTES, MOST_EPISODES, Gathered, gather
from parley.analysis.transcript import inert

if TYPE_CHECKING:
    import pandas as pd

SCRIPTS = (
    *("elements", "data", "resampling", "state", "charts", "reading", "frontier", "scale"),
    *("columns", "results", "ledger", "cache", "conduct", "compare", "problems", "turns"),
    *("transcript", "main"),
)
"""Files of the page's own code, in the order in which they are joined into one script."""
STYLES = ("colours", "page", "tables", "charts", "transcript", "narrow")
"""Files of its style sheet, in their order."""


def page(
    study: str,
    frames: Frames,
    table: pd.DataFrame,
    told: Sequence[str],
    flows: Sequence[Flow] = (),
    *,
    most_bytes: int = MOST_BYTES,
    most_episodes: int = MOST_EPISODES,
) -> str:
    """The whole page; `flows` are the arms' own, in the table's order. Transcripts are kept up to
    `most_bytes`, in the order of `by_disagreement`; the page says how many there are and how to
    read the others."""
    seen = overview(study, frames, table, told, flows)
    arms = seen["arms"]
    paths = {(arm["study"], arm["arm"]): arm["folder"] for arm in frames.arm_rows()}
    folders = [paths[row["study"], row["arm"]] for row in plain_rows(table)]
    numbers = scores(frames.episodes, arms, folders, flows)
    order = by_disagreement(numbers, arms)
    wanted = _first(order, numbers, most_episodes)
    benchmarks = [str(arm["choices"].get("benchmark", "")) for arm in arms]
    indices = [frames.indices.get(folder, Index()) for folder in folders]
    read = gather(list(zip(benchmarks, map(Path, folders), indices, strict=True)), wanted)
    blocks, held = _blocks(order, numbers, read, most_bytes)
    seen["transcripts"] = {"held": len(held), "of": len(numbers.problems)}
    return _document(study, seen, _index(numbers, read, held), blocks)


def _first(order: Sequence[int], numbers: Scores, most: int) -> frozenset[Problem]:
    """Problems, in their order, as long as their episodes are at most so many."""
    episodes = [0] * len(numbers.problems)
    for columns in numbers.arms:
        for place in columns["p"]:
            episodes[place] += 1
    chosen = set()
    for place in order:
        most -= episodes[place]
        if most < 0:
            break
        chosen.add(numbers.problems[place])
    return frozenset(chosen)


def _blocks(
    order: Sequence[int], numbers: Scores, read: Gathered, most_bytes: int
) -> tuple[list[str], dict[Problem, int]]:
    """Base64 of each problem's transcripts, and which block is whose."""
    blocks: list[str] = []
    held: dict[Problem, int] = {}
    for problem in (numbers.problems[place] for place in order):
        if problem in read.held:
            block = base64.b64encode(read.block(problem)).decode()
            most_bytes -= len(block)
            if most_bytes < 0:
                break
            held[problem] = len(blocks)
            blocks.append(block)
    return blocks, held


def _index(numbers: Scores, read: Gathered, held: dict[Problem, int]) -> dict[str, Any]:
    texts = [read.questions.get(problem, ("", "")) for problem in numbers.problems]
    return {
        "benchmark": [benchmark for benchmark, _ in numbers.problems],
        "id": [inert(name) for _, name in numbers.problems],
        "kind": numbers.kinds,
        "question": [question for question, _ in texts],
        "gold": [gold for _, gold in texts],
        "block": [held.get(problem, -1) for problem in numbers.problems],
        "arms": [
            {**columns, **flow.means()}
            for columns, flow in zip(numbers.arms, read.flows, strict=True)
        ],
    }


def _document(
    study: str, seen: dict[str, Any], index: dict[str, Any], blocks: Sequence[str]
) -> str:
    assets = files("parley.analysis.page") / "assets"
    style = "".join(assets.joinpath(f"{name}.css").read_text("utf-8") for name in STYLES)
    licence = assets.joinpath("vendor/d3.LICENSE.txt").read_text(encoding="utf-8")
    library = assets.joinpath("vendor/d3.min.js").read_text(encoding="utf-8")
    parts = [assets.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    scripts = (f"/* {licence.strip()} */\n{library}", _closed(parts))
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(_digest(script) for script in scripts)}",
            f"style-src {_digest(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return _filled(
        assets.joinpath("page.html").read_text(encoding="utf-8"),
        policy=escape(policy),
        title=escape(f"{study}: report"),
        style=f"<style>{style}</style>",
        overview=_data("overview", _json(seen).replace("<", "\\u003c")),
        index=_data("index", base64.b64encode(_gzip(_json(index).encode())).decode()),
        transcripts="\n".join(_data(f"block-{i}", text) for i, text in enumerate(blocks)),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def _closed(parts: Sequence[str]) -> str:
    """One function around all files: they see each other, and nothing else sees them."""
    return "\n".join(['(() => {\n"use strict";', *parts, "})();"])


def _filled(template: str, **values: str) -> str:
    """The template with each `<!--name-->` replaced, once, in the order of the template."""
    made = []
    rest = template
    for name, value in values.items():
        before, found, rest = rest.partition(f"<!--{name}-->")
        assert found, f"page.html has no place for {name} after the one before it"
        made += [before, value]
    return "".join([*made, rest])


def _data(name: str, text: str) -> str:
    return f'<script type="application/octet-stream" id="{name}">{text}</script>'


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode()


def _gzip(data: bytes) -> bytes:
    """Without a date, so that the page is the same each time."""
    maker = zlib.compressobj(9, zlib.DEFLATED, 31)
    return maker.compress(data) + maker.flush()


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
