"""Evidence of a row, split into two shares: the rules, also for rows of an odd shape.

A regular row has ten paragraphs and two gold titles: one gold and four distractors to each share.
Any other row follows these rules, is noted in `Problem.notes`, and never fails:

| note | what the row has | what is done |
|---|---|---|
| few_paragraphs, many_paragraphs | not ten of them | distractors even out the shares |
| no_gold, one_gold, three_gold, four_gold, many_gold | not two gold titles | dealt in turn: 2+2 |
| absent_gold | a gold title that is not in the context | the others are dealt as usual |
| repeated_title | two paragraphs of one title | both kept; of a gold title, in one share |
| bad_sentence_id | a supporting sentence that is not there | left out of `facts` |
| empty_paragraph | a title without text | kept |
| html_entity | `&amp;` and the like | written out; the answer written out is an alias |

White space, line ends included, becomes single spaces inside a paragraph, a title, the question.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from parley.data.shapes import SHAPES, contexts, identity, pointers, words
from parley.errors import DataError
from parley.seeds import derive
from parley.types import Paragraph, Problem

PARAGRAPHS = 10
_GOLD = {0: "no_gold", 1: "one_gold", 3: "three_gold", 4: "four_gold"}
_NOT_TWO = frozenset({*_GOLD.values(), "many_gold", "absent_gold"})
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

Shares = tuple[tuple[Paragraph, ...], tuple[Paragraph, ...]]


def two_share_problem(
    row: Mapping[str, object], place: str, *, joint: str, seed: int, aliases: Sequence[str] = ()
) -> Problem:
    """The problem of one row. `joint` stands between sentences: "" where the data set's sentences
    bring their own space (HotpotQA), " " where they do not (2Wiki). Raises DataError with `place`.
    """
    try:
        ident, question, answer = identity(row), words(row, "question"), words(row, "answer")
        context, supporting = contexts(row), pointers(row)
        paragraphs = [Paragraph(title=clean(t), text=clean(joint.join(s))) for t, s in context]
        gold = tuple(dict.fromkeys(clean(title) for title, _ in supporting))
        facts = _facts(context, supporting)
        texts = [question, answer, *(text for t, s in context for text in (t, *s))]
        seen = {
            "bad_sentence_id": None in facts,
            "html_entity": any("&" in text and _ENTITY.search(text) for text in texts),
        }
        kind = row.get("type")
        return Problem(
            id=ident,
            question=clean(question),
            answers=gold_answers((answer, clean(answer), *aliases)),
            kind=kind if isinstance(kind, str) else "",
            shares=deal(paragraphs, gold, seed=seed, problem=ident),
            facts=tuple(dict.fromkeys(fact for fact in facts if fact)),
            notes=tuple(sorted(shape_notes(paragraphs, gold) | _holding(seen))),
        )
    except ValueError as error:
        raise malformed(place, str(error), SHAPES) from error


def deal(
    paragraphs: Sequence[Paragraph], gold: Sequence[str], *, seed: int, problem: str
) -> Shares:
    """Paragraphs in two shares, in an order drawn from (seed, problem id) and nothing else.

    Gold titles go to the shares in turn; then each distractor goes to the share that has fewer
    paragraphs, or, where they are level, to the one that was not dealt the first gold title.
    """
    rng = Random(derive("shares", seed, problem))
    present = {p.title for p in paragraphs}
    titles = [title for title in gold if title in present]
    others = [p for p in paragraphs if p.title not in titles]
    rng.shuffle(titles)
    rng.shuffle(others)
    first = rng.randrange(2)
    shares: tuple[list[Paragraph], list[Paragraph]] = ([], [])
    for turn, title in enumerate(titles):
        shares[(first + turn) % 2].extend(p for p in paragraphs if p.title == title)
    for paragraph in others:
        level = len(shares[0]) == len(shares[1])
        (shares[1 - first] if level else min(shares, key=len)).append(paragraph)
    for share in shares:
        rng.shuffle(share)
    return tuple(shares[0]), tuple(shares[1])


def shape_notes(paragraphs: Sequence[Paragraph], gold: Sequence[str]) -> set[str]:
    """The ways in which paragraphs and gold titles depart from the regular shape."""
    titles = [p.title for p in paragraphs]
    return _holding(
        {
            "few_paragraphs": len(titles) < PARAGRAPHS,
            "many_paragraphs": len(titles) > PARAGRAPHS,
            "repeated_title": len(set(titles)) < len(titles),
            "absent_gold": not set(gold) <= set(titles),
            "empty_paragraph": any(not p.text for p in paragraphs),
            _GOLD.get(len(gold), "many_gold"): len(gold) != 2,
        }
    )


def not_two_gold(problem: Problem) -> str:
    """The reason to leave a problem out where only rows with two gold paragraphs are wanted."""
    return "" if _NOT_TWO.isdisjoint(problem.notes) else "not_two_gold"


def clean(text: str) -> str:
    """HTML entities written out, then every run of white space one space."""
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return " ".join(text.split())


def gold_answers(answers: Iterable[str]) -> tuple[str, ...]:
    """The answers that are not blank, each once, in their order."""
    return tuple(dict.fromkeys(answer for answer in answers if answer.strip()))


def malformed(place: str, what: str, shapes: str) -> DataError:
    """The error of a row that cannot be used."""
    return DataError(f"{place}: {what}", allowed=shapes, remedy="mend or remove this row")


def _facts(
    context: Iterable[tuple[str, list[str]]], supporting: Iterable[tuple[str, int]]
) -> list[str | None]:
    """The supporting sentences of titles that are there; None for a number out of range."""
    found: dict[str, list[str]] = {}
    for title, lines in context:
        found.setdefault(clean(title), lines)
    return [
        clean(found[clean(title)][number]) if number in range(len(found[clean(title)])) else None
        for title, number in supporting
        if clean(title) in found
    ]


def _holding(seen: Mapping[str, bool]) -> set[str]:
    return {note for note, holds in seen.items() if holds}
