"""A study's saved view in W&B: which strategy at what cost, on one page.

`build` makes it without a connection; `save` writes it where a server is reachable. Written
against wandb-workspaces 0.4, which is the maintained way to make a view from a program.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from parley.errors import ConfigError, MissingExtra, ParleyError, StoreError
from parley.redaction import redact_error
from parley.store import find_arms, read_manifest, write_atomic
from parley.tracking.reported import facets, points
from parley.tracking.rows import BY_TOKENS, RUNNING, SPENT, STEP
from parley.tracking.wandb_study import SCATTER, TITLE, frontier_keys

SAVED = "dashboard.json"
"""In the study's folder: where its view was saved, so that saving again replaces it."""
AXES = ("strategy", "topology", "channel", "benchmark", "model", "sampling", "shots", "seed")
"""Choices that are an axis of the parallel coordinates where arms differ in them."""
COLUMNS = ("score", "score_low", "score_high", "tokens/total", "front", "truncated", "messages/ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a view has to know of a study."""

    study: str
    folder: Path
    choices: tuple[Mapping[str, Any], ...]
    """Of each arm."""
    facets: tuple[str, ...] = ()
    """Benchmarks and models, as the study's report names them; empty without a report."""
    project: str | None = None
    entity: str | None = None
    """Where its arms were sent last; null where none was sent online."""

    @property
    def axes(self) -> list[str]:
        """The choices in which arms differ; the strategy always."""
        known = (name for name in AXES if any(name in one for one in self.choices))
        return [
            name
            for name in known
            if name == "strategy" or len({str(one.get(name)) for one in self.choices}) > 1
        ]


def facts(path: Path) -> Facts:
    """Of a study's folder, or one of its arms'. Raises StoreError where it holds no arms, and
    ConfigError where it holds several studies."""
    studies = dict.fromkeys(arm.parent for arm in find_arms(path.resolve()))
    if len(studies) > 1:
        raise ConfigError(
            f"{path} holds several studies, and a view shows one",
            allowed=", ".join(study.name for study in studies),
            remedy=f"parley dashboard {path / next(iter(studies)).name}",
        )
    (study,) = studies
    manifests = []
    for folder in find_arms(study):
        with suppress(StoreError):  # the report says what cannot be read; it has no run either
            manifests.append(read_manifest(folder))
    if not manifests:
        raise StoreError(f"{path}: no arm's manifest can be read", remedy=f"parley report {path}")
    place: dict[str, str] = {}
    for manifest in manifests:
        urls = [run.get("url") for run in (manifest.tracking.get("runs") or {}).values()]
        for url in filter(None, urls):
            parts = urlsplit(str(url)).path.strip("/").split("/")
            if len(parts) >= 2:
                place = {"entity": parts[0], "project": parts[1]}
    return Facts(
        study=manifests[0].study,
        folder=study,
        choices=tuple(manifest.choices for manifest in manifests),
        facets=tuple(facets(points(study))),
        **place,
    )


def build(known: Facts, *, entity: str, project: str) -> Any:
    """The view: a `Workspace` of all runs of the study's group, the best score first."""
    ws, wr, expr = _packages()
    sections = [
        ("Which strategy, at what cost", [*_compared(wr, known), *_frontiers(wr, known)]),
        ("What went wrong", _conduct(wr)),
        ("While it runs", _running(wr)),
        (
            "Every arm, every conversation",
            [
                wr.WeavePanelSummaryTable(table_name="results"),
                wr.RunComparer(diff_only="split"),
                wr.WeavePanelSummaryTable(table_name="episodes"),
            ],
        ),
    ]
    return ws.Workspace(
        entity=entity,
        project=project,
        name=f"{known.study}: score against tokens",
        sections=[
            ws.Section(name=name, panels=panels, is_open=True, pinned=not place)
            for place, (name, panels) in enumerate(sections)
        ],
        settings=ws.WorkspaceSettings(x_axis=STEP, max_runs=_shown(known)),
        runset_settings=ws.RunsetSettings(
            filters=expr.And(expr.Metric("Group") == known.study),
            order=[expr.Ordering(expr.Summary("score"), ascending=False)],
            pinned_columns=[f"summary:{name}" for name in COLUMNS],
        ),
    )


def spec(workspace: Any) -> bytes:
    """The view as its server stores it, as JSON."""
    made: str = workspace._to_model().spec.model_dump_json(by_alias=True, exclude_none=True)
    return orjson.dumps(orjson.loads(made), option=orjson.OPT_INDENT_2)


def save(
    workspace: Any, study: Path, *, load: Callable[[str], Any] | None = None
) -> tuple[str, bool]:
    """Saves the view and returns its address, and whether it replaced an earlier one.

    The view that was saved for this study before is replaced, unless it is gone or of another
    project. Raises ParleyError where W&B does not take it. `load` is for tests.
    """
    before = _saved(study, workspace)
    target = workspace
    if before:
        try:
            target = (load or _packages()[0].Workspace.from_url)(before)
        except Exception:  # gone, or out of reach, which saving then says
            target = workspace
    if target is not workspace:
        target.name, target.sections = workspace.name, workspace.sections
        target.settings, target.runset_settings = workspace.settings, workspace.runset_settings
    try:
        target.save()
        url = str(target.url)
    except Exception as error:
        raise ParleyError(
            f"W&B did not take the view of {workspace.entity}/{workspace.project}: "
            f"{redact_error(error)}",
            allowed="a project that exists, on a server that is reachable, with a key that may "
            "write there (WANDB_BASE_URL names a server of your own)",
            remedy="parley upload DIR makes the project; tracker.project= and tracker.entity= name "
            "another; --print shows the view without a server",
        ) from error
    place = {"url": url, "entity": workspace.entity, "project": workspace.project}
    write_atomic(study / SAVED, orjson.dumps(place, option=orjson.OPT_INDENT_2) + b"\n")
    return url, target is not workspace


def _saved(study: Path, workspace: Any) -> str:
    """The address of the study's view in the same project, empty without one."""
    try:
        found = orjson.loads((study / SAVED).read_bytes())
        same = (found["entity"], found["project"]) == (workspace.entity, workspace.project)
        return str(found["url"]) if same else ""
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return ""


def _compared(wr: Any, known: Facts) -> list[Any]:
    score, tokens = wr.SummaryMetric("score"), wr.SummaryMetric("tokens/total")
    column = wr.ParallelCoordinatesPlotColumn
    return [
        wr.ScatterPlot(
            title=TITLE, x=tokens, y=score, legend_template="${run:displayName}: ${y}, ${x} tokens"
        ),
        _bars(wr, known, "Score", "score"),
        _bars(wr, known, "Tokens per problem", "tokens/total"),
        wr.ParallelCoordinatesPlot(
            title="Choices, tokens, score",
            columns=[
                *(column(metric=wr.Config(name), display_name=name) for name in known.axes),
                column(metric=tokens, display_name="tokens per problem"),
                column(metric=score, display_name="score"),
            ],
        ),
    ]


def _frontiers(wr: Any, known: Facts) -> list[Any]:
    """The study's own charts, a frontier for each benchmark and model."""
    x, y, _ = SCATTER
    return [
        wr.CustomChart(
            chart_name="wandb/scatter/v0",
            query={"summaryTable": {"tableKey": f"{key}_table"}},
            chart_fields={"x": x, "y": y},
            chart_strings={"title": f"{TITLE}: {facet}"},
        )
        for facet, key in frontier_keys(known.facets).items()
    ]


def _conduct(wr: Any) -> list[Any]:
    named = {
        "Share of episodes cut short": "truncated",
        "Share of messages in their format": "messages/ok",
        "Failed episodes": "errors",
        "Share of prompts that did not fit": "overflow",
    }
    return [_bar(wr, title, name) for title, name in named.items()]


def _running(wr: Any) -> list[Any]:
    return [
        wr.LinePlot(title="Score so far, against tokens spent", x=SPENT, y=[BY_TOKENS]),
        wr.LinePlot(title="Score so far", x=STEP, y=[f"{RUNNING}score"]),
        wr.LinePlot(title="Tokens per episode so far", x=STEP, y=[f"{RUNNING}tokens"]),
    ]


def _bars(wr: Any, known: Facts, title: str, name: str) -> Any:
    return _bar(wr, title, name, max_runs_to_show=_shown(known), max_bars_to_show=_shown(known))


def _bar(wr: Any, title: str, name: str, **more: Any) -> Any:
    return wr.BarPlot(title=title, metrics=[name], orientation="h", **more)


def _shown(known: Facts) -> int:
    """Enough for every arm and the study's own run; W&B shows ten if nothing is said."""
    return min(max(10, len(known.choices) + 1), 100)


def _packages() -> Sequence[Any]:
    """wandb-workspaces' views, panels and expressions. Raises MissingExtra."""
    try:
        with warnings.catch_warnings():  # it is written in pydantic's older style
            warnings.simplefilter("ignore")
            import wandb_workspaces.reports.v2 as panels
            import wandb_workspaces.workspaces as views
            from wandb_workspaces import expr
    except ImportError as error:
        raise MissingExtra("wandb-workspaces", "wandb") from error
    return views, panels, expr
