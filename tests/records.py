"""Records as a run writes them, made through the real types, for tests that read records."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from parley.store import ArmWriter, Manifest
from parley.store.manifest import write_manifest
from parley.types import (
    VERSION,
    Answer,
    Call,
    Episode,
    Failure,
    Message,
    Part,
    Score,
    Span,
    Status,
    Tokens,
    Turn,
    Usage,
)

TITLES = {"agent_a": "Agent A", "agent_b": "Agent B"}
FIXED: dict[Part, int] = {
    "template": 5,
    "system": 30,
    "question": 20,
    "evidence": 400,
    "instruction": 40,
    "cue": 6,
}


def call(
    *,
    history: Mapping[int, int] | None = None,
    reasoning: int = 50,
    published: int = 30,
    published_reasoning: int = 0,
    discarded: int = 10,
    answer: int = 0,
    control: int = 4,
    cached: int = 100,
    estimated: bool = False,
    **changes: Any,
) -> Call:
    """A call whose parts sum to its wholes; `history` gives tokens by source turn."""
    reread = tuple((history or {}).items())
    prompt = {**FIXED, "history": sum(count for _, count in reread)}
    tokens = Tokens(
        prompt=prompt,
        reread=reread,
        reasoning=reasoning,
        published=published,
        published_reasoning=published_reasoning,
        discarded=discarded,
        answer=answer,
        control=control,
        estimated=estimated,
    )
    usage = Usage(
        prompt=sum(prompt.values()),
        completion=reasoning + published + discarded + answer + control,
        cached=cached,
    )
    plain: dict[str, Any] = {
        "kind": "speak",
        "number": 0,
        "prompt": (0, 1),
        "request_hash": "0" * 16,
        "seed": 7,
        "thinking": True,
        "max_tokens": 512,
        "reasoning": "The river is in the north.\nSo the mill is there too.",
        "visible": "The mill stands by the river.",
        "finish": "stop",
        "latency": 0.5,
    }
    return Call(usage=usage, tokens=tokens, **{**plain, **changes})


def turn(
    index: int,
    *calls: Call,
    status: Status = "ok",
    answers: bool = False,
    **changes: Any,
) -> Turn:
    """Turn `index` of two seats that alternate; an answering turn has no message."""
    seat = ("agent_a", "agent_b")[index % 2]
    visible = calls[0].visible
    message = Message(
        text=visible,
        status=status,
        kept=(Span(output=0, source="visible", start=0, end=len(visible)),),
    )
    plain: dict[str, Any] = {
        "index": index,
        "seat": seat,
        "title": TITLES[seat],
        "round": index,
        "hears": tuple(range(index)),
        "answers": answers,
        "calls": calls,
        "message": None if answers else message,
    }
    return Turn(**{**plain, **changes})


def conversation(
    *, turns: int = 4, size: float = 1.0, chance: random.Random | None = None
) -> tuple[Turn, ...]:
    """Turns that hear all earlier ones; `size` scales what is generated and reread."""
    chance = chance or random.Random(0)
    spoken: list[Turn] = []
    for index in range(turns):
        history = {t.index: t.calls[0].tokens.published + 4 for t in spoken}
        last = index == turns - 1
        draw = int(size * chance.uniform(20, 60))
        made = call(
            history=history,
            reasoning=int(size * chance.uniform(40, 90)),
            published=0 if last else draw,
            discarded=0 if last else draw // 3,
            answer=draw if last else 0,
            visible="Answer: Northmill" if last else "The mill stands by the river.",
        )
        spoken.append(turn(index, made, answers=last))
    return tuple(spoken)


def episode(
    problem: str = "0073",
    *,
    sample: int = 0,
    metrics: Mapping[str, float] | None = None,
    turns: tuple[Turn, ...] | None = None,
    failure: Failure | None = None,
    **changes: Any,
) -> Episode:
    """A finished episode, or a failed one where `failure` is given."""
    turns = conversation() if turns is None else turns
    score = Score(metrics=metrics or {"em": 1.0, "f1": 1.0, "f1_squad": 1.0}, extracted="Northmill")
    plain: dict[str, Any] = {
        "version": VERSION,
        "arm": "arm",
        "kind": "bridge",
        "question": "Where is the mill of the twins?",
        "answers": ("Northmill", "North Mill"),
        "segments": (
            ("system", "user", "You help.\n", None),
            ("question", "user", "Question: where?\n", None),
        ),
        "answer": None if failure else Answer(text="Answer: Northmill", turn=len(turns) - 1),
        "score": None if failure else score,
        "started": 1.7e9,
        "seconds": 2.0,
    }
    return Episode(
        problem=problem,
        sample=sample,
        turns=turns,
        failure=failure,
        **{**plain, **changes},
    )


def failed(problem: str, error: str = "TransportError", **changes: Any) -> Episode:
    """An episode that ended in an error before any turn."""
    failure = Failure(error=error, message="it broke", repeat=error == "TransportError")
    return episode(problem, failure=failure, **{"turns": (), **changes})


def line(record: Episode) -> dict[str, Any]:
    """The record as analysis reads it back: what orjson gives for its line."""
    read: dict[str, Any] = orjson.loads(orjson.dumps(dataclasses.asdict(record)))
    return read


def sample_episodes(
    name: str, n: int, *, score: float = 0.5, size: float = 1.0, samples: int = 1
) -> list[Episode]:
    """`n` problems with scores around `score`, drawn from the arm's name: always the same."""
    chance = random.Random(name)
    made = []
    for index in range(n):
        for sample in range(samples):
            f1 = min(1.0, max(0.0, chance.gauss(score, 0.3)))
            metrics = {"em": float(f1 > 0.8), "f1": f1, "f1_squad": f1}
            turns = conversation(size=size * chance.uniform(0.8, 1.25), chance=chance)
            made.append(episode(f"{index:04d}", sample=sample, metrics=metrics, turns=turns))
    return made


def write_arm(
    study: Path,
    name: str,
    episodes: Iterable[Episode],
    *,
    problems: int | None = None,
    samples: int = 1,
    metrics: Sequence[str] = ("em", "f1", "f1_squad"),
    metric: str = "f1",
    manifest: Mapping[str, Any] | None = None,
    **choices: Any,
) -> Path:
    """An arm's folder as the store lays it out. `choices` and `manifest` replace the defaults."""
    folder = study / name
    records = [dataclasses.replace(record, arm=name) for record in episodes]
    planned = problems if problems is not None else len({r.problem for r in records})
    picked: dict[str, Any] = {
        "benchmark": "fictional",
        "topology": "split_evidence",
        "strategy": name,
        "channel": "identity",
        "model": "smollm2-135m",
        "engine": "llamacpp",
        "sampling": "paper",
        "seed": 42,
        "shots": 2,
        "answer": "short",
        **choices,
    }
    made = Manifest(
        study=study.name,
        arm=name,
        label=str(picked["strategy"]),
        choices=picked,
        identity={"strategy": picked["strategy"]},
        fingerprint=f"{random.Random(name).getrandbits(32):08x}",
        metric=metric,
        metrics=tuple(metrics),
        planned={"problems": planned, "samples": samples},
    )
    with ArmWriter.open(folder, made) as writer:
        for record in records:
            writer.append(record)
        writer.finish("finished")
    write_manifest(folder, dataclasses.replace(writer.manifest, **(manifest or {})))
    return folder
