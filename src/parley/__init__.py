"""Parley: what should one LLM agent send to another?

import parley
table = parley.run("limit=6", strategy=["full", "pact"])
print(table[["strategy", "f1", "tokens_total"]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

__all__ = ["run"]


def run(*overrides: str, **sweep: object) -> pandas.DataFrame:
    """Runs or resumes a study as `parley run` does, and returns its table, one row per arm.

    `overrides` are Hydra's (`"limit=6"`); a keyword is one more, or with a list of values a
    dimension of the sweep. Works inside a notebook. Raises ParleyError.
    """
    from parley.commands.run import from_python

    table: pandas.DataFrame = from_python(overrides, sweep)
    return table
