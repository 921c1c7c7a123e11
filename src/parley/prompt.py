"""Prompts as segments: built once, rendered to chat messages, rebuilt from a record.

The layout serves prefix caching: what never changes for a seat comes first (system, examples,
question, own evidence), then the history, which only grows at its end, then instruction and cue.
The history is text inside the one user message, never assistant turns: chat templates such as
Qwen3's drop the reasoning of earlier assistant turns, which would turn `full` into `conclusion`
without a sign.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Template

from parley.remembering import remembered
from parley.templates import template
from parley.types import Call, Cue, Episode, Part, Problem, Role, Seat, Segment, Turn

_FOREIGN: frozenset[Part] = frozenset({"question", "evidence", "history"})
_CONTROL_LIKE = re.compile(r"<(?=[|｜][^<>|｜\s]{1,64}[|｜]>)")


@remembered(2048)
def neutralise(text: str, control: Sequence[str] = ()) -> str:
    """Splits whatever a tokenizer could read as a control token, by one space after its first
    character, so that the characters reach the model as ordinary text."""
    text = _CONTROL_LIKE.sub("< ", text)
    for token in control:
        if token in text:
            # Looking ahead finds occurrences that overlap, too.
            first, rest = re.escape(token[0]), re.escape(token[1:])
            text = re.sub(f"{first}(?={rest})", lambda found: f"{found[0]} ", text)
    return text


@remembered(1024)
def fill(name: str, **values: str) -> str:
    """A packaged template with its `$placeholders` filled; a missing one is a KeyError."""
    return Template(template(name)).substitute(values)


def segment(
    part: Part, text: str, source_turn: int | None = None, *, role: Role = "user"
) -> Segment:
    """A segment of a text that is not blank, without white space around it, and one newline."""
    return Segment(part=part, text=text.strip() + "\n", source_turn=source_turn, role=role)


@remembered(1024)
def system(seat: Seat, others: Sequence[str]) -> Segment:
    """Who the seat is and whom it talks to."""
    words = fill(f"role_{seat.role}", title=seat.title, others=_listed(others))
    return segment("system", words, role="system")


@remembered(1024)
def view(problem: Problem, seat: Seat) -> tuple[Segment, ...]:
    """The question, and the paragraphs of the seat's shares."""
    options = "".join(f"\n{chr(65 + i)}. {option}" for i, option in enumerate(problem.options))
    question = segment("question", f"Question: {problem.question.strip()}{options}")
    paragraphs = [p for share in seat.shares for p in problem.shares[share : share + 1]]
    lines = [f"[{p.title}] {p.text}" for share in paragraphs for p in share]
    if not lines:
        return (question,)
    return question, segment("evidence", "Your paragraphs:\n" + "\n".join(lines))


def heard(title: str, text: str, source_turn: int) -> Segment:
    """A message as a later seat reads it."""
    return segment("history", f"Message from {title}:\n{text.strip() or '(empty)'}", source_turn)


@remembered(1024)
def cue_segment(seat: Seat, *, answers: bool) -> Segment:
    """Whose turn it is, and whether to write or to answer."""
    return segment("cue", fill("cue_answer" if answers else "cue_speak", title=seat.title))


def after_examples(problem: Problem, cue: Cue, told: Sequence[Segment]) -> tuple[Segment, ...]:
    """What is read on a turn that has worked examples, or is one.

    The cue opens it and the instruction stands before the examples, so that it ends in what the
    model has to work on. To answer, that is the question: a small model that reads its messages
    after the question repeats one of them.
    """
    question, *evidence = view(problem, cue.seat)
    first, last = ((), (question,)) if cue.answers else ((question,), ())
    return (cue_segment(cue.seat, answers=cue.answers), *first, *evidence, *told, *last)


def own_draft(texts: Sequence[str], turn: int) -> Segment:
    """A seat's visible outputs so far in this turn, shown back to it by an ask."""
    return segment("history", "Your draft:\n" + ("\n".join(texts).strip() or "(empty)"), turn)


def render(segments: Sequence[Segment], control: Sequence[str]) -> tuple[str, ...]:
    """Each segment's text as it is sent: text of data sets and models is neutralised.

    An assistant's example loses its last newline: the template's end of turn follows it, and a
    model shown newlines there goes on writing instead of ending its turn.
    """
    texts = []
    for s in segments:
        text = neutralise(s.text, control) if s.part in _FOREIGN else s.text
        texts.append(text[:-1] if s.role == "assistant" else text)
    return tuple(texts)


def messages(segments: Sequence[Segment], texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(role, text) pairs: neighbouring segments of one role are one message."""
    spoken: list[tuple[str, list[str]]] = []
    for piece, text in zip(segments, texts, strict=True):
        if not spoken or spoken[-1][0] != piece.role:
            spoken.append((piece.role, []))
        spoken[-1][1].append(text)
    return tuple((role, "".join(parts)) for role, parts in spoken)


def rebuild(
    episode: Episode, turn: Turn, call: Call, control: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """The exact messages of a recorded call. `control` is the model's, from the manifest."""
    segments = []
    for index in call.prompt:
        part, role, text, source = episode.segments[index]
        if source is None:
            segments.append(Segment(part=part, role=role, text=text))
        elif source == turn.index:
            drafts = [c.visible for c in turn.calls if c.number < call.number]
            segments.append(own_draft(drafts, source))
        else:
            changed = dict(turn.heard)
            speaker = episode.turns[source]
            written = speaker.message.text if speaker.message else speaker.visible
            segments.append(heard(speaker.title, changed.get(source, written) or "", source))
    return messages(segments, render(segments, control))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
