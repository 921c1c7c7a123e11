"""The results of a study: one row per arm, as CSV, Markdown and a terminal table.

Scores and tokens are means over problems, the samples of a problem averaged first. An episode
that failed counts with 0 in every score (`errors` says how many); one that is planned but not
recorded is in no mean and is counted in `missing`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from parley.analysis.frames import CHOICES, Frames, plain_rows
from parley.analysis.naming import facets, settings, shortest
from parley.analysis.stats import BINARY, by_problem, interval, lone, pareto
from parley.metrics import FATES, PARTS, STATUSES

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

METRICS = ("em", "f1", "f1_squad", "accuracy")
"""Columns of every table, empty where a benchmark does not have the metric."""
WHOLES = ("prompt", "completion", "output", "cached", "uncached", "reasoning", "reread", "waste")
TOKENS = (*WHOLES, *FATES, *PARTS)
"""Means per problem. The parts sum to `prompt`, the fates to `completion`."""
SHARES = ("truncated", "truncated_in_thinking", "overflow", "estimated")
"""Shares of all episodes."""
FIXED = ("template", "system", "examples", "question", "instruction", "cue")
TEXTS = ("study", "arm", "label", *CHOICES, "fingerprint", "run", "metric")
_TITLES = {"em": "EM %", "f1": "F1 %", "accuracy": "accuracy %"}
Row = dict[str, Any]


def results(frames: Frames) -> pd.DataFrame:
    """One row per arm, cheapest first within each benchmark and model. `n` counts problems;
    `front` marks the arms that no other of the same benchmark and model beats on both axes."""
    import pandas as pd

    groups = dict(iter(frames.episodes.groupby("folder"))) if len(frames.episodes) else {}
    rows = [_row(arm, groups.get(arm["folder"])) for arm in frames.arm_rows()]
    rows.sort(key=_order)
    for positions in facets(rows).values():
        cost = [rows[i].get("tokens_total", math.nan) for i in positions]
        score = [rows[i].get("score", math.nan) for i in positions]
        for position, on_front in zip(positions, pareto(cost, score), strict=True):
            rows[position]["front"] = on_front
    others = (name for arm in frames.arm_rows() for name in arm["metrics"].split())
    return pd.DataFrame(rows, columns=_columns(tuple(others)))


def to_csv(table: pd.DataFrame) -> str:
    """The whole table; an empty cell is a value that does not exist."""
    text: str = table.round(6).to_csv(index=False, lineterminator="\n")
    return text


def to_markdown(table: pd.DataFrame, columns: Sequence[str] | None = None) -> str:
    """A Markdown table of the given columns, all by default."""
    names = list(columns if columns is not None else table.columns)
    rows = [[cell(name, row[name]) for name in names] for row in plain_rows(table)]
    sides = ["---" if name in (*TEXTS, "folder") else "---:" for name in names]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (names, sides, *rows))


def cell(column: str, value: object) -> str:
    """A value as a reader wants it: shares and scores to three places, tokens to one."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.1f}" if column.startswith("tokens_") else f"{value:.3f}"
    return " ".join(str(value).replace("|", "\\|").split())


def to_rich(table: pd.DataFrame) -> Table:
    """The table for a terminal of 120 columns: scores in percent, tokens per problem."""
    from rich.table import Table
    from rich.text import Text

    rows = plain_rows(table)
    gone = [("missing", "miss")] if any(row["missing"] for row in rows) else []
    scores = [m for m in METRICS if m != "f1_squad" and not table[m].isna().all()]
    made = Table(box=None, padding=(0, 1), pad_edge=False, collapse_padding=True)
    made.title, made.title_justify = Text(_title(rows), style="bold"), "left"
    made.caption, made.caption_justify = Text(_caption(rows)), "left"
    made.add_column("arm", overflow="fold", max_width=24)
    numbers = ["n", *(title for _, title in gone), "err", *(_TITLES[m] for m in scores), "tokens"]
    parts = ("fixed", "evid.", "reread", "reason", "publ.", "other")
    heads = [f"{'prompt' if i < 3 else 'compl.'}\n{name}" for i, name in enumerate(parts)]
    for title in (*numbers, *heads):
        made.add_column(title, justify="right", no_wrap=True)
    made.add_column("messages", overflow="fold", max_width=30)
    made.add_column("trunc.", justify="right", no_wrap=True)
    groups = facets(rows)
    for (benchmark, model), positions in groups.items():
        if len(groups) > 1:
            made.add_row()
            made.add_row(Text(f"{benchmark}\n{model}", style="bold"))
        members = [rows[i] for i in positions]
        for label, row in zip(shortest(members), members, strict=True):
            counts = (str(row["n"]), *(str(row[name]) for name, _ in gone), str(row["errors"]))
            made.add_row(
                Text(f"{'●' if row['front'] else ' '} {label}"),
                *counts,
                *(_percent(row, metric) for metric in scores),
                *_spent(row),
                Text(_messages(row)),
                "" if row["truncated"] is None else f"{row['truncated']:.0%}",
            )
    return made


def _row(arm: Row, episodes: pd.DataFrame | None) -> Row:
    row = {**arm, "n": 0, "episodes": 0, "errors": 0, "unscored": 0, "front": False}
    if episodes is None:
        return row
    metric = arm["metric"]
    names = dict.fromkeys((*METRICS, *arm["metrics"].split()))
    values = by_problem(episodes, metric)
    score = lone(values, metric, single=len(values) == len(episodes))
    tokens = interval(by_problem(episodes, "tokens_total"))
    return {
        **row,
        "n": score.n,
        "episodes": len(episodes),
        "errors": int(episodes["failed"].sum()),
        "unscored": sum(bool(empty) for empty in episodes[metric].isna()),
        **{name: _mean(episodes, name) for name in names if name in arm["metrics"].split()},
        **{"score": score.mean, "score_low": score.low, "score_high": score.high},
        "score_completed": _mean(episodes[~episodes["failed"].astype(bool)], metric),
        **{"tokens_total": tokens.mean, "tokens_low": tokens.low, "tokens_high": tokens.high},
        **{f"tokens_{name}": _mean(episodes, f"tokens_{name}") for name in TOKENS},
        **_conduct(episodes),
    }


def _conduct(episodes: pd.DataFrame) -> Row:
    """How messages and calls went: shares of all messages, shares of all episodes, means."""
    total = episodes[["messages", "calls", "reused", "latency_s"]].sum()
    statuses = {name: episodes[name].sum() for name in (f"messages_{s}" for s in STATUSES)}
    return {
        **{name: _mean(episodes, name) for name in ("messages", "calls", "asks", "reused")},
        **{name: _ratio(count, total["messages"]) for name, count in statuses.items()},
        **{name: _ratio(episodes[name].sum(), len(episodes)) for name in SHARES},
        "answers_ok": _ratio((episodes["status"] == "ok").sum(), len(episodes)),
        "no_answer": _ratio((episodes["status"] == "no_answer").sum(), len(episodes)),
        "call_seconds": _ratio(total["latency_s"], total["calls"] - total["reused"]),
    }


def _title(rows: Sequence[Row]) -> str:
    return f"{', '.join(dict.fromkeys(row['study'] for row in rows))}: {len(rows)} arms"


def _caption(rows: Sequence[Row]) -> str:
    guessed = any(row["estimated"] for row in rows)
    return "\n".join(
        [
            settings(rows),
            "tokens per problem, means; intervals: 95% bootstrap over problems"
            + (" (accuracies: Wilson)" if BINARY & {row["metric"] for row in rows} else "")
            + "; ● Pareto front"
            + ("; ~ partly estimated" if guessed else ""),
        ]
    )


def _percent(row: Row, metric: str) -> str:
    if row[metric] is None:
        return ""
    if metric != row["metric"] or row["score_low"] is None:
        return f"{100 * row[metric]:.1f}"
    return f"{100 * row[metric]:.1f} {100 * row['score_low']:.0f}–{100 * row['score_high']:.0f}"


def _spent(row: Row) -> list[str]:
    """Tokens per problem, whole and by part: three of the prompt, three of the completion."""
    if row["tokens_total"] is None:
        return [""] * 7
    known = {name: row[f"tokens_{name}"] for name in TOKENS}
    fixed = math.fsum(known[part] for part in FIXED)
    other = math.fsum(known[fate] for fate in ("discarded", "answer", "control"))
    parts = (fixed, known["evidence"], known["reread"], known["private"], known["published"], other)
    mark = "~" if row["estimated"] else ""
    return [f"{mark}{row['tokens_total']:,.0f}", *(f"{part:,.0f}" for part in parts)]


def _messages(row: Row) -> str:
    """Shares of messages by status, those that do not occur left out."""
    shares = {status: row[f"messages_{status}"] for status in STATUSES}
    said = [f"{share:.0%} {status.replace('_', ' ')}" for status, share in shares.items() if share]
    return ", ".join(said) if said else "none"


def _mean(episodes: pd.DataFrame, column: str) -> float:
    values = by_problem(episodes, column)
    return math.fsum(values) / len(values) if values else math.nan


def _ratio(part: float, whole: float) -> float:
    return float(part) / float(whole) if whole else math.nan


def _order(row: Row) -> tuple[str, str, bool, float, str]:
    tokens = row.get("tokens_total", math.nan)
    last = math.isnan(tokens)
    return str(row["benchmark"]), str(row["model"]), last, 0.0 if last else tokens, row["arm"]


def _columns(metrics: Sequence[str]) -> list[str]:
    """All columns in their order, whatever the arms could fill."""
    return [
        *TEXTS,
        *("n", "episodes", "missing", "errors", "unscored"),
        *dict.fromkeys((*METRICS, *metrics)),
        *("score", "score_low", "score_high", "score_completed"),
        *("tokens_total", "tokens_low", "tokens_high", *(f"tokens_{name}" for name in TOKENS)),
        *(
            "messages",
            *(f"messages_{status}" for status in STATUSES),
            *SHARES,
            "answers_ok",
            "no_answer",
        ),
        *("calls", "asks", "reused", "call_seconds", "front"),
    ]
