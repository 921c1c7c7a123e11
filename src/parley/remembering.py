"""Pure functions that are asked the same over and over."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def remembered(capacity: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keeps the results of the last `capacity` different calls.

    Arguments that cannot be hashed, such as a user's component with a list in it, are no error:
    then the function works its result out anew each time.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = lru_cache(maxsize=capacity)(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return known(*args, **kwargs)  # type: ignore[arg-type]
            except TypeError:
                return function(*args, **kwargs)

        return call

    return decorate
