"""Arms, problems and chats for tests of the core: real parts, with an engine that follows a script.

`play` runs one episode and returns what was really sent beside what was recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from parley.arm import Arm
from parley.benchmarks.fictional import Fictional
from parley.calls import Reuse, Run
from parley.channels.identity import Identity
from parley.engines.scripted import Scripted, ScriptedChat
from parley.episode import run_episode
from parley.grading import METRICS, grade_text
from parley.protocols import Benchmark, Channel, Chat, Dataset, Engine, Model, Strategy, Topology
from parley.topologies.split_evidence import SplitEvidence
from parley.types import (
    Answer,
    Call,
    Completion,
    Cue,
    Draft,
    Episode,
    Paragraph,
    Problem,
    Request,
    Sampling,
    Score,
    Seat,
    Turn,
    Usage,
)

Answers = Sequence[str] | Callable[[Request], str]
Messages = tuple[tuple[str, str], ...]
SEAT = Seat(name="agent_a", title="Agent A", role="agent", product="the fact", label="Fact")
CUE = Cue(seat=SEAT, round=0)
THOUGHT = "<think>\nPRIVATE thought.\n</think>\n\n"
"""A think block whose text no projection may let through."""
ANSWER = "Answer: Maple Ridge"


def problem(name: str = "p1", **changes: Any) -> Problem:
    """Two paragraphs to a seat; the answer needs one of each."""
    facts: dict[str, Any] = {
        "question": "In which town was the person who painted The Quiet Lantern born?",
        "answers": ("Maple Ridge",),
        "kind": "bridge",
        "shares": (
            (
                Paragraph(
                    title="The Quiet Lantern",
                    text="The Quiet Lantern was painted by Clara Barlow.",
                ),
                Paragraph(title="Henry Dalton", text="Henry Dalton keeps bees."),
            ),
            (
                Paragraph(title="Clara Barlow", text="Clara Barlow was born in Maple Ridge."),
                Paragraph(title="Cedar Falls", text="Cedar Falls has a small harbor."),
            ),
        ),
    }
    return Problem(id=name, **{**facts, **changes})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiny:
    """A benchmark of one problem. Notes the threads in which it grades."""

    name: ClassVar[str] = "tiny"
    metric: ClassVar[str] = "f1"
    metrics: ClassVar[tuple[str, ...]] = METRICS

    threads: list[int] = field(default_factory=list)
    error: Exception | None = None

    def load(self) -> Dataset:
        return Dataset(problems=(problem(),), source="tiny")

    def answer_format(self, problem: Problem) -> str:
        return 'End with one line that starts with "Answer:".'

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        self.threads.append(threading.get_ident())
        if self.error:
            raise self.error
        return grade_text(problem.answers, text, truncated=truncated)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Three seats; `plan` gives each round's (seat, answers) pairs, spoken at once."""

    note: ClassVar[str] = ""
    examples: ClassVar[str] = ""
    seats: ClassVar[tuple[Seat, ...]] = tuple(
        Seat(
            name=f"seat_{n}",
            title=f"Seat {n}",
            role="agent",
            product="the fact",
            label="Fact",
            shares=(n % 2,),
        )
        for n in range(3)
    )

    plan: tuple[tuple[tuple[int, bool], ...], ...]

    @property
    def max_turns(self) -> int:
        return sum(map(len, self.plan))

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        rounds = history[-1].round + 1 if history else 0
        if rounds == len(self.plan):
            return ()
        return tuple(
            Cue(
                seat=self.seats[seat],
                round=rounds,
                hears=tuple(range(len(history))),
                answers=answers,
            )
            for seat, answers in self.plan[rounds]
        )

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        return Answer(text=history[-1].visible, turn=history[-1].index, rule="last turn")


@dataclass(slots=True, kw_only=True)
class Recorder:
    """A chat that keeps every request, and answers as the chat within it does."""

    inner: Chat
    requests: list[Request] = field(default_factory=list)

    @property
    def model(self) -> str:
        return self.inner.model

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return await self.inner.complete(request)

    async def count(self, texts: Sequence[str]) -> tuple[int, ...] | None:
        return await self.inner.count(texts)

    async def template_tokens(self, request: Request) -> int | None:
        return await self.inner.template_tokens(request)

    @property
    def sent(self) -> list[Messages]:
        return [request.messages for request in self.requests]


def arm(
    strategy: Strategy,
    *,
    topology: Topology | None = None,
    benchmark: Benchmark | None = None,
    channel: Channel | None = None,
    reasoning: str = "native",
    context: int = 4096,
    control: tuple[str, ...] = (),
    max_tokens: int = 512,
    floor_tokens: int = 16,
    seed: int = 42,
    shots: int = 0,
) -> Arm:
    """An arm of four turns of two seats, unless told otherwise."""
    return Arm(
        study="study",
        label="arm",
        choices={name: name for name in ("benchmark", "topology", "strategy", "model")},
        identity={},
        config={},
        benchmark=benchmark or Fictional(),
        topology=topology or SplitEvidence(),
        strategy=strategy,
        channel=channel or Identity(),
        model=Model(
            name="fake", label="fake", context=context, reasoning=reasoning, control=control
        ),
        engine=cast(Engine, Scripted()),
        sampling=Sampling(temperature=0.6, max_tokens=max_tokens, floor_tokens=floor_tokens),
        seed=seed,
        shots=shots,
    )


def chat(given: Arm, answers: Answers) -> Recorder:
    """The shipped fake, open: a function of the request, or raw outputs in the order of calls."""
    if callable(answers):
        engine, script = Scripted(), answers
    else:
        engine, script = Scripted(answers=tuple(answers)), _unscripted
    return Recorder(inner=ScriptedChat(engine=engine, served=given.model, script=script))


async def play(
    given: Arm,
    answers: Answers,
    *,
    question: Problem | None = None,
    sample: int = 0,
    reuse: Reuse | None = None,
) -> tuple[Episode, Recorder]:
    """One episode, and the chat that was talked to."""
    talked = chat(given, answers)
    run = Run(arm=given, chat=talked, reuse=reuse)
    return await run_episode(run, question or problem(), sample), talked


def calls(episode: Episode) -> list[Call]:
    return [call for turn in episode.turns for call in turn.calls]


def completion(
    visible: str, reasoning: str = "", *, finish: str = "stop", truncated: bool = False
) -> Completion:
    """An output without token bytes, of eight tokens."""
    return Completion(
        reasoning=reasoning,
        visible=visible,
        finish=finish,
        usage=Usage(prompt=10, completion=8),
        truncated_in_thinking=truncated,
    )


def draft(*outputs: Completion, cue: Cue = CUE) -> Draft:
    return Draft(cue=cue, outputs=outputs)


def answered(request: Request) -> str:
    """Something else for every seed, so that no two turns are alike."""
    thought = f"<think>\nI am number {request.seed}.\n</think>\n" if request.thinking else ""
    return f"{thought}Ann {request.seed} wrote it.\n{ANSWER}"


def _unscripted(request: Request) -> str:
    raise AssertionError("the list of answers is asked, not this script")
