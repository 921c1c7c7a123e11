"""The command line. Commands are imported when they are called, so that help is quick."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from parley.errors import ParleyError

COMMANDS = {
    "run": "run one arm, or with -m a sweep; resumes what is recorded",
    "plan": "say what a run would do: arms, episodes, calls, tokens; spends nothing",
    "preview": "print one problem's exact prompts, turn by turn; no engine needed",
    "replay": "project one sender's recorded outputs anew; rerun only who hears them",
    "report": "tables and figures of a study's folder",
    "compare": "compare arms in pairs: differences, intervals, tests, savings",
    "show": "list the episodes of a folder, or print one conversation",
    "rescore": "grade recorded answers again; no engine needed",
    "upload": "replay finished folders to W&B",
    "dashboard": "save a study's view in W&B: score against tokens",
    "serve": "start an engine and hold it for later runs",
    "doctor": "what is installed, which engines can start, what is missing",
    "schema": "print the JSON Schema of an episode record",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of `parley`; exits with 0, 1 on an error, 2 on wrong usage, 130 on Ctrl-C."""
    sys.exit(dispatch(list(sys.argv[1:] if arguments is None else arguments)))


def dispatch(arguments: list[str]) -> int:
    """Runs one command line and returns its exit code."""
    traceback = "--traceback" in arguments
    arguments = [argument for argument in arguments if argument != "--traceback"]
    try:
        code = _perform(arguments)
        # Here, where a reader that has gone away can still be told apart from a mistake.
        sys.stdout.flush()
        return code
    except ParleyError as error:
        if traceback:
            raise
        print(f"parley {arguments[0]}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the same command resumes", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of a pipe has gone, as with `parley show DIR | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if traceback:
            raise
        print(
            f"parley {arguments[0]}: unexpected {type(error).__name__}: {error}\n"
            "  next:    the same command with --traceback shows where; what was recorded is kept",
            file=sys.stderr,
        )
        return 1


def _perform(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    if arguments[0] == "--version":
        from importlib.metadata import version

        print(f"parley {version('parley-harness')}")
        return 0
    name, rest = arguments[0], arguments[1:]
    if name not in COMMANDS:
        print(
            f"parley: no command {name!r}\n  allowed: {', '.join(COMMANDS)}\n"
            "  next:    `parley --help` says what each does",
            file=sys.stderr,
        )
        return 2
    code: int = importlib.import_module(f"parley.commands.{name}").command(rest)
    return code


def usage() -> str:
    """The text of `parley --help`."""
    lines = [f"  {name:<10}{text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "usage: parley COMMAND [arguments]",
            "",
            "Finds out what one agent should send another: only what is sent changes.",
            "",
            *lines,
            "",
            "run, plan, preview and serve take Hydra overrides (strategy=pact limit=50), which",
            "`parley run --help` lists. The others take a folder under outputs/.",
            "--traceback shows where an error comes from.",
        ]
    )


if __name__ == "__main__":
    main()
