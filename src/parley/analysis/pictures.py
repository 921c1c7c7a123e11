"""The pictures of a study and its LaTeX table, on the axes that a reader chose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from parley.analysis import budget_areas, conduct_plots, flow_plots, frontier, scale, token_bars
from parley.analysis.comparing import compare_study
from parley.analysis.costs import Cost
from parley.analysis.flow import Flow, flow, summed
from parley.analysis.frames import Frames, plain_rows
from parley.analysis.latex import to_latex
from parley.analysis.placed import Placed, place, points, reading
from parley.analysis.style import PRINT, SCREEN, Look, as_written, save, write
from parley.analysis.tables import to_csv
from parley.errors import StoreError

if TYPE_CHECKING:
    import pandas as pd

PRINTED = "print"
"""The folder of the pictures in print style."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a report shows beyond its results table."""

    metric: str | None = None
    """The score of the frontier; None is the study's own."""
    cost: Cost = field(default_factory=Cost)
    budgets: tuple[float, ...] = ()
    """Costs at which to say what is best; round ones where none is given."""
    latex: bool = False
    printed: bool = False
    """Whether to draw everything at column width, too."""

    @property
    def stem(self) -> str:
        """What tells the files of these axes from those of the default ones."""
        metric = f"_{self.metric}" if self.metric else ""
        return metric + ("" if self.cost.plain else f"_{self.cost.kind}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What was written, and what it says in sentences."""

    files: tuple[Path, ...]
    reading: tuple[str, ...]
    flows: tuple[Flow, ...]
    """The arms' own, in the table's order."""


def draw(frames: Frames, table: pd.DataFrame, folder: Path, choice: Choice) -> Drawn:
    """Writes the frontier (also as numbers) and the budgets on the default axes, and on others
    where chosen; the ledger, who re-read whom, how prompts grow, what went wrong, and what scale
    changes where there are several models. Raises StoreError, and ConfigError at a metric no arm
    has."""
    usual = place(frames, table)
    chosen = place(frames, table, metric=choice.metric, cost=choice.cost) if choice.stem else usual
    flows = read_flows(frames, table)
    looks = (SCREEN, PRINT) if choice.printed else (SCREEN,)
    files = [write(folder / "frontier.csv", to_csv(points(usual)).encode())]
    with as_written():
        for look in looks:
            target = folder if look is SCREEN else folder / PRINTED
            files += _axes(usual, target, "", look)
            if choice.stem:
                files += _axes(chosen, target, choice.stem, look)
            files += _tokens(table, flows, target, look)
    if choice.latex:
        metric, cost = choice.metric, choice.cost
        compared = compare_study(frames, metric=metric, cost=cost)
        text = to_latex(chosen, compared)
        files.append(write(folder / f"results{choice.stem}.tex", text.encode()))
    said = tuple(reading(chosen, choice.budgets))
    return Drawn(files=tuple(files), reading=said, flows=tuple(flows))


def _axes(placed: Placed, folder: Path, stem: str, look: Look) -> Iterator[Path]:
    figure = frontier.draw(placed.rows, cost=placed.cost, look=look)
    yield from save(figure, folder / f"frontier{stem}")
    yield from save(budget_areas.draw(placed, look=look), folder / f"budget{stem}")
    if scale.several(placed.rows):
        figure = scale.draw(placed.rows, cost=placed.cost, look=look)
        yield from save(figure, folder / f"scale{stem}")


def _tokens(table: pd.DataFrame, flows: list[Flow], folder: Path, look: Look) -> Iterator[Path]:
    rows = plain_rows(table)
    yield from save(token_bars.draw(rows, look=look), folder / "ledger")
    yield from save(flow_plots.rereading(flows, rows, look=look), folder / "rereading")
    yield from save(flow_plots.growth(flows, rows, look=look), folder / "growth")
    yield from save(conduct_plots.draw(rows, flows, look=look), folder / "conduct")


def read_flows(frames: Frames, table: pd.DataFrame) -> list[Flow]:
    """One per row of the table; empty where an arm's records cannot be read (the notes say so)."""
    folders = {(arm["study"], arm["arm"]): arm["folder"] for arm in frames.arm_rows()}
    return [_flow(frames, folders[row["study"], row["arm"]]) for row in plain_rows(table)]


def _flow(frames: Frames, folder: str) -> Flow:
    """An arm's flow, empty where its records cannot be read (which the notes then say)."""
    try:
        return flow(Path(folder), starts=frames.starts(folder))
    except (StoreError, OSError):
        return summed(())
