"""A study's report: results as CSV and Markdown, frontier and ledger as pictures, and the page.

Written from the records alone, each file whole or not at all, the same bytes each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from parley.analysis.against import Comparison, compare
from parley.analysis.against_tables import against_csv, against_markdown
from parley.analysis.frames import CHOICES, arm_folders, leftovers, load, plain_rows, silent
from parley.analysis.naming import settings, shortest
from parley.analysis.notes import notes
from parley.analysis.page.document import page
from parley.analysis.pictures import Choice, draw
from parley.analysis.publications import Publication
from parley.analysis.style import write
from parley.analysis.tables import results, to_csv, to_markdown

if TYPE_CHECKING:
    import pandas as pd

READING = """\
- Scores and tokens are means over problems; samples of one problem are averaged first.
- A failed episode counts with 0 in every score; `score_completed` leaves failed episodes out.
- `score` is the headline metric named in `metric`; `_low` and `_high` bound 95% intervals
  over problems: bootstrap, or Wilson's where each problem has one sample and the score is right
  or wrong (em, accuracy). `front`: no other arm of the same benchmark and model is at most as
  dear and at least as good.
- `tokens_total` is prompt and completion of all calls of an episode. Prompt parts (template,
  system, examples, question, evidence, history, instruction, cue) sum to `tokens_prompt`; private,
  published, discarded, answer and control sum to `tokens_completion`. `tokens_reasoning` is all
  reasoning spent, published or not. `tokens_granted` are the completion tokens that an arm with a
  budget might spend: compare them with `tokens_completion`, since a cap is not a match.
- `avg@k`, `pass@k` and `majority@k` are of the k samples planned for each problem (`samples`), in
  accuracy, or else exact match: the mean, whether one is right, whether the answer given most often
  is right (of answers that tie, each counts its share). They are means over the problems begun;
  a sample that failed or is not recorded counts 0 there, and in `samples_missing`, which also
  counts all samples of problems not begun.
- `messages_*` are shares of all messages; `truncated` (a call was cut short), `overflow`,
  `estimated`, `answers_*` and `no_answer` (how the answer was read) are shares of all episodes;
  `calls`, `asks` and `messages` are means per episode.
- Chances (of being on the front, of being the best at a budget) are shares of 4,000 draws of the
  problems that all arms of a benchmark and model hold, drawn for all arms together. The
  hypervolume is the share of the rectangle from the reference point to a perfect answer at no
  cost that the front covers; its interval leans high, since each draw keeps its luckiest arms.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was written: the results of all studies, the files, what a reader must be told."""

    table: pd.DataFrame
    files: tuple[Path, ...]
    notes: tuple[str, ...]
    reading: tuple[str, ...] = ()
    """What to use at a budget, and how sure that is, in sentences."""
    comparisons: tuple[Comparison, ...] = ()
    """With published figures, one per study, where they were asked for."""


def write_report(
    path: Path,
    choice: Choice | None = None,
    *,
    against: Publication | None = None,
    tell: Callable[[str], None] = silent,
) -> Report:
    """Writes `report/` into every study at or above or below `path` (a folder of studies, a
    study, or one of its arms). `tell` hears what is being done. Raises StoreError where there is
    nothing at all."""
    import pandas as pd

    path = path.resolve()
    arms = arm_folders(path)
    studies = sorted({arm.parent for arm in (*arms, *leftovers(path, arms))})
    parts = [_write_study(study, choice or Choice(), against, tell) for study in studies]
    return Report(
        table=pd.concat([part.table for part in parts], ignore_index=True),
        files=tuple(file for part in parts for file in part.files),
        notes=_of_all(studies, [part.notes for part in parts]),
        reading=_of_all(studies, [part.reading for part in parts]),
        comparisons=tuple(comparison for part in parts for comparison in part.comparisons),
    )


def _of_all(studies: Sequence[Path], said: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What is said of each study, under its name where there are several."""
    return tuple(
        f"{study.name}: {text}" if len(studies) > 1 else text
        for study, texts in zip(studies, said, strict=True)
        for text in texts
    )


def _write_study(
    study: Path, choice: Choice, against: Publication | None, tell: Callable[[str], None]
) -> Report:
    frames = load(study, tell=tell)
    tell(f"{study.name}: means and intervals of {len(frames.episodes):,} episodes")
    table = results(frames)
    told = notes(frames, table)
    folder = study / "report"
    tell(f"{study.name}: pictures")
    drawn = draw(frames, table, folder, choice)
    tell(f"{study.name}: the page")
    text = markdown(study.name, table, told, drawn.reading)
    files = (
        write(folder / "results.csv", to_csv(table).encode()),
        write(folder / "results.md", text.encode()),
        *drawn.files,
        write(folder / "index.html", page(study.name, frames, table, told, drawn.flows).encode()),
    )
    made = Report(table=table, files=files, notes=told, reading=drawn.reading)
    if against is None:
        return made
    found = compare(frames, table, against)
    beside = (
        write(folder / "published.csv", against_csv(found).encode()),
        write(folder / "published.md", against_markdown(study.name, found).encode()),
    )
    return replace(made, files=(*files, *beside), comparisons=(found,))


def markdown(
    study: str, table: pd.DataFrame, told: Sequence[str], reading: Sequence[str] = ()
) -> str:
    """The results with every column of the CSV, in four tables, and what a reader must know."""
    rows = plain_rows(table)
    shown = table.assign(folder=table["arm"], arm=shortest(rows) if rows else [])
    lines = [f"# {study}: results", "", settings(rows), ""]
    if told:
        lines += ["## Notes", "", *(f"- {note}" for note in told), ""]
    lines += ["![quality against cost](frontier.png)", ""]
    if reading:
        lines += ["## What to use at a budget", "", *(f"- {line}" for line in reading), ""]
        lines += ["![what to use at a budget](budget.png)", ""]
    for heading, columns in _sections(shown).items():
        lines += [f"## {heading}", "", to_markdown(shown, ["arm", *columns])]
        if heading == "Where the tokens went":
            lines += ["![where the tokens went](ledger.png)", ""]
            lines += ["![who made whom re-read](rereading.png)", ""]
            lines += ["![how prompts grow](growth.png)", ""]
        if heading == "Messages and calls":
            lines += ["![what went wrong](conduct.png)", ""]
    return "\n".join([*lines, "## How to read this", "", READING])


def _sections(table: pd.DataFrame) -> dict[str, list[str]]:
    """Every column but the label, in four groups; none of scores or tokens without truncation."""
    names = [str(name) for name in table.columns if name != "arm"]
    chosen = ["study", "folder", "label", *CHOICES, "fingerprint", "run"]
    wholes = ("tokens_total", "tokens_low", "tokens_high")
    conduct = [n for n in names if n.startswith("messages")]
    conduct += names[names.index("truncated") : names.index("front")]
    tokens = [n for n in names if n.startswith("tokens_") and n not in wholes]
    taken = {*chosen, *conduct, *tokens}
    return {
        "Scores and cost": [*(n for n in names if n not in taken), "truncated"],
        "Where the tokens went": [*tokens, "truncated"],
        "Messages and calls": conduct,
        "Settings": chosen,
    }
