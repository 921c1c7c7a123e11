"""How a short answer is asked for, read and graded.

The rules of `normalise`, `em` and `f1` are those of the official HotpotQA script
(github.com/hotpotqa/hotpot, `hotpot_evaluate_v1.py` at commit 4c0fa5e). 2WikiMultiHopQA's own
script (github.com/Alab-NII/2wikimultihop, `2wikimultihop_evaluate_v1.1.py` at commit 209e761)
has the same ones and takes the best over the gold answer and its aliases, metric by metric.
Only ASCII punctuation is dropped and nothing is done about Unicode forms: a composed and a
decomposed letter differ, as they do there. Never grade the letter of an option with these rules:
"A" is an article and normalises to nothing.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable

from parley.errors import ConfigError
from parley.parsing import final_answer
from parley.remembering import remembered
from parley.templates import template
from parley.types import Score

METRICS = ("em", "f1", "f1_squad")
CONTRACTS = ("short", "none")
"""How the answer is asked for: `short` asks for the shortest exact answer; `none`, as in the
paper's prompt, only for a final line. The choice moves exact match by tens of points."""

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_CLOSED = frozenset({"yes", "no", "noanswer"})
_BARE_LABELS = frozenset({"answer", "final answer"})


def check_contract(answer: str) -> None:
    """Raises ConfigError unless `answer` is one of CONTRACTS."""
    if answer not in CONTRACTS:
        raise ConfigError(
            f"answer={answer!r} is not a way to ask for an answer",
            allowed=" or ".join(CONTRACTS),
            remedy="answer=short, or answer=none as in the paper's prompt",
        )


def answer_words(answer: str) -> str:
    """What an answering seat is told under this contract."""
    check_contract(answer)
    return template(f"answer_{answer}")


@remembered(1024)
def normalise(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, words one space apart.

    In this order: dropped punctuation leaves no space behind, a dropped article does.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def em(prediction: str, gold: str) -> float:
    """1 if both are the same after normalisation, also where both normalise to nothing."""
    return float(normalise(prediction) == normalise(gold))


def f1(prediction: str, gold: str) -> float:
    """Overlap of words; 0 where either side is yes, no or noanswer and the other is not it."""
    said, right = normalise(prediction), normalise(gold)
    if said != right and not _CLOSED.isdisjoint((said, right)):
        return 0.0
    return _overlap(said.split(), right.split())


def f1_squad(prediction: str, gold: str) -> float:
    """Overlap of words without the rule on yes and no, as SQuAD 1.1 and the paper's code do:
    a sentence that begins with "yes" scores against the gold answer "yes"."""
    return _overlap(normalise(prediction).split(), normalise(gold).split())


def best(measure: Callable[[str, str], float], prediction: str, gold: tuple[str, ...]) -> float:
    """The highest value of a measure over the gold answer and its aliases; 0 without any."""
    return max((measure(prediction, one) for one in gold), default=0.0)


def grade_text(gold: tuple[str, ...], text: str, *, truncated: bool = False) -> Score:
    """Reads the answer in the visible text of an answering turn and grades it. Total.

    The rule of reading: the first line after the last "Answer:" label (status `ok`); without a
    label, the last line that holds a letter or a digit (`no_label`), since small models leave the
    label out and the official script would grade whatever stands there. A label with nothing
    after it is no answer. Where nothing is found every metric is 0, and the status is `truncated`
    if the output was cut short, else `no_answer`.
    """
    labelled = final_answer(text)
    found = _last_line(text) if labelled is None else labelled
    if not found:
        return Score(
            metrics=dict.fromkeys(METRICS, 0.0),
            extracted=None,
            status="truncated" if truncated else "no_answer",
        )
    values = (best(measure, found, gold) for measure in (em, f1, f1_squad))
    return Score(
        metrics=dict(zip(METRICS, values, strict=True)),
        extracted=found,
        status="no_label" if labelled is None else "ok",
    )


def _last_line(text: str) -> str:
    lines = (line.strip() for line in reversed(text.split("\n")))
    last = next((line for line in lines if any(map(str.isalnum, line))), "")
    return "" if normalise(last) in _BARE_LABELS else last


def _overlap(said: list[str], right: list[str]) -> float:
    same = (Counter(said) & Counter(right)).total()
    if same == 0:
        return 0.0
    precision, recall = same / len(said), same / len(right)
    return 2 * precision * recall / (precision + recall)
