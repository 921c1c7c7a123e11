"""What one arm's agents made each other read: tokens by edge, the prompt's growth by turn, and
how much of it a prefix cache served and could have served; and whether they agreed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from parley.analysis.agreement import disagreement
from parley.metrics import edge_rows
from parley.store import STRANGE, scored_rows
from parley.store.archive import Key

MOST = 2000
"""Episodes of an arm that are read: means of so many are exact enough for a picture."""
Record = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class TurnFlow:
    """Sums over the speaking calls of one turn; `calls` says of how many."""

    calls: int = 0
    prompt: int = 0
    history: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """An arm's episodes, summed. Divide by `episodes` for means per problem."""

    episodes: int
    seats: tuple[str, ...]
    """Titles in the order in which they first spoke."""
    edges: Mapping[tuple[str, str], int]
    """Tokens re-read, by (title of the reader, title of the writer)."""
    turns: Mapping[int, TurnFlow]
    prompt: int
    """Prompt tokens of all calls that were not reused; the next two are parts of it."""
    cached: int
    """Served from a prefix cache, as the engine reported."""
    cacheable: float
    """What a cache that forgets nothing would have served, calls in recorded order: the leading
    segments that an earlier call of the arm also began with. Estimated where a prompt part is
    partly shared (by characters) and for the chat template (by messages)."""
    compared: int = 0
    """Episodes in which two seats or more name an answer; the next are of these."""
    disagreed: frozenset[Key] = frozenset()
    """Episodes whose seats end with different answers, by (problem, sample)."""

    @property
    def served(self) -> float:
        """Share of the prompt that a cache served; NaN where every call was reused."""
        return self.cached / self.prompt if self.prompt else math.nan

    @property
    def servable(self) -> float:
        """Share of the prompt that a cache could have served: never less than it did, since
        another arm may have warmed it."""
        return max(self.cached, self.cacheable) / self.prompt if self.prompt else math.nan

    @property
    def disagreement(self) -> float:
        """Share of the episodes that could be compared; NaN where none could."""
        return len(self.disagreed) / self.compared if self.compared else math.nan


@dataclass(slots=True)
class _Sums:
    episodes: int = 0
    titles: dict[str, str] = field(default_factory=dict)
    edges: dict[tuple[str, str], int] = field(default_factory=dict)
    turns: dict[int, TurnFlow] = field(default_factory=dict)
    prompt: int = 0
    cached: int = 0
    cacheable: float = 0.0
    compared: int = 0
    disagreed: set[Key] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)


def flow(folder: Path, most: int = MOST, *, starts: Sequence[int] | None = None) -> Flow:
    """Reads an arm's records, its first `most` episodes. Where `starts` says in which places of
    the file they begin (`Frames.starts`), nothing else is read. Raises StoreError or OSError."""
    return summed(islice(scored_rows(folder, starts), most))


def summed(episodes: Iterable[Record]) -> Flow:
    """Episodes as `store.latest_rows` gives them; those of no known shape, which the frames count,
    are left out."""
    sums = _Sums()
    for episode in episodes:
        with suppress(*STRANGE):
            _add(sums, episode)
    return Flow(
        episodes=sums.episodes,
        seats=tuple(sums.titles.values()),
        edges=sums.edges,
        turns=dict(sorted(sums.turns.items())),
        prompt=sums.prompt,
        cached=sums.cached,
        cacheable=sums.cacheable,
        compared=sums.compared,
        disagreed=frozenset(sums.disagreed),
    )


def _add(sums: _Sums, episode: Record) -> None:
    differing = disagreement(episode)
    sums.episodes += 1
    sums.compared += differing is not None
    if differing:
        sums.disagreed.add((str(episode["problem"]), int(episode["sample"])))
    for turn in episode["turns"]:
        sums.titles.setdefault(turn["seat"], turn["title"])
        for call in turn["calls"]:
            if call["kind"] == "speak":
                at = sums.turns.setdefault(turn["index"], TurnFlow())
                at.calls += 1
                at.prompt += call["usage"]["prompt"]
                at.history += call["tokens"]["prompt"].get("history", 0)
            shared = _shared(sums.seen, episode, turn, call)
            if not call["reused"]:
                sums.prompt += call["usage"]["prompt"]
                sums.cached += call["usage"]["cached"]
                sums.cacheable += shared
    for row in edge_rows(episode):
        edge = sums.titles[str(row["seat"])], sums.titles.get(str(row["source"]), "-")
        sums.edges[edge] = sums.edges.get(edge, 0) + int(str(row["tokens"]))


def _shared(seen: set[int], episode: Record, turn: Record, call: Record) -> float:
    """Tokens of the leading segments that an earlier call began with; the call's own beginnings
    are noted."""
    segments = [episode["segments"][index] for index in call["prompt"]]
    known, beginning = 0, 0
    for count, key in enumerate(_keys(episode, turn, segments), 1):
        beginning = hash((beginning, key))
        if beginning in seen:
            known = count
        seen.add(beginning)
    return _tokens(segments, known, call["tokens"])


def _keys(episode: Record, turn: Record, segments: list[Any]) -> Iterator[tuple[object, ...]]:
    """What makes a segment the same in two prompts. A message's text is its turn's, and differs
    only where a channel changed it."""
    heard = dict(turn["heard"])
    for part, role, text, source in segments:
        if source is None:
            yield part, role, text
        else:
            yield part, role, episode["problem"], episode["sample"], source, heard.get(source)


def _tokens(segments: list[Any], known: int, tokens: Record) -> float:
    """Prompt tokens of the first `known` segments."""
    by_part: Mapping[str, int] = tokens["prompt"]
    messages = [len(list(members)) for _, members in groupby(role for _, role, _, _ in segments)]
    begun = sum(sum(messages[:i]) < known for i in range(len(messages)))
    total = by_part.get("template", 0) * begun / (len(messages) + 1)
    letters: dict[str, int] = {}
    for part, _, text, source in segments:
        if source is None:
            letters[part] = letters.get(part, 0) + len(text)
    reread = dict(tokens["reread"])
    for part, _, text, source in segments[:known]:
        if source is not None:
            total += reread.get(source, 0)
        elif letters[part]:
            total += by_part.get(part, 0) * len(text) / letters[part]
    return total
