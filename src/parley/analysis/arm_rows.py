"""One arm's numbers as a row of the results table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from parley.analysis.frames import CHOICES
from parley.analysis.samples import average_at_k, majority_at_k, pass_at_k
from parley.analysis.stats import Interval, by_problem
from parley.metrics import FATES, PARTS, STATUSES

if TYPE_CHECKING:
    import pandas as pd

METRICS = ("em", "f1", "f1_squad", "accuracy")
"""Columns of every table, empty where a benchmark does not have the metric."""
WHOLES = ("prompt", "completion", "output", "cached", "uncached", "reasoning", "reread", "waste")
TOKENS = (*WHOLES, *FATES, *PARTS)
"""Means per problem. The parts sum to `prompt`, the fates to `completion`."""
SHARES = ("truncated", "truncated_in_thinking", "overflow", "estimated")
"""Shares of all episodes."""
GRADES = (
    *("ok", "no_label", "multi_box", "option_text", "ambiguous", "not_integer", "not_an_option"),
    *("truncated", "failed"),
)
"""How answers were read, beside `no_answer`: columns of every table. A benchmark's further words
follow them."""
SAMPLED = ("avg@k", "pass@k", "majority@k")
TEXTS = ("study", "arm", "label", *CHOICES, "fingerprint", "run", "metric")
Row = dict[str, Any]


def arm_row(arm: Row, episodes: pd.DataFrame | None, known: Sequence[Interval] = ()) -> Row:
    """The arm's choices, scores, tokens and conduct; only counts where it has no episode. `known`
    are the intervals of what `uncertain` named."""
    samples = arm["planned_samples"]
    row = {
        **arm,
        **dict.fromkeys(("n", "episodes", "errors", "unscored"), 0),
        "samples": samples,
        "samples_missing": samples * arm["planned_problems"],
        "front": False,
    }
    if episodes is None:
        return row
    metric = arm["metric"]
    names = dict.fromkeys((*METRICS, *arm["metrics"].split()))
    score, tokens = known
    return {
        **row,
        "n": score.n,
        "episodes": len(episodes),
        "errors": int(episodes["failed"].sum()),
        "unscored": _unscored(episodes, metric),
        **{name: _mean(episodes, name) for name in names if name in arm["metrics"].split()},
        **_sampled(arm, episodes),
        **{"score": score.mean, "score_low": score.low, "score_high": score.high},
        "score_completed": _mean(episodes[~episodes["failed"].astype(bool)], metric),
        **{"tokens_total": tokens.mean, "tokens_low": tokens.low, "tokens_high": tokens.high},
        **{f"tokens_{name}": _mean(episodes, f"tokens_{name}") for name in TOKENS},
        "tokens_granted": _mean(episodes, "tokens_granted"),
        **_conduct(episodes),
    }


def uncertain(arm: Row, episodes: pd.DataFrame) -> list[tuple[list[float], str, bool]]:
    """What of an arm has an interval, its headline score and its tokens, for `stats.lones`."""
    values = by_problem(episodes, arm["metric"])
    tokens = by_problem(episodes, "tokens_total")
    return [(values, arm["metric"], len(values) == len(episodes)), (tokens, "tokens_total", False)]


def columns(rows: Iterable[Row]) -> list[str]:
    """All columns in their order, whatever the arms could fill."""
    rows = list(rows)
    metrics = [name for row in rows for name in row["metrics"].split()]
    grades = [name for row in rows for name in row if name.startswith("answers_")]
    known = [grade_column(grade) for grade in (*GRADES, "no_answer")]
    return [
        *TEXTS,
        *("n", "episodes", "missing", "errors", "unscored"),
        *dict.fromkeys((*METRICS, *metrics)),
        *("score", "score_low", "score_high", "score_completed"),
        *("samples", "samples_missing", *SAMPLED),
        *("tokens_total", "tokens_low", "tokens_high", "tokens_prompt", "tokens_completion"),
        *("tokens_granted", *(f"tokens_{name}" for name in TOKENS[2:])),
        "messages",
        *(f"messages_{status}" for status in STATUSES),
        *SHARES,
        *dict.fromkeys((*known, *grades)),
        *("calls", "asks", "reused", "call_seconds", "front"),
    ]


def grade_column(grade: str) -> str:
    """The column that holds the share of episodes whose answer was read so."""
    return grade if grade == "no_answer" else f"answers_{grade}"


def _sampled(arm: Row, episodes: pd.DataFrame) -> Row:
    """avg@k, pass@k and majority@k of the k planned samples, means over the problems begun.

    They are of the metric that is right or wrong: accuracy, else exact match, else the headline.
    A sample that failed or was not recorded takes its place with a score of 0 and no vote, and
    is counted.
    """
    k = int(arm["planned_samples"])
    held = arm["metrics"].split()
    metric = next((name for name in ("accuracy", "em") if name in held), arm["metric"])
    scores: dict[str, list[float | None]] = {}
    votes: dict[str, list[str | None]] = {}
    for problem, sample, score, vote, failed in zip(
        *(episodes[name] for name in ("problem", "sample", metric, "vote", "failed")), strict=True
    ):
        if sample < k and not failed:
            scores.setdefault(problem, [None] * k)[sample] = math.nan if _empty(score) else score
            votes.setdefault(problem, [None] * k)[sample] = None if _empty(vote) else vote
    for problem in episodes["problem"]:
        scores.setdefault(problem, [None] * k)
        votes.setdefault(problem, [None] * k)
    found = average_at_k(scores, k)
    counts = {"samples_missing": found.missing + k * max(0, arm["planned_problems"] - len(scores))}
    if k == 1:
        return counts
    passed = [_passed(values, k) for values in scores.values()]
    majorities = [majority_at_k(votes[name], values, k) for name, values in scores.items()]
    means = (found.mean, math.fsum(passed) / len(passed), math.fsum(majorities) / len(passed))
    return {**counts, **dict(zip(SAMPLED, means, strict=True))}


def _passed(values: Sequence[float | None], k: int) -> float:
    """NaN where a score is not a number: nobody can tell whether that sample was right."""
    if any(value is not None and math.isnan(value) for value in values):
        return math.nan
    return pass_at_k(len(values), sum(value == 1 for value in values), k)


def _conduct(episodes: pd.DataFrame) -> Row:
    """How messages and calls went: shares of all messages, shares of all episodes, means."""
    total = episodes[["messages", "calls", "reused", "latency_s"]].sum()
    statuses = {name: episodes[name].sum() for name in (f"messages_{s}" for s in STATUSES)}
    grades = episodes["status"].fillna("ungraded")
    return {
        **{name: _mean(episodes, name) for name in ("messages", "calls", "asks", "reused")},
        **{name: _ratio(count, total["messages"]) for name, count in statuses.items()},
        **{name: _ratio(episodes[name].sum(), len(episodes)) for name in SHARES},
        **{
            grade_column(grade): _ratio((grades == grade).sum(), len(episodes))
            for grade in dict.fromkeys((*GRADES, "no_answer", *sorted(grades.unique())))
        },
        "call_seconds": _ratio(total["latency_s"], total["calls"] - total["reused"]),
    }


def _mean(episodes: pd.DataFrame, column: str) -> float:
    values = by_problem(episodes, column)
    return math.fsum(values) / len(values) if values else math.nan


def _unscored(episodes: pd.DataFrame, metric: str) -> int:
    """Episodes whose score is missing, or is no number."""
    import pandas as pd

    return int(pd.to_numeric(episodes[metric], errors="coerce").isna().sum())


def _ratio(part: float, whole: float) -> float:
    return float(part) / float(whole) if whole else math.nan


def _empty(value: object) -> bool:
    import pandas as pd

    return bool(pd.isna(value))  # type: ignore[call-overload]
