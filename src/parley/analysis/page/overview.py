"""What the page shows at once: the arms with their numbers, the settings, the notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from parley.analysis.conduct import TROUBLES, troubles
from parley.analysis.flow import MOST, Flow, summed
from parley.analysis.frames import CHOICES, Frames, plain_rows
from parley.analysis.naming import facets, settings, shortest
from parley.analysis.stats import BINARY
from parley.analysis.style import COLOURS, SCORES, SMALL, colours
from parley.analysis.token_bars import PARTS, READ, REST, split
from parley.metrics import STATUSES

if TYPE_CHECKING:
    import pandas as pd

COUNTS = ("n", "episodes", "missing", "errors", "unscored", "front")
SHARES = ("truncated", "truncated_in_thinking", "overflow", "no_answer", "estimated")
INTERVALS = ("score", "score_low", "score_high", "tokens_total", "tokens_low", "tokens_high")
Record = dict[str, Any]


def overview(
    study: str,
    frames: Frames,
    table: pd.DataFrame,
    told: Sequence[str],
    flows: Sequence[Flow] = (),
) -> Record:
    """Plain values for the page's first data block. `arms` keeps the table's order; an arm's
    `facet` is the group within which scores are comparable, its `colour` a place in the palette.
    Without `flows` nothing is known of caches and of disagreement between agents."""
    rows = plain_rows(table)
    flows = flows or [summed(())] * len(rows)
    held = {(arm["study"], arm["arm"]): arm["metrics"].split() for arm in frames.arm_rows()}
    metrics = [held[row["study"], row["arm"]] for row in rows]
    palette = colours(rows)
    groups = facets(rows)
    facet_of = {place: index for index, found in enumerate(groups.values()) for place in found}
    labels = _labels(rows, list(groups.values()))
    return {
        "study": study,
        "settings": settings(rows),
        "notes": list(told),
        "facets": [
            {"benchmark": benchmark, "model": model, "metrics": _metrics(rows, metrics, positions)}
            for (benchmark, model), positions in groups.items()
        ],
        "titles": SCORES,
        "parts": [{"name": name, "read": index < READ} for index, (name, _, _) in enumerate(PARTS)]
        + [{"name": REST, "read": None}],
        "small": SMALL,
        "binary": sorted(BINARY),
        "troubles": [
            {"name": each.name, "about": each.about, "hint": each.hint, "word": each.word}
            for each in TROUBLES
        ],
        "most": MOST,
        "arms": [
            {
                **_arm(row),
                "metrics": metrics[place],
                "label": labels[place],
                "facet": facet_of[place],
                "troubles": troubles(row, flows[place]),
                "cache": _cache(flows[place]),
                "colour": COLOURS.index(palette[str(row["strategy"])]),
            }
            for place, row in enumerate(rows)
        ],
    }


def _arm(row: Record) -> Record:
    drawn = bool(row["n"])
    return {
        "folder": row["arm"],
        "run": row["run"],
        "metric": row["metric"],
        "choices": {name: row[name] for name in CHOICES if row[name] is not None},
        **{name: row[name] for name in (*COUNTS, *INTERVALS, *SHARES)},
        "messages": {s: row[f"messages_{s}"] for s in STATUSES if row[f"messages_{s}"]},
        "parts": split(row) if drawn else [],
    }


def _cache(found: Flow) -> Record | None:
    """What a prefix cache served of the arm's own calls; None where it made none."""
    if not found.prompt:
        return None
    return {
        "prompt": found.prompt / found.episodes,
        "served": found.served,
        "servable": found.servable,
        "episodes": found.episodes,
    }


def _labels(rows: Sequence[Record], groups: Sequence[Sequence[int]]) -> dict[int, str]:
    """Short names, told apart within a facet: the page shows one facet at a time."""
    found: dict[int, str] = {}
    for positions in groups:
        names = shortest([rows[place] for place in positions])
        found.update(zip(positions, names, strict=True))
    return found


def _metrics(
    rows: Sequence[Record], metrics: Sequence[Sequence[str]], positions: Sequence[int]
) -> list[str]:
    """Scores that an arm of the facet has, the headline metrics first."""
    heads = [rows[place]["metric"] for place in positions]
    return list(dict.fromkeys([*heads, *(name for place in positions for name in metrics[place])]))
