"""The frozen records that flow down the line, from a benchmark's row to a stored episode.

Nothing here knows an engine, a file or a setting. Records validate themselves at birth;
sequences are tuples. An `Episode` is one line of `episodes.jsonl`: its JSON Schema is made
from these types (`parley schema`), and `VERSION` changes when their shape does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

VERSION = 1

Part = Literal[
    "template", "system", "examples", "question", "evidence", "history", "instruction", "cue"
]
Status = Literal["ok", "repaired", "missing_fields", "unparsed", "truncated", "rejected"]
Source = Literal["reasoning", "visible"]
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """One piece of evidence, as a seat reads it."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One question, its gold answer, and its evidence split into shares.

    `answers` holds the gold answer first, then its aliases. `kind` is the benchmark's own word
    for the sort of question (bridge, comparison, integer ...). `notes` names every way in which
    the row departs from the regular shape; they are counted in the manifest. `facts` are atomic
    statements that later analyses may look for in messages.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    kind: str = ""
    shares: tuple[tuple[Paragraph, ...], ...] = ()
    options: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.id or not self.question.strip() or not self.answers:
            raise ValueError("a problem needs an id, a question and at least one answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A place in the system.

    `title` is how the others read its name; `role` names the template that tells it who it is;
    `shares` are the indices of the evidence it sees. `product` describes its work product as an
    instruction can use it, `label` is the one word that heads it in a message ("Fact", "Plan").
    """

    name: str
    title: str
    role: str
    product: str
    label: str
    shares: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """A seat's turn to speak: the earlier turns it hears, and whether it answers."""

    seat: Seat
    round: int
    hears: tuple[int, ...] = ()
    answers: bool = False
    max_tokens: int | None = None
    """Most new tokens of each call of the turn, in place of the sampling's max_tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of a prompt that is accounted for as one. Its text ends in exactly one newline.

    The newline is what makes token counts add up: measured on the SmolLM2 and Qwen tokenizers,
    the tokens of segments joined this way are those of the segments counted alone.
    `source_turn` is the turn whose message a history segment carries. `role` is the chat role it
    is sent under: only worked examples ever speak as the assistant.
    """

    part: Part
    text: str
    source_turn: int | None = None
    role: Role = "user"

    def __post_init__(self) -> None:
        if not self.text.endswith("\n") or self.text.endswith("\n\n") or self.text == "\n":
            raise ValueError(f"a segment ends in exactly one newline: {self.text[-40:]!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How tokens are drawn. None leaves a value to the server's own default."""

    temperature: float
    """0 is greedy; the paper uses 0.6, as Qwen3's card advises for thinking."""
    top_p: float = 1.0
    """Nucleus mass in (0, 1]; the paper uses 0.95."""
    top_k: int | None = None
    """Candidates kept; 0 or -1 is off on most servers."""
    min_p: float | None = None
    """Smallest probability kept, relative to the best candidate."""
    max_tokens: int = 512
    """Most new tokens of one call, reasoning included."""
    floor_tokens: int = 64
    """A context that would overflow shrinks max_tokens down to this, then fails as an outcome."""

    def __post_init__(self) -> None:
        if self.temperature < 0 or not 0 < self.top_p <= 1:
            raise ValueError("temperature must be >= 0 and top_p in (0, 1]")
        if self.max_tokens < 1 or self.floor_tokens < 1:
            raise ValueError("max_tokens and floor_tokens must be >= 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call to an engine. `messages` are (role, text) pairs, rendered from segments."""

    messages: tuple[tuple[str, str], ...]
    sampling: Sampling
    seed: int
    thinking: bool
    schema: Mapping[str, Any] | None = None
    """A JSON Schema that the visible output must follow, enforced by the engine."""
    affinity: int = 0
    """Calls with the same number go to the same server, so that its prefix cache serves them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Wholes of one call, in tokens, as the server counted them.

    `reasoning` is the server's own split, where it reports one. `estimated` marks wholes that
    the server did not report and that were counted here instead.
    """

    prompt: int
    completion: int
    cached: int = 0
    reasoning: int | None = None
    estimated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What came back from one call.

    `reasoning` and `visible` are the raw output, already told apart. `finish` is the server's
    word ("stop", "length", or whatever it says). `pieces` and `prompt_pieces` are the exact
    bytes of each generated and each prompt token, where the engine returns token ids.
    `flags` notes oddities, such as "thinking_not_disabled". Tokens of failed attempts are `waste`.
    """

    reasoning: str
    visible: str
    finish: str
    usage: Usage
    pieces: tuple[bytes, ...] | None = None
    prompt_pieces: tuple[bytes, ...] | None = None
    flags: tuple[str, ...] = ()
    latency: float = 0.0
    """Seconds of the attempt that succeeded."""
    attempts: int = 1
    waste: int = 0
    truncated_in_thinking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Characters [start, end) of one output's reasoning or visible text that were published."""

    output: int
    source: Source
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The projection of a raw output: all that other seats may hear of it.

    `data` holds its fields where it has any. `kept` are the spans of the raw output that were
    published, so that every completion token can be called published or discarded.
    """

    text: str
    status: Status = "ok"
    data: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A strategy's further call to the same seat before its message is final."""

    kind: str
    """A short name ("summary", "repair"); part of the call's seed."""
    text: str
    """The instruction, appended to the seat's own prompt and its output so far."""
    thinking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A seat's completions of this turn so far: the speech first, then one per ask."""

    cue: Cue
    outputs: tuple[Completion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """One turn of a worked example, in no strategy's format yet."""

    reasoning: str
    fact: str
    """The sentence of the seat's evidence that matters."""
    evidence: str
    """The title of the paragraph it stands in."""
    need: str
    """What the seat wants the next one to do, as an imperative sentence."""
    result: str
    """What the seat contributes, in a few words."""
    answer: str = ""
    """The answer as far as it is known at this turn; empty when it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Where the tokens of one call went. Parts sum to the wholes unless `estimated`.

    Prompt tokens by part; history also by the turn whose message was re-read (`reread`).
    Completion tokens by fate: private `reasoning`, `published` in a message, visible but
    `discarded`, the visible `answer` of an answering turn, and `control` (think tags, end of
    turn, white space that was stripped). `published_reasoning` is the share of `published` that
    was generated as reasoning: all reasoning spent is `reasoning + published_reasoning`.
    """

    prompt: Mapping[Part, int]
    reread: tuple[tuple[int, int], ...] = ()
    """(source turn, tokens) per message heard, as this call's prompt carried it."""
    reasoning: int = 0
    published: int = 0
    published_reasoning: int = 0
    discarded: int = 0
    answer: int = 0
    control: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call as it is stored. `prompt` indexes the episode's segments, in order.

    `request_hash` covers the whole request and the model's revision: equal hashes are the
    same call. `kind` is "speak" or the kind of an ask.
    """

    kind: str
    number: int
    prompt: tuple[int, ...]
    request_hash: str
    seed: int
    thinking: bool
    max_tokens: int
    reasoning: str
    visible: str
    finish: str
    usage: Usage
    tokens: Tokens
    flags: tuple[str, ...] = ()
    latency: float = 0.0
    attempts: int = 1
    waste: int = 0
    truncated_in_thinking: bool = False
    reused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One seat's turn: its calls, the message written, and what it heard of earlier ones.

    `heard` lists (turn, text) only where a channel changed or dropped (None) a message;
    otherwise a message is heard as it was written.
    """

    index: int
    seat: str
    title: str
    round: int
    hears: tuple[int, ...]
    answers: bool
    calls: tuple[Call, ...]
    message: Message | None = None
    heard: tuple[tuple[int, str | None], ...] = ()
    measures: Mapping[str, float] = field(default_factory=dict)
    extracted: str | None = None
    """The answer that the benchmark reads in an answering turn, and so its vote."""

    @property
    def visible(self) -> str:
        """The visible text of the speech itself, asks left out."""
        return self.calls[0].visible

    @property
    def published_tokens(self) -> int:
        """Tokens of its outputs that are in its message."""
        return sum(call.tokens.published for call in self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the system answers: a text in which the benchmark reads the answer, and whence."""

    text: str
    turn: int
    truncated: bool = False
    rule: str = ""
    """How it was decided, in the topology's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A graded answer: metrics in [0, 1], what was extracted, and why it is what it is."""

    metrics: Mapping[str, float]
    extracted: str | None
    status: str = "ok"
    """"ok", "no_answer", "truncated", or another word of the benchmark's grader."""
    answer_in_thinking: str | None = None
    """Where nothing was extracted: the answer that stood in the reasoning alone. Not credited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an episode has no score of its own: it stays in the denominator with zeros."""

    error: str
    message: str
    repeat: bool
    """Whether resuming tries again: true for transport failures, false for outcomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One problem solved once. Append-only: the last line of a (problem, sample) wins.

    `segments` holds every stretch of prompt once; history segments carry an empty text, since
    it is rebuilt from the turn they name (`parley.prompt.rebuild`).
    """

    version: int
    arm: str
    problem: str
    sample: int
    kind: str
    question: str
    answers: tuple[str, ...]
    options: tuple[str, ...] = ()
    segments: tuple[tuple[Part, Role, str, int | None], ...]
    turns: tuple[Turn, ...]
    answer: Answer | None
    score: Score | None
    failure: Failure | None = None
    granted: int | None = None
    """Completion tokens that it might spend, where its arm has a budget."""
    started: float = 0.0
    """Unix time, seconds."""
    seconds: float = 0.0
