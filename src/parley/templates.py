"""The words sent to models, kept as plain text files in `parley/prompts`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def template(name: str) -> str:
    """The text of `prompts/<name>.txt` without its closing newlines.

    A name with a suffix of its own (`examples.json`) is the file of that name. Places to fill
    are written `$name`, for `string.Template`. A name that has no file is a mistake in the code
    and raises FileNotFoundError.
    """
    file = name if "." in name else f"{name}.txt"
    return files("parley").joinpath("prompts", file).read_text(encoding="utf-8").rstrip("\n")
