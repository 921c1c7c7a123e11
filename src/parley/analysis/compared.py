"""Comparisons as a reader meets them: tables for a terminal, Markdown and CSV, and plain words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.analysis.comparing import Compared
from parley.analysis.style import SCORES, write
from parley.analysis.tables import to_csv

if TYPE_CHECKING:
    from rich.console import Group

Row = dict[str, Any]
READING = """\
- Every comparison is paired by problem; samples of one problem are averaged first. A failed
  episode counts with 0.
- `difference` is the first arm less the second, with a 95% bootstrap interval over problems: BCa,
  or percentile where BCa does not apply (`interval` says which).
- `test`: McNemar's exact test where values are 0 or 1 and each problem has one sample, else flips
  of the signs of the problems' differences, all of them where few problems differ. `p_holm` is
  corrected for all comparisons of the table (Holm).
- `d_z` is Cohen's d of paired values; `odds_ratio` is problems only the first solves over those
  only the second does.
- `detectable` is the smallest difference that so many problems, varying as these do, would show
  with power 0.8 at the two-sided level in `alpha` (0.05 shared by the comparisons). A smaller
  true difference can be missed: no evidence of a difference is not evidence of none.
- Savings are what the first arm costs less than the second, of the second's cost; below 0 it is
  dearer. `ratio of means` is the saving on the whole bill, `mean of ratios` on an average problem.
"""


def to_rich(compared: Compared) -> Group:
    """The tables for a terminal of 120 columns, and the words under them."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    made: list[Any] = []
    for title, (heads, rows) in sections(compared).items():
        table = Table(box=None, padding=(0, 1), pad_edge=False, collapse_padding=True)
        table.title, table.title_justify = Text(title, style="bold"), "left"
        for place, head in enumerate(heads):
            table.add_column(
                head,
                justify="left" if place == 0 else "right",
                no_wrap=place > 0 and head != "test",
            )
        for row in rows:
            table.add_row(*map(Text, row))
        made += [table, Text("")]
    return Group(*made, *(Text(line) for line in words(compared)))


def to_markdown(compared: Compared) -> str:
    """All of it, and how to read it."""
    lines = [f"# {compared.study}: arms compared", ""]
    for title, (heads, rows) in sections(compared).items():
        sides = ["---", *("---:" for _ in heads[1:])]
        lines += [f"## {title}", ""]
        lines += [f"| {' | '.join(map(_plain, row))} |" for row in (heads, sides, *rows)]
        lines.append("")
    lines += ["## In words", "", *(f"- {line}" for line in words(compared)), ""]
    if compared.notes:
        lines += ["## Notes", "", *(f"- {note}" for note in compared.notes), ""]
    return "\n".join([*lines, "## How to read this", "", READING])


def write_comparison(compared: Compared, folder: Path) -> tuple[Path, Path]:
    """Writes compare.csv and compare.md, each whole or not at all. Raises StoreError."""
    return (
        write(folder / "compare.csv", to_csv(compared.table()).encode()),
        write(folder / "compare.md", to_markdown(compared).encode()),
    )


def sections(compared: Compared) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Heads and rows of each table, by its title."""
    found = {f"Each arm alone ({_score(compared)})": _alone(compared)}
    if compared.pairs:
        found[f"{_score(compared)}: first less second"] = _scores(compared)
        found[f"Cost ({compared.cost.label}): what the first saves"] = _costs(compared)
    return found


def words(compared: Compared) -> list[str]:
    """One sentence per comparison."""
    return [_sentence(compared, row) for row in compared.pairs]


def _alone(compared: Compared) -> tuple[list[str], list[list[str]]]:
    heads = ["arm", "n", "err", "truncated", _score(compared), "95%", "interval"]
    heads += [compared.cost.unit, "95%"]
    rows = []
    for row in compared.arms:
        amount = compared.cost.amount
        rows.append(
            [
                _name(compared, row, row["label"]),
                *(str(row["n"]), str(row["errors"]), _percent(row["truncated"])),
                *(_three(row["score"]), _span(row, "score", _three), row["method"] or "-"),
                *(amount(row["cost"]), _span(row, "cost", amount)),
            ]
        )
    return heads, rows


def _scores(compared: Compared) -> tuple[list[str], list[list[str]]]:
    heads = ["first - second", "n", "difference", "95%", "interval", "p", "p Holm", "test"]
    heads += ["won/tied/lost", "d_z", "odds", "could show"]
    rows = [
        [
            _name(compared, row, f"{row['first']} - {row['second']}"),
            *(str(row["n"]), _signed(row["difference"]), _span(row, "difference", _signed)),
            *(row["interval"] or "-", probability(row["p"]), probability(row["p_holm"])),
            *(row["test"], f"{row['wins']}/{row['ties']}/{row['losses']}"),
            *(_two(row["d_z"]), _two(row["odds_ratio"]), _three(row["detectable"])),
        ]
        for row in compared.pairs
    ]
    return heads, rows


def _costs(compared: Compared) -> tuple[list[str], list[list[str]]]:
    heads = ["first vs second", "first", "second"]
    heads += ["saved, ratio of means", "95%", "saved, mean of ratios", "95%"]
    rows = []
    for row in compared.pairs:
        cells = [compared.cost.amount(row[name]) for name in ("cost_first", "cost_second")]
        for name in ("saving_ratio_of_means", "saving_mean_of_ratios"):
            cells += [_percent(row[name]), _span(row, name, _percent)]
        rows.append([_name(compared, row, f"{row['first']} vs {row['second']}"), *cells])
    return heads, rows


def _sentence(compared: Compared, row: Row) -> str:
    who = _name(compared, row, f"{row['first']} vs {row['second']}")
    score = SCORES.get(row["metric"], row["metric"])
    said = f"{who}: {score} {_signed(row['difference'])}"
    if math.isnan(row["difference"]):
        said = f"{who}: {score} cannot be compared"
    elif row["n"] < 2:
        said += ", one problem has no interval"
    elif not row["wins"] and not row["losses"]:
        said += f", alike on all {row['n']} problems"
    else:
        said += f" {_span(row, 'difference', _signed)}, p (Holm) {probability(row['p_holm'])}"
    if not math.isnan(row["detectable"]):
        said += f"; this n ({row['n']}) could have shown {_three(row['detectable'])}"
    return f"{said}. {_bill(compared, row)}"


def _bill(compared: Compared, row: Row) -> str:
    whole, each = row["saving_ratio_of_means"], row["saving_mean_of_ratios"]
    if math.isnan(whole):
        return "Their cost cannot be compared."

    said = (
        f"In {compared.cost.unit} it costs {_less(row, 'saving_ratio_of_means')} (ratio of means)"
    )
    if math.isnan(each):
        return f"{said}."
    return f"{said}, {_less(row, 'saving_mean_of_ratios')} (mean of ratios)."


def _less(row: Row, name: str) -> str:
    """ "12.0% less [10.1% to 14.2%]", and the ends with their own words where 0 lies between."""
    value, low, high = (100 * row[key] for key in (name, f"{name}_low", f"{name}_high"))
    said = _word(value)
    if math.isnan(low):
        return said
    if low * high > 0:
        low, high = sorted((abs(low), abs(high)))
        return f"{said} [{low:.1f}% to {high:.1f}%]"
    return f"{said} [{_word(low)} to {_word(high)}]"


def _word(percent: float) -> str:
    return f"{abs(percent):.1f}% {'less' if percent >= 0 else 'more'}"


def _name(compared: Compared, row: Row, name: str) -> str:
    """With the benchmark and model where the table has several."""
    places = {(each["benchmark"], each["model"]) for each in compared.arms}
    return name if len(places) < 2 else f"{name} ({row['benchmark']}, {row['model']})"


def _score(compared: Compared) -> str:
    return ", ".join(SCORES.get(metric, metric) for metric in compared.metrics)


def probability(value: float) -> str:
    """A p value as papers print it."""
    if math.isnan(value):
        return "-"
    if value < 0.001:
        return "<0.001"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def _span(row: Row, name: str, form: Any) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "-" if math.isnan(low) else f"[{form(low)}, {form(high)}]"


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.3f}"


def _three(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _two(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.1f}%"


def _plain(cell: str) -> str:
    return " ".join(cell.replace("|", "\\|").split())
