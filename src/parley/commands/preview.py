"""`parley preview`: the exact prompts of one problem, turn by turn, without an engine."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from parley import config
from parley.arm import Arm, with_data
from parley.choosing import choose
from parley.console import wide_console
from parley.errors import ConfigError
from parley.rehearsal import PLACEHOLDER, prompts, rehearse
from parley.types import Problem


def command(arguments: Sequence[str]) -> int:
    """Prints one arm's prompts, or with -m and two arms their difference."""
    config.compose(arguments, show)
    return 0


def show(jobs: Sequence[config.Job]) -> None:
    """Prints the prompts of the first problem of each arm's sample. Raises ParleyError."""
    arms, values, failures = config.arms(jobs)
    if failures:
        raise config.combined(failures)
    if len(arms) > 2:
        raise ConfigError(
            f"{len(arms)} arms to preview",
            allowed="one arm, or two to see their difference",
            remedy="parley preview -m strategy=full,pact",
        )
    texts: list[str] = []
    names: list[str] = []
    for arm in arms:
        dataset = arm.benchmark.load()
        (problem,) = choose(dataset.problems, 1, int(values["limit_seed"]))
        texts.append(written(arm, problem))
        names.append(with_data(arm, dataset.source).name)
    console = wide_console()
    console.soft_wrap = True
    if len(arms) == 1:
        console.print(texts[0])
        return
    old, new = (text.split("\n") for text in texts)
    lines = difflib.unified_diff(old, new, names[0], names[1], n=3, lineterm="")
    for line in lines:
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        console.print(line, style=colour or "")


def written(arm: Arm, problem: Problem) -> str:
    """All prompts of a rehearsed episode as text, each with its tokens by part."""
    episode = rehearse(arm, problem)
    exact = iter(prompts(arm, problem))
    lines = [
        f"Problem {problem.id}; gold answer: {problem.answers[0]}",
        f"Outputs are shown as {PLACEHOLDER}; tokens are estimated as bytes / 4.",
    ]
    for turn in episode.turns:
        for call in turn.calls:
            role = "answers" if turn.answers else "speaks"
            thinking = "on" if call.thinking else "off"
            lines += ["", f"=== turn {turn.index + 1}: {turn.title} {role}, thinking {thinking}"]
            parts = [f"{part} {size}" for part, size in call.tokens.prompt.items() if size]
            lines.append(f"    tokens: {', '.join(parts)}; in all {call.usage.prompt}")
            for name, text in next(exact):
                lines += [f"--- {name}", text.rstrip("\n")]
    return "\n".join(lines)
