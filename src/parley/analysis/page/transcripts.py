"""Conversations as the page shows them, one compressed block per problem with all its arms.

Text of models and data sets becomes data here: control characters are made visible, and what was
published is cut out as pieces, so that the page only ever sets plain text.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from parley.analysis.digest import Index
from parley.analysis.page.flows import Flow, parts
from parley.analysis.page.scores import Problem
from parley.analysis.transcript import inert
from parley.errors import StoreError
from parley.store import STRANGE, scored_rows

MOST_BYTES = 13_000_000
"""Of all compressed transcripts as they stand in the page (base64): keeps it below 20 MB."""
MOST_EPISODES = 3_000
"""Held while records are read, so that memory does not grow with a study."""
Record = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Gathered:
    """Texts of every problem, transcripts of some."""

    questions: dict[Problem, tuple[str, str]] = field(default_factory=dict)
    """(question, first gold answer)"""
    held: dict[Problem, list[bytes]] = field(default_factory=dict)
    """Transcripts, each compressed on its own."""
    flows: list[Flow] = field(default_factory=list)
    """One per arm."""

    def block(self, problem: Problem) -> bytes:
        """All transcripts of a problem as one gzip stream: what its arms share is stored once."""
        packed = [zlib.decompress(each) for each in self.held[problem]]
        maker = zlib.compressobj(6, zlib.DEFLATED, 31)
        return maker.compress(b"[" + b",".join(packed) + b"]") + maker.flush()


def gather(arms: Sequence[tuple[str, Path, Index]], wanted: frozenset[Problem]) -> Gathered:
    """Reads the conversations of some problems, and no others; `arms` are (benchmark, folder,
    index) in the page's order. Episodes of a shape that cannot be shown are left out here."""
    found = Gathered()
    for place, (benchmark, folder, index) in enumerate(arms):
        found.flows.append(index.flow)
        for name, *texts in zip(index.problems, index.questions, index.golds, strict=True):
            found.questions.setdefault((benchmark, name), (texts[0], texts[1]))
        chosen = [
            start
            for name, start in zip(index.problems, index.starts, strict=True)
            if (benchmark, name) in wanted
        ]
        for episode in _readable(folder, chosen):
            with suppress(*STRANGE):
                text = orjson.dumps({"arm": place, **compact(episode)})
                problem = (benchmark, str(episode["problem"]))
                found.held.setdefault(problem, []).append(zlib.compress(text, 1))
    return found


def compact(episode: Record) -> dict[str, Any]:
    """One conversation, ready to be shown. Texts are pieces: even ones private, odd published."""
    score, answer, failure = episode["score"], episode["answer"], episode["failure"]
    return {
        "sample": episode["sample"],
        "question": inert(episode["question"]),
        "gold": [inert(text) for text in episode["answers"]],
        "options": [inert(text) for text in episode["options"]],
        "answer": inert(answer["text"]) if answer else None,
        "rule": inert(f"turn {answer['turn']} {answer['rule']}".strip()) if answer else "",
        "extracted": inert(score["extracted"]) if score and score["extracted"] else None,
        "metrics": score["metrics"] if score else {},
        "status": str(score["status"]) if score else "no score",
        "failure": inert(f"{failure['error']}: {failure['message']}") if failure else None,
        "turns": [_turn(episode, turn) for turn in episode["turns"]],
    }


def _readable(folder: Path, starts: Sequence[int]) -> Iterator[Record]:
    try:
        yield from scored_rows(folder, starts)
    except (StoreError, OSError):
        return


def _turn(episode: Record, turn: Record) -> dict[str, Any]:
    message = turn["message"]
    kept = message["kept"] if message else ()
    written = " ".join(piece for call in turn["calls"] for piece in _published(call, kept))
    sent = message["text"] if message else ""
    return {
        "turn": turn["index"],
        "title": inert(turn["title"]),
        "round": turn["round"],
        "answers": turn["answers"],
        "hears": turn["hears"],
        "heard": [
            [source, None if text is None else inert(text)] for source, text in turn["heard"]
        ],
        "status": message["status"] if message else None,
        "sent": inert(sent) if sent.split() != written.split() else None,
        "calls": [_call(episode, call, number, kept) for number, call in enumerate(turn["calls"])],
    }


def _published(call: Record, kept: Sequence[Record]) -> Iterator[str]:
    """Published stretches in the order in which they were generated."""
    for source in ("reasoning", "visible"):
        for span in kept:
            if span["output"] == call["number"] and span["source"] == source:
                yield call[source][span["start"] : span["end"]]


def _call(episode: Record, call: Record, number: int, kept: Sequence[Record]) -> dict[str, Any]:
    marked = [span for span in kept if span["output"] == number]
    said = [*(["cut at the token limit"] if call["finish"] == "length" else ()), *call["flags"]]
    if call["finish"] not in ("stop", "length"):
        said.append(f"finish: {call['finish']}")
    return {
        "kind": inert(call["kind"]),
        "prompt": call["usage"]["prompt"],
        "output": call["usage"]["completion"],
        "cached": call["usage"]["cached"],
        "seconds": round(call["latency"], 3),
        "reused": call["reused"],
        "estimated": call["tokens"]["estimated"] or call["usage"]["estimated"],
        "parts": parts(call["tokens"]),
        "said": [inert(str(text)) for text in said],
        "read": _read(episode, call),
        **{
            source: _pieces(call[source], [s for s in marked if s["source"] == source])
            for source in ("reasoning", "visible")
        },
    }


def _read(episode: Record, call: Record) -> list[list[Any]]:
    """The call's prompt as (part, text or the turn that is read again)."""
    segments = (episode["segments"][index] for index in call["prompt"])
    return [[part, inert(text) if source is None else source] for part, _, text, source in segments]


def _pieces(text: str, spans: Sequence[Record]) -> list[str]:
    """The text cut at the spans: what is between them, what is in them, in turn."""
    pieces: list[str] = []
    at = 0
    for span in sorted(spans, key=lambda span: int(span["start"])):
        start, end = max(at, span["start"]), max(at, span["end"])
        pieces += [inert(text[at:start]), inert(text[start:end])]
        at = end
    return [*pieces, inert(text[at:])]
