"""A results table for a paper: booktabs, the best in bold, every number with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from parley.analysis.compared import probability
from parley.analysis.comparing import Compared
from parley.analysis.naming import facets, settings, shortest
from parley.analysis.placed import Placed, completed
from parley.analysis.tex_text import comment, escaped

Row = dict[str, Any]
NONE = "--"
COLUMNS = 8


def to_latex(placed: Placed, compared: Compared) -> str:
    """A `table` environment on the chosen axes. `compared` is the same study against a baseline:
    what each arm saves (ratio of means) and p, corrected by Holm."""
    rows = list(placed.rows)
    groups = facets(rows)
    lines = []
    for (benchmark, model), positions in groups.items():
        members = [rows[i] for i in positions]
        if len(groups) > 1:
            name = escaped(f"{benchmark}, {model}")
            lines += [r"\midrule", rf"\multicolumn{{{COLUMNS}}}{{l}}{{\emph{{{name}}}}} \\"]
        lines += [r"\midrule", *_rows(placed, compared, members)]
    score = escaped(placed.title)
    unit = escaped(placed.cost.unit)
    heads = rf"arm & {score} (\%) & 95\% & {unit} & 95\% & saved (\%) & 95\% & $p$ \\"
    return "\n".join(
        [
            r"% Made by parley report --latex. The preamble needs: \usepackage{booktabs}",
            comment(settings(rows)),
            r"\begin{table}",
            r"\centering",
            r"\footnotesize",
            r"\setlength{\tabcolsep}{3pt}",
            r"\begin{tabular}{lrlrlrlr}",
            r"\toprule",
            heads,
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{_caption(placed, compared)}}}",
            rf"\label{{tab:{_label(compared.study)}}}",
            r"\end{table}",
            "",
        ]
    )


def _rows(placed: Placed, compared: Compared, members: Sequence[Row]) -> list[str]:
    labels = shortest(members)
    pairs = {(row["first"], row["benchmark"], row["model"]): row for row in compared.pairs}
    names = _names(compared, members)
    scores = [_percent(row["score"]) for row in members]
    costs = [placed.cost.amount(_number(row["cost"])) for row in members]
    best = _percent(max((row["score"] for row in members if _known(row["score"])), default=None))
    known = [row["cost"] for row in members if _known(row["cost"]) and completed(row)]
    least = placed.cost.amount(min(known)) if known else ""
    found = []
    for row, label, name, score, cost in zip(members, labels, names, scores, costs, strict=True):
        pair = pairs.get((name, row["benchmark"], row["model"]))
        cells = [
            escaped(label),
            _bold(score, score == best and score != NONE),
            _span(row, "score", _percent),
            _bold(NONE if cost == "-" else cost, cost == least and completed(row)),
            _span(row, "cost", placed.cost.amount),
            *_saved(pair),
        ]
        found.append(f"{' & '.join(cells)} \\\\")
    return found


def _names(compared: Compared, members: Sequence[Row]) -> list[str]:
    """The members' names in the comparison, which is of the same arms in another order."""
    by_folder = {row["arm"]: row["label"] for row in compared.arms}
    return [by_folder.get(row["arm"], "") for row in members]


def _saved(pair: Row | None) -> list[str]:
    if pair is None:
        return [NONE, NONE, NONE]
    name = "saving_ratio_of_means"
    p = probability(pair["p_holm"])
    shown = NONE if p == "-" else f"${p}$"
    return [_percent(pair[name]), _span(pair, name, _percent), shown]


def _caption(placed: Placed, compared: Compared) -> str:
    counts = sorted({int(row["n"]) for row in placed.rows if row["n"]})
    n = f"{counts[0]}$ to ${counts[-1]}" if len(counts) > 1 else f"{counts[0] if counts else 0}"
    bases = ", ".join(dict.fromkeys(_short(row["second"]) for row in compared.pairs))
    said = (
        f"{escaped(placed.title)} and "
        f"{escaped(placed.cost.label)}, means over $n = {n}$ problems with 95\\% intervals "
        "(bootstrap over problems; Wilson for accuracies of one sample). "
        "Bold: best score, lowest cost."
    )
    if not bases:
        return said
    tests = " or ".join(dict.fromkeys(row["test"].partition(",")[0] for row in compared.pairs))
    return (
        f"{said} Saved: share of the cost of {escaped(bases)} (ratio of means). $p$: paired "
        f"difference in score from it ({escaped(tests)}), Holm-corrected for "
        f"{len(compared.pairs)} comparisons."
    )


def _short(label: str) -> str:
    """A baseline's name without its model, which the table's headings give."""
    return label.partition(" · ")[0]


def _label(study: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in study)


def _bold(text: str, best: bool) -> str:
    return rf"\textbf{{{text}}}" if best else text


def _span(row: Row, name: str, form: Any) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if not (_known(low) and _known(high)):
        return NONE
    return f"[{form(low)}, {form(high)}]"


def _percent(value: float | None) -> str:
    if not _known(value):
        return NONE
    shown = f"{100 * _number(value):.1f}"
    return f"${shown}$" if shown.startswith("-") else shown


def _known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
