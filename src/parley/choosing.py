"""Which problems an arm solves, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

from parley.seeds import derive
from parley.types import Problem


def choose(problems: Sequence[Problem], limit: int | None, seed: int) -> tuple[Problem, ...]:
    """A seeded sample that is nested: a larger limit keeps the problems of a smaller one.

    The order depends on the problems' ids and the seed, never on their place in a file, so that a
    run stopped half-way is a random sample too.
    """
    ordered = sorted(problems, key=lambda problem: (derive(seed, problem.id), problem.id))
    return tuple(ordered if limit is None else ordered[:limit])
