"""Why a published figure and a measured one may not be comparable: only what applies to an arm, by
the settings and outcomes in its records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from parley.analysis.publications import Published

ALWAYS = (
    "Prompts, roles and worked examples are worded by Parley; the published ones are not public or "
    "are worded otherwise."
)
CONDITIONS = {
    "shots": "worked examples in each prompt",
    "answer": "`answer`, how the answer is asked for, which moves exact match by tens of points",
    "topology.turns": "turns",
    "topology.early_exit": "whether a message may end the exchange",
    "strategy.answer_thinks": "whether the answering turn reasons first",
    "sampling.temperature": "temperature",
    "sampling.top_p": "top-p",
    "sampling.max_tokens": "new tokens allowed to a call, with which the order of methods can flip",
    "seed": "seed",
}
"""Conditions that are compared as they stand, in words."""
Facts = Mapping[str, Any]
"""An arm's settings by dotted key, its choices, and its row of the results table."""


def caveats(published: Published, metric: str, facts: Facts) -> Iterator[str]:
    """Sentences about one published row and one arm; `metric` is the measured column."""
    yield ALWAYS
    yield from _conditions(published, facts)
    yield from _measures(published, metric, facts)
    yield from _sample(published, facts)
    yield from _outcomes(facts)
    if facts.get("benchmark") == "hotpotqa" and published.topology == "split_evidence":
        yield (
            "Which agent holds which paragraphs is drawn for each problem by itself here, and by "
            "one generator that advances through the file there."
        )
    if facts.get("engine") == "llamacpp":
        yield "Served by llama.cpp here, whose model files are often quantised; in full there."


def _conditions(published: Published, facts: Facts) -> Iterator[str]:
    for key, words in CONDITIONS.items():
        there = published.conditions.get(key)
        here = facts.get(key)
        if there is not None and here is not None and there != here:
            yield f"{published.table}: {words}: {_said(there)} there, {_said(here)} here."


def _measures(published: Published, metric: str, facts: Facts) -> Iterator[str]:
    if "f1_squad" in published.values and metric == "f1":
        yield (
            "Published F1 has no rule on yes and no; the F1 here follows HotpotQA's own script, "
            "which gives 0 where one side is yes or no and the other is not."
        )
    elif metric == "f1_squad" and facts.get("metric") == "f1":
        yield (
            "F1 is compared by SQuAD's rules (`f1_squad`), as the published code computes it; the "
            "headline F1 of this study follows HotpotQA's own script."
        )
    if metric == "tokens_total":
        yield (
            "Published totals tokenise the decoded outputs again; here they are what the server "
            "counted. Neither leaves out tokens served from a prefix cache."
        )
    if metric == "tokens_output":
        yield (
            f"{published.table}: generated tokens are counted there, prompts are not: set against "
            "completion tokens, not against the total."
        )
        if published.table.startswith("LatentMAS"):
            yield "LatentMAS's code counts no tokens: how its figures came about is not known."
    if metric.startswith("tokens_") and facts.get("estimated"):
        yield f"Tokens of {facts['estimated']:.0%} of the measured episodes are partly estimated."


def _sample(published: Published, facts: Facts) -> Iterator[str]:
    given = published.conditions
    if "problems" in given:
        there = given["problems"]
        said = "how many is not said there" if there is None else f"others, {there} of them, there"
        yield f"{published.table}: problems: {said}; {facts['n']} here."
    if given.get("runs", facts["samples"]) != facts["samples"]:
        yield (
            f"{published.table}: means of {given['runs']} runs there; samples of a problem here: "
            f"{facts['samples']}."
        )
    if given.get("replayed"):
        yield (
            f"{published.table}: one recorded exchange was replayed to its last turn there; here "
            "every turn is run anew."
        )


def _outcomes(facts: Facts) -> Iterator[str]:
    if facts.get("truncated"):
        yield (
            f"{facts['truncated']:.0%} of the measured episodes have a call that was cut short; "
            "the published rate is not known."
        )
    if facts.get("errors"):
        yield f"{facts['errors']} of {facts['episodes']} measured episodes failed and count 0."
    if facts.get("missing"):
        yield f"{facts['missing']} planned episodes are missing, and in no mean."


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
