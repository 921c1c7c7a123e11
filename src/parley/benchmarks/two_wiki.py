"""2WikiMultiHopQA: two or four gold paragraphs among ten, from Wikipedia and Wikidata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from parley.data.evidence import not_two_gold, two_share_problem
from parley.data.rows import Row, collect, digest, from_file, from_hub, json_rows, read_bytes
from parley.errors import ConfigError, DataError
from parley.grading import METRICS, answer_words, check_contract, grade_text
from parley.protocols import Dataset
from parley.types import Problem, Score

Aliases = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWiki:
    """The 12,576 questions of the development split. A quarter are comparisons over two bridges
    with four gold paragraphs, which are split two and two."""

    name: ClassVar[str] = "two_wiki"
    metric: ClassVar[str] = "f1"
    metrics: ClassVar[tuple[str, ...]] = METRICS
    quick: ClassVar[bool] = True
    operational: ClassVar[frozenset[str]] = frozenset({"path", "aliases"})
    """The hashes of both files stand in `Dataset.source`; where they lie does not matter."""

    path: str | None = None
    """Local .jsonl, .json or .parquet in the hub's or the original shape; null reads the hub."""
    aliases: str | None = None
    """The data set's `id_aliases.json`: {Q_id, aliases, demonyms} a line, keyed by `answer_id`,
    which only the original shape has. Null grades against the one gold answer."""
    hub: str = "framolfese/2WikiMultihopQA"
    """Data set on the Hugging Face hub; a copy in Parquet, which loads without a script."""
    config: str | None = None
    """Hub configuration; null is the default one."""
    split: str = "validation"
    """Hub split; it is the original's dev.json."""
    revision: str | None = "fe713bfbd1afbca1a65246741a75890405d56a3a"
    """Pinned commit of the hub repository, so that the rows cannot change."""
    answer: str = "short"
    """How the answer is asked for: `short` (shortest exact answer) or `none` (the paper's)."""
    split_seed: int = 42
    """Which gold paragraph goes to whom, and the order; drawn per problem id."""
    gold: str = "any"
    """`any` keeps every row; `two` only those with exactly two gold paragraphs at hand."""

    def __post_init__(self) -> None:
        check_contract(self.answer)
        if self.gold not in ("any", "two"):
            raise ConfigError(f"benchmark.gold={self.gold!r}", allowed="any or two")

    def load(self) -> Dataset:
        table = (
            from_file(self.path)
            if self.path
            else from_hub(self.hub, self.config, self.split, self.revision)
        )
        known: Aliases = {}
        if self.aliases:
            content = read_bytes(self.aliases)
            known = read_aliases(self.aliases, content)
            table = replace(table, source=f"{table.source} aliases:{digest(content)}")

        def build(row: Row) -> Problem:
            key = row.data.get("answer_id")
            others = known.get(key, ()) if isinstance(key, str) else ()
            return two_share_problem(
                row.data, row.place, joint=" ", seed=self.split_seed, aliases=others
            )

        if self.gold == "two":
            return collect(table, build, not_two_gold)
        return collect(table, build)

    def answer_format(self, problem: Problem) -> str:
        return answer_words(self.answer)

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        return grade_text(problem.answers, text, truncated=truncated)


def read_aliases(name: str, content: bytes) -> Aliases:
    """Aliases and demonyms by Wikidata id, as the official script joins them."""
    found: dict[str, tuple[str, ...]] = {}
    for place, value in json_rows(name, content):
        parts = value if isinstance(value, Mapping) else {}
        names = [name for key in ("aliases", "demonyms") for name in parts.get(key) or ()]
        key = parts.get("Q_id")
        if not isinstance(key, str) or not all(isinstance(name, str) for name in names):
            raise DataError(
                f"{place}: not an entry of aliases",
                allowed='{"Q_id": "Q1", "aliases": ["..."], "demonyms": ["..."]}',
            )
        found[key] = tuple(names)
    return found
