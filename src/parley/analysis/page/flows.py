"""Where an arm's tokens went turn by turn, and who made whom read how many again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parley.analysis.token_bars import PARTS
from parley.analysis.transcript import inert

Record = Mapping[str, Any]
WRITTEN = {"private": "reasoning"}
"""Columns of the ledger that a call's record has under another name."""


@dataclass(slots=True, kw_only=True)
class Flow:
    """Sums over an arm's episodes, taken one episode at a time."""

    episodes: int = 0
    turns: dict[tuple[int, str], defaultdict[str, int]] = field(default_factory=dict)
    """(turn, title): tokens by the record's own names."""
    edges: defaultdict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    """(who read, whose message): tokens."""

    def add(self, episode: Record) -> None:
        """Counts an episode; a failed one with the turns it made."""
        self.episodes += 1
        titles = {turn["index"]: turn["title"] for turn in episode["turns"]}
        for turn in episode["turns"]:
            title = turn["title"]
            place = (turn["index"], title)
            if place not in self.turns:
                self.turns[place] = defaultdict(int)
            sums = self.turns[place]
            for call in turn["calls"]:
                tokens = call["tokens"]
                for name, size in tokens["prompt"].items():
                    sums[name] += size
                for name in ("reasoning", "published", "discarded", "answer", "control"):
                    sums[name] += tokens[name]
                for source, size in tokens["reread"]:
                    self.edges[title, titles.get(source, "?")] += size

    def copy(self) -> Flow:
        """Another one with the same sums."""
        return Flow.of(self.plain())

    def plain(self) -> dict[str, Any]:
        """The sums as JSON can hold them."""
        return {
            "episodes": self.episodes,
            "turns": [[turn, title, dict(sums)] for (turn, title), sums in self.turns.items()],
            "edges": [[*edge, tokens] for edge, tokens in self.edges.items()],
        }

    @classmethod
    def of(cls, plain: Record) -> Flow:
        """The sums that `plain` gave."""
        made = cls(episodes=plain["episodes"])
        for turn, title, sums in plain["turns"]:
            made.turns[turn, title] = defaultdict(int, sums)
        made.edges.update({(reader, source): tokens for reader, source, tokens in plain["edges"]})
        return made

    def means(self) -> dict[str, list[Any]]:
        """Per episode, rounded to a tenth of a token."""
        number = max(1, self.episodes)
        return {
            "turns": [
                {
                    "turn": turn,
                    "title": inert(title),
                    "parts": [round(size / number, 1) for size in _parts(sums)],
                }
                for (turn, title), sums in sorted(self.turns.items())
            ],
            "edges": [
                [inert(reader), inert(source), round(tokens / number, 1)]
                for (reader, source), tokens in sorted(self.edges.items())
            ],
        }


def parts(tokens: Record) -> list[int]:
    """A call's tokens by the parts of the ledger's bars."""
    return _parts({**tokens, **tokens["prompt"]})


def _parts(sizes: Mapping[str, Any]) -> list[int]:
    return [
        sum(int(sizes.get(WRITTEN.get(name, name), 0)) for name in columns)
        for _, _, columns in PARTS
    ]
