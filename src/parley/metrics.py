"""Numbers of one episode, from its stored line: pure functions from a mapping to flat rows.

An episode here is what orjson gives for a line of `episodes.jsonl` (sequences are lists), so
that analysis reads a hundred thousand of them without building the records again. Tokens of
reused calls count like any other; what depends on when and where a call ran (latency, cached
prompt tokens) leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from parley.errors import StoreError
from parley.types import Part, Status

PARTS: tuple[str, ...] = get_args(Part)
STATUSES: tuple[str, ...] = get_args(Status)
FATES = ("private", "published", "discarded", "answer", "control")
"""What became of completion tokens; with `private` the reasoning that was not published."""

Row = dict[str, object]
Record = Mapping[str, Any]


def episode_row(episode: Record, *, metrics: Sequence[str] = ()) -> Row:
    """One flat row: keys, outcome, score, and where the tokens went.

    `metrics` are those a score of this benchmark holds. A failed episode has 0 in each; a metric
    that a score lacks, or that is not a number, is None: never left out. Raises StoreError where
    a metric has the name of another column.
    """
    turns, failure = episode["turns"], episode["failure"] or {}
    calls = [call for turn in turns for call in turn["calls"]]
    messages = [turn["message"] for turn in turns if turn["message"]]
    score = episode["score"] or {}
    flags = {flag for call in calls for flag in call["flags"]}
    if score.get("answer_in_thinking"):
        flags.add("answer_in_thinking")
    row: Row = {
        "problem": str(episode["problem"]),
        "sample": episode["sample"],
        "kind": episode["kind"],
        "failed": bool(failure),
        "error": failure.get("error"),
        "status": "failed" if failure else score.get("status"),
        "overflow": failure.get("error") == "ContextOverflow",
        "truncated": any(call["finish"] == "length" for call in calls),
        "truncated_in_thinking": any(call["truncated_in_thinking"] for call in calls),
        "flags": " ".join(sorted(flags)) or None,
        "seconds": episode["seconds"],
        "rescored": bool(episode.get("rescored")),
        "tokens_granted": episode.get("granted"),
        "turns": len(turns),
        "messages": len(messages),
        **_statuses(messages),
        **_call_numbers(calls),
    }
    for name in dict.fromkeys((*metrics, *score.get("metrics", {}))):
        if name in row:
            raise StoreError(
                f"a metric is named {name!r}, which is a column of its own",
                remedy="rename it in the benchmark, then: parley rescore",
            )
        value = 0.0 if failure else score.get("metrics", {}).get(name)
        row[name] = value if isinstance(value, int | float) else None
    return row


def turn_rows(episode: Record) -> Iterator[Row]:
    """One flat row per turn, its asks included. `heard_changed` counts messages that a channel
    changed or dropped; a strategy's or topology's own measures come as `measure_<name>`."""
    for turn in episode["turns"]:
        message = turn["message"]
        yield {
            "problem": str(episode["problem"]),
            "sample": episode["sample"],
            "turn": turn["index"],
            "seat": turn["seat"],
            "round": turn["round"],
            "answers": turn["answers"],
            "status": message["status"] if message else None,
            "heard": len(turn["hears"]),
            "heard_changed": len(turn["heard"]),
            "truncated": any(call["finish"] == "length" for call in turn["calls"]),
            **_call_numbers(turn["calls"]),
            **{f"measure_{name}": value for name, value in turn["measures"].items()},
        }


def edge_rows(episode: Record) -> Iterator[Row]:
    """Who made whom read how many tokens again: one row per hearing turn and source turn.

    `tokens` is the message as it stood in the hearing turn's prompts, once per call: a turn with
    an ask reads it twice. A seat also rereads its own messages, and its draft when it is asked.
    """
    seats = {turn["index"]: turn["seat"] for turn in episode["turns"]}
    for turn in episode["turns"]:
        tokens: dict[int, int] = {}
        for call in turn["calls"]:
            for source, count in call["tokens"]["reread"]:
                tokens[source] = tokens.get(source, 0) + count
        for source, count in sorted(tokens.items()):
            yield {
                "problem": str(episode["problem"]),
                "sample": episode["sample"],
                "turn": turn["index"],
                "seat": turn["seat"],
                "source_turn": source,
                "source": seats.get(source),
                "tokens": count,
            }


def _statuses(messages: Sequence[Record]) -> Row:
    written = [message["status"] for message in messages]
    return {f"messages_{status}": written.count(status) for status in STATUSES}


def _call_numbers(calls: Sequence[Record]) -> Row:
    prompt = sum(call["usage"]["prompt"] for call in calls)
    completion = sum(call["usage"]["completion"] for call in calls)
    cached = sum(call["usage"]["cached"] for call in calls if not call["reused"])
    parts = {
        f"tokens_{part}": sum(call["tokens"]["prompt"].get(part, 0) for call in calls)
        for part in PARTS
    }
    fates = {
        f"tokens_{name}": sum(call["tokens"][field] for call in calls)
        for name, field in zip(FATES, ("reasoning", *FATES[1:]), strict=True)
    }
    published = sum(call["tokens"]["published_reasoning"] for call in calls)
    return {
        "calls": len(calls),
        "asks": sum(call["kind"] != "speak" for call in calls),
        "reused": sum(call["reused"] for call in calls),
        "estimated": any(c["tokens"]["estimated"] or c["usage"]["estimated"] for c in calls),
        "latency_s": sum(call["latency"] for call in calls if not call["reused"]),
        "tokens_total": prompt + completion,
        "tokens_prompt": prompt,
        "tokens_completion": completion,
        "tokens_output": completion,
        "tokens_cached": cached,
        "tokens_uncached": prompt + completion - cached,
        "tokens_waste": sum(call["waste"] for call in calls),
        **parts,
        **fates,
        "tokens_reread": parts["tokens_history"],
        "tokens_reasoning": fates["tokens_private"] + published,
    }
