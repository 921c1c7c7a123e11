"""What engines share that start another package's server: its flags, environment, interpreter."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from parley.errors import ConfigError

_SECRET = re.compile(r"(^|_)(token|key|secret|password)s?$", re.IGNORECASE)
_LOOK = (
    "import importlib.util as u, sys; "
    "print(*(name for name in sys.argv[1:] if u.find_spec(name) is None))"
)


def flags(settings: Mapping[str, Any]) -> list[str]:
    """Arguments by name as command-line flags; None is left out."""
    found: list[str] = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            found.append(flag)
        elif value is False:
            found.append("--no-" + flag[2:])
        elif isinstance(value, Mapping):
            found += [flag, orjson.dumps(dict(value)).decode()]
        elif isinstance(value, list | tuple):
            found += [flag, *map(str, value)]
        elif value is not None:
            found += [flag, str(value)]
    return found


def refuse_secrets(environment: Mapping[str, str]) -> None:
    """Raises ConfigError for a variable that looks like a secret: settings are recorded."""
    for name in environment:
        if _SECRET.search(name):
            raise ConfigError(
                f"engine.environment.{name} looks like a secret, and settings are recorded",
                remedy=f"export {name} in your shell: the server inherits it",
            )


async def missing(python: str | None, modules: Sequence[str], *, package: str) -> str | None:
    """The first of the modules that an interpreter (null: this one) lacks, so that it is told at
    once and plainly. Raises ConfigError where it cannot be run; `package` is what it is for."""
    try:
        asked = await asyncio.create_subprocess_exec(
            *(python or sys.executable, "-P", "-c", _LOOK, *modules),
            stdout=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise ConfigError(
            f"engine.python: cannot run {python}: {error.strerror}",
            allowed=f"the path of a Python interpreter that has {package}",
        ) from None
    out, _ = await asked.communicate()
    if asked.returncode:
        raise ConfigError(
            f"engine.python: {python or sys.executable} cannot say what it has installed",
            allowed=f"a Python interpreter, 3.11 or later, that has {package}",
        )
    return next(iter(out.decode().split()), None)
