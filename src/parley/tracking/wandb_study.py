"""What is said to Weights & Biases of a study as a whole: its table, its frontier, its pictures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from parley.tracking.reported import COLUMNS, Point, facets, line, points

SCATTER = ("tokens per problem", "score", "arm")
TITLE = "Score against tokens per problem"


def study_parts(wandb: Any, study: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """What to log of a study's report, part by part, each with what to call it. Nothing without.

    The charts are W&B's own presets, so that they need no definition on its server.
    """
    found = points(study)
    if found:
        columns = ["arm", *COLUMNS]
        lines = [[str(point.get("arm", "")), *line(point)] for point in found]
        yield "table", {"results": wandb.Table(columns=columns, data=lines)}
    groups = facets(found)
    for facet, key in frontier_keys(groups).items():
        yield f"frontier of {facet}", _charts(wandb, groups[facet], key, f": {facet}")
    for path in sorted((study / "report").glob("*.png")):
        yield path.name, {f"report/{path.stem}": wandb.Image(str(path))}


def frontier_keys(groups: Collection[str]) -> dict[str, str]:
    """The name of each facet's frontier in W&B; that of its table has `_table` behind it."""
    return {facet: "frontier" if len(groups) == 1 else f"frontier/{facet}" for facet in groups}


def study_summary(study: Path) -> dict[str, float | str]:
    """The numbers of the study's run. They have names of their own, so that no chart that
    compares arms holds the study beside them."""
    found = points(study)
    said: dict[str, float | str] = {
        "study/arms": len(found),
        "study/episodes": sum(float(point.get("episodes", 0)) for point in found),
    }
    for facet, group in facets(found).items():
        names = [str(point.get("name")) for point in group if point.get("front")]
        said[f"study/front of {facet}"] = ", ".join(names)
    return said


def _charts(wandb: Any, group: Sequence[Point], key: str, about: str) -> dict[str, Any]:
    rows = [[point["tokens_total"], point["score"], point.get("name", "")] for point in group]
    made = {}
    x, y, arm = SCATTER
    table = wandb.Table(columns=list(SCATTER), data=rows)
    made[key] = wandb.plot.scatter(table, x, y, title=f"{TITLE}{about}")
    for name, column in (("score", y), ("tokens", x)):
        table = wandb.Table(columns=list(SCATTER), data=rows)
        title = f"{column.capitalize()}{about}"
        made[key.replace("frontier", f"{name}_by_arm", 1)] = wandb.plot.bar(
            table, arm, column, title=title
        )
    return made
