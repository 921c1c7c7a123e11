"""Several samples of one problem made into numbers: avg@k, pass@k, majority@k.

A sample that failed or was never made is None: it counts against the arm, and is counted beside
the number. A NaN is a measurement that went wrong; it makes the number NaN, and is never skipped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Value = float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """avg@k over problems. `mean` is over all samples attempted, problems times k, a missing one
    as 0; `completed_mean` is over those that exist, for comparison only."""

    mean: float
    completed_mean: float
    attempted: int
    missing: int
    incomplete: tuple[str, ...]
    """Problems that lack samples: their pass@k and majority@k are not complete either."""


def average_at_k(samples: Mapping[str, Sequence[Value]], k: int) -> Average:
    """avg@k of the first k samples of each problem; those past the end are missing, too.

    The mean of the problems' own means is the same number, since every problem counts k samples.
    """
    _check_k(k)
    first = {problem: list(values[:k]) for problem, values in samples.items()}
    made = [value for values in first.values() for value in values if value is not None]
    attempted = k * len(first)
    return Average(
        mean=math.fsum(made) / attempted if attempted else math.nan,
        completed_mean=math.fsum(made) / len(made) if made else math.nan,
        attempted=attempted,
        missing=attempted - len(made),
        incomplete=tuple(sorted(name for name, values in first.items() if _existing(values) < k)),
    )


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Chance that at least one of k samples, drawn from n without putting back, is correct.

    The unbiased estimator of Chen et al. (2021), as a product, which neither overflows nor loses
    digits. NaN where k > n: fewer samples cannot estimate it.
    """
    _check_k(k)
    if not 0 <= correct <= n:
        raise ValueError(f"{correct} correct samples of {n}")
    if k > n:
        return math.nan
    if n - correct < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / place for place in range(n - correct + 1, n + 1))


def majority_at_k(answers: Sequence[str | None], scores: Sequence[Value], k: int) -> float:
    """Expected score of the answer most often given by k samples, drawn from n without putting
    back: exact, over all such draws.

    Answers are compared as they are: normalise them first. A sample without an answer takes its
    place in the draw but has no vote; where nobody votes the score is 0. Answers that tie share
    the draw equally, which is a fair coin's expected score, and does not depend on an order.
    Samples of one answer count with their mean score. NaN where k > n, or where a score is NaN.
    """
    _check_k(k)
    n = len(answers)
    if len(scores) != n:
        raise ValueError(f"{n} answers but {len(scores)} scores")
    if k > n:
        return math.nan
    groups: dict[str, list[float]] = {}
    for answer, score in zip(answers, scores, strict=True):
        if answer is not None:
            groups.setdefault(answer, []).append(0.0 if score is None else score)
    counts = [len(group) for group in groups.values()]
    silent = n - sum(counts)
    chance = {count: _winning(count, counts, silent, k) for count in set(counts)}
    shares = [chance[len(group)] * math.fsum(group) / len(group) for group in groups.values()]
    return math.fsum(shares) / math.comb(n, k)


def _winning(own: int, counts: Sequence[int], silent: int, k: int) -> float:
    """Draws of k samples in which an answer given `own` times wins, tied ones in part."""
    others = list(counts)
    others.remove(own)
    total = 0.0
    for votes in range(1, min(own, k) + 1):
        ways = _draws(others, votes, k - votes)
        for (drawn, tied), number in ways.items():
            rest = k - votes - drawn
            total += math.comb(own, votes) * number * math.comb(silent, rest) / (tied + 1)
    return total


def _draws(counts: Sequence[int], most: int, size: int) -> dict[tuple[int, int], int]:
    """Ways to draw from answers given so many times, none more than `most` times: by how many
    samples are drawn (up to `size`), and how many answers are drawn exactly `most` times."""
    ways = {(0, 0): 1}
    for count in counts:
        longer: dict[tuple[int, int], int] = {}
        for (drawn, tied), number in ways.items():
            for votes in range(min(count, most, size - drawn) + 1):
                key = drawn + votes, tied + (votes == most)
                longer[key] = longer.get(key, 0) + number * math.comb(count, votes)
        ways = longer
    return ways


def _existing(values: Sequence[Value]) -> int:
    return sum(value is not None for value in values)


def _check_k(k: int) -> None:
    if k < 1:
        raise ValueError(f"k={k}: at least one sample is drawn")
