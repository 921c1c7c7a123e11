"""Arms placed by any score and any cost, with what a joint bootstrap says of the front.

A point is the arm's own mean over its own problems, as in the results table; chances compare
arms, so they are over the problems that all arms of a benchmark and model hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parley.analysis.costs import Cost, charged
from parley.analysis.frames import Frames, plain_rows
from parley.analysis.fronts import (
    Best,
    Draws,
    best_at,
    budgets,
    chances,
    comparable,
    draw,
    hypervolume,
    reference,
)
from parley.analysis.naming import counted, facets, shortest
from parley.analysis.stats import Interval, lones, pareto, per_problem
from parley.analysis.style import SCORES
from parley.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
POINTS = (
    *("study", "arm", "name", "benchmark", "model", "topology", "strategy", "channel", "metric"),
    *("n", "episodes", "missing", "errors", "score", "score_low", "score_high"),
    *("tokens_total", "tokens_low", "tokens_high", "tokens_prompt", "tokens_completion"),
    *("truncated", "messages_ok", "front", "front_chance"),
)
"""Columns of `frontier.csv`: those of the results table, an arm's short name, and its chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """The arms of one benchmark and model, over the problems that all of them hold."""

    benchmark: str
    model: str
    metric: str
    labels: tuple[str, ...]
    left_out: tuple[str, ...]
    """Arms that hold too few of the others' problems to be drawn with them."""
    drawn: Draws
    volume: Interval
    chances: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Arms on the chosen axes. `rows` are those of the results table with the chosen `metric` and
    `score`, and with `cost`, `front`, `front_chance` and `spread`, the covariance of cost and
    score over the draws."""

    metric: str
    cost: Cost
    rows: tuple[Row, ...]
    facets: tuple[Facet, ...]

    @property
    def title(self) -> str:
        """The score's name, or "score" where benchmarks are graded by different ones."""
        metrics = {facet.metric for facet in self.facets} or {self.metric}
        return SCORES.get(self.metric, self.metric) if len(metrics) == 1 else "score"

    def readings(self, wanted: Sequence[float] = ()) -> Iterator[tuple[Facet, Best]]:
        """What to use at each of the budgets, round ones where none is wanted."""
        for facet in self.facets:
            for budget in wanted or budgets(facet.drawn):
                yield facet, best_at(facet.drawn, budget)


def place(
    frames: Frames,
    table: pd.DataFrame,
    *,
    metric: str | None = None,
    cost: Cost | None = None,
    seed: int = 0,
) -> Placed:
    """`table` is `tables.results` of the frames. Raises ConfigError at a metric no arm has."""
    cost = cost or Cost()
    known = dict.fromkeys(name for arm in frames.arm_rows() for name in arm["metrics"].split())
    if metric is not None and metric not in known:
        raise ConfigError(f"no arm has a metric {metric!r}", allowed=", ".join(known))
    groups = dict(iter(frames.episodes.groupby("folder"))) if len(frames.episodes) else {}
    folders = {(arm["study"], arm["arm"]): arm["folder"] for arm in frames.arm_rows()}
    rows, values = [], []
    known_rows = plain_rows(table)
    heads = {key: known_rows[at[0]]["metric"] for key, at in facets(known_rows).items()}
    for row in known_rows:
        episodes = groups.get(folders[row["study"], row["arm"]])
        chosen = metric or heads[str(row["benchmark"]), str(row["model"])]
        placed, by_problem = _placed(row, episodes, chosen, cost, seed)
        rows.append(placed)
        values.append(by_problem)
    found = []
    for positions in facets(rows).values():
        members = [rows[i] for i in positions]
        held = [i for i in positions if values[i][0] and completed(rows[i])]
        scores = [row["score"] if completed(row) else math.nan for row in members]
        front = pareto([row["cost"] for row in members], scores)
        for row, on_front in zip(members, front, strict=True):
            row["front"] = on_front
        if not held:
            continue
        drawable = comparable([frozenset(values[i][0]) for i in held])
        facet = _facet([rows[i] for i in held], [values[i] for i in held], drawable, seed)
        found.append(facet)
        for place_in, i in enumerate(held[at] for at in drawable):
            rows[i]["front_chance"] = facet.chances[place_in]
            rows[i]["spread"] = _spread(facet.drawn, place_in)
    first = metric or next((str(row["metric"]) for row in rows), "")
    return Placed(metric=first, cost=cost, rows=tuple(rows), facets=tuple(found))


def completed(row: Row) -> bool:
    """Whether an arm has an episode that did not fail: else nothing is known of its score or cost,
    and it is on no front."""
    return int(row["errors"]) < int(row["episodes"])


def points(placed: Placed) -> pd.DataFrame:
    """The arms on their axes as a table: what a picture of the frontier is drawn from."""
    import pandas as pd

    rows = [
        {**row, "name": name}
        for row, name in zip(placed.rows, shortest(placed.rows) if placed.rows else (), strict=True)
    ]
    return pd.DataFrame(rows, columns=list(POINTS))


def reading(placed: Placed, wanted: Sequence[float] = ()) -> list[str]:
    """The front's hypervolume and what to use at each budget, in sentences."""
    lines = []
    unit, amount = placed.cost.unit, placed.cost.amount
    for facet in placed.facets:
        score = SCORES.get(facet.metric, facet.metric)
        where = f"{facet.benchmark}, {facet.model}: " if len(placed.facets) > 1 else ""
        dearest, _ = reference(facet.drawn)
        if not math.isnan(facet.volume.mean):
            span = _span(facet.volume)
            lines.append(
                f"{where}hypervolume {facet.volume.mean:.3f}{span}, of 1 for a perfect answer at "
                f"no cost (reference point: score 0 at {amount(dearest)} {unit}; "
                f"{counted(facet.drawn.n, 'problem')} held by all)."
            )
        for budget in wanted or budgets(facet.drawn):
            best = best_at(facet.drawn, budget)
            lines.append(f"{where}{_best(facet, best, score, f'{amount(budget)} {unit}')}")
        if facet.left_out:
            lines.append(
                f"{where}of this, nothing is of {', '.join(facet.left_out)}: it shares less than "
                "half of the others' problems."
            )
    return lines


def _best(facet: Facet, best: Best, score: str, budget: str) -> str:
    if best.chosen is None:
        return f"at {budget}: no arm fits."
    said = f"at {budget}: {facet.labels[best.chosen]}"
    said += f" ({score} {100 * facet.drawn.score[best.chosen]:.1f}%)"
    if math.isnan(best.chance[best.chosen]):
        return f"{said}; one problem says nothing of chances."
    said += f", best in {best.chance[best.chosen]:.0%} of draws"
    others = sorted(
        ((c, facet.labels[i]) for i, c in enumerate(best.chance) if i != best.chosen), reverse=True
    )
    rivals = [f"{label} {chance:.0%}" for chance, label in others[:2] if chance >= 0.05]
    if (none := 1 - math.fsum(best.chance)) >= 0.05:
        rivals.append(f"in {none:.0%} no arm fits")
    return f"{said} ({', '.join(rivals)})." if rivals else f"{said}."


def _placed(
    row: Row, episodes: pd.DataFrame | None, metric: str, cost: Cost, seed: int
) -> tuple[Row, tuple[Mapping[str, float], Mapping[str, float]]]:
    empty = {"metric": metric, "score": math.nan, "score_low": math.nan, "score_high": math.nan}
    empty |= {"cost": math.nan, "cost_low": math.nan, "cost_high": math.nan}
    if episodes is None or metric not in episodes.columns:
        return {**row, **empty, "unpriced": 0}, ({}, {})
    episodes = charged(episodes, str(row["model"]), cost)
    scores, costs = per_problem(episodes, metric), per_problem(episodes, "cost")
    values = list(scores.values()), list(costs.values())
    if metric == row["metric"] and cost.plain and seed == 0:  # the results table has them
        score, spent = _known(row, "score", "score"), _known(row, "tokens_total", "tokens")
    else:
        single = len(scores) == len(episodes)
        score, spent = lones([(values[0], metric, single), (values[1], "cost", False)], seed=seed)
    return {
        **row,
        "metric": metric,
        "unscored": int(episodes[metric].isna().sum()),
        "unpriced": int(episodes["cost"].isna().sum()),
        **{"score": score.mean, "score_low": score.low, "score_high": score.high},
        **{"cost": spent.mean, "cost_low": spent.low, "cost_high": spent.high},
    }, (scores, costs)


def _known(row: Row, mean: str, ends: str) -> Interval:
    values = (row[mean], row[f"{ends}_low"], row[f"{ends}_high"])
    found = [math.nan if value is None else float(value) for value in values]
    return Interval(mean=found[0], low=found[1], high=found[2], n=int(row["n"]))


def _facet(
    rows: Sequence[Row],
    held: Sequence[tuple[Mapping[str, float], Mapping[str, float]]],
    drawable: Sequence[int],
    seed: int,
) -> Facet:
    labels, values = shortest(rows), [held[i] for i in drawable]
    common = sorted(set.intersection(*(set(scores) for scores, _ in values)))
    drawn = draw(
        [[scores[name] for name in common] for scores, _ in values],
        [[costs[name] for name in common] for _, costs in values],
        seed=seed,
    )
    return Facet(
        benchmark=str(rows[0]["benchmark"]),
        model=str(rows[0]["model"]),
        metric=str(rows[0]["metric"]),
        labels=tuple(labels[i] for i in drawable),
        left_out=tuple(label for i, label in enumerate(labels) if i not in drawable),
        drawn=drawn,
        volume=hypervolume(drawn),
        chances=tuple(chances(drawn)),
    )


def _spread(drawn: Draws, arm: int) -> tuple[tuple[float, float], tuple[float, float]] | None:
    import numpy as np

    if not len(drawn.scores) or math.isnan(drawn.score[arm]):
        return None
    (a, b), (_, d) = np.cov(drawn.costs[:, arm], drawn.scores[:, arm])
    return (float(a), float(b)), (float(b), float(d))


def _span(found: Interval) -> str:
    return "" if math.isnan(found.low) else f" [{found.low:.3f}, {found.high:.3f}]"
