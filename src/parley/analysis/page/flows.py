"""Where an arm's tokens went turn by turn, and who made whom read how many again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parley.analysis.token_bars import PARTS
from parley.analysis.transcript import inert
from parley.metrics import FATES, edge_rows

Record = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Flow:
    """Sums over an arm's episodes, taken one episode at a time."""

    episodes: int = 0
    turns: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    """(turn, title): tokens by part."""
    edges: dict[tuple[str, str], int] = field(default_factory=dict)
    """(who read, whose message): tokens."""

    def add(self, episode: Record) -> None:
        """Counts an episode; a failed one with the turns it made."""
        self.episodes += 1
        titles = {turn["seat"]: inert(turn["title"]) for turn in episode["turns"]}
        for turn in episode["turns"]:
            sums = self.turns.setdefault((turn["index"], titles[turn["seat"]]), [0] * len(PARTS))
            for call in turn["calls"]:
                for place, size in enumerate(parts(call["tokens"])):
                    sums[place] += size
        for edge in edge_rows(episode):
            pair = (titles[str(edge["seat"])], titles.get(str(edge["source"]), "?"))
            self.edges[pair] = self.edges.get(pair, 0) + int(str(edge["tokens"]))

    def means(self) -> dict[str, list[Any]]:
        """Per episode, rounded to a tenth of a token."""
        number = max(1, self.episodes)
        return {
            "turns": [
                {"turn": turn, "title": title, "parts": [round(s / number, 1) for s in sums]}
                for (turn, title), sums in sorted(self.turns.items())
            ],
            "edges": [
                [reader, source, round(tokens / number, 1)]
                for (reader, source), tokens in sorted(self.edges.items())
            ],
        }


def parts(tokens: Record) -> list[int]:
    """A call's tokens by the parts of the ledger's bars."""
    return [sum(_tokens(tokens, name) for name in columns) for _, _, columns in PARTS]


def _tokens(tokens: Record, name: str) -> int:
    if name in FATES:
        return int(tokens["reasoning" if name == "private" else name])
    return int(tokens["prompt"].get(name, 0))
