"""Every token is accounted for: parts sum to the wholes, or say that they are estimated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from parley.ledger import account, again, check
from parley.types import Completion, Part, Segment, Source, Span, Tokens, Usage

WORDS = st.lists(st.sampled_from(["a", " b", "é", "漢", "\n", "<", "think", "/"])).map("".join)
PARTS: tuple[Part, ...] = (
    "system",
    "examples",
    "question",
    "evidence",
    "history",
    "instruction",
    "cue",
)
HEAD, MIDDLE, TAIL = b"<|start|>", b"<|end|>\n", b"<|reply|>"


@st.composite
def cuts(draw: st.DrawFn, data: bytes) -> tuple[bytes, ...]:
    """The bytes cut into tokens anywhere, also within a character."""
    places = draw(st.sets(st.integers(1, max(1, len(data) - 1)), max_size=12))
    bounds = [0, *sorted(place for place in places if place < len(data)), len(data)]
    return tuple(data[a:b] for a, b in pairwise(bounds) if a < b)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A templated prompt cut into tokens, and which part each of its bytes belongs to."""

    segments: list[Segment]
    texts: list[str]
    pieces: tuple[bytes, ...]
    labels: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A raw output cut into tokens, and what became of each of its bytes."""

    reasoning: str
    visible: str
    kept: tuple[Span, ...]
    pieces: tuple[bytes, ...]
    labels: list[str]


@st.composite
def prompts(draw: st.DrawFn) -> Prompt:
    texts = [f"{n}: {text.strip()}\n" for n, text in enumerate(draw(st.lists(WORDS, min_size=1)))]
    kinds = [draw(st.sampled_from(PARTS)) for _ in texts]
    segments = [
        Segment(part=kind, text=text, source_turn=draw(st.none() | st.just(n)))
        for n, (kind, text) in enumerate(zip(kinds, texts, strict=True))
    ]
    labels = ["template"] * len(HEAD) + [kinds[0]] * len(texts[0].encode())
    labels += ["template"] * len(MIDDLE)
    for kind, text in zip(kinds[1:], texts[1:], strict=True):
        labels += [kind] * len(text.encode())
    whole = HEAD + texts[0].encode() + MIDDLE + "".join(texts[1:]).encode() + TAIL
    labels += ["template"] * len(TAIL)
    return Prompt(segments=segments, texts=texts, pieces=draw(cuts(whole)), labels=labels)


@st.composite
def outputs(draw: st.DrawFn) -> Output:
    reasoning, visible = draw(WORDS).strip(), draw(WORDS).strip()
    blank = draw(st.booleans())
    opens, shuts = ("<think>\n", "\n</think>\n\n") if reasoning or blank else ("", "")
    kept = draw(spans(reasoning, visible))
    raw, labels = b"", []
    for text, kind in (
        (opens, "control"),
        (reasoning, "reasoning"),
        (shuts, "control"),
        (visible, "visible"),
        ("<|im_end|>", "control"),
    ):
        for place, character in enumerate(text):
            sent = any(s.source == kind and s.start <= place < s.end for s in kept)
            labels += [f"published {kind}" if sent else kind] * len(character.encode())
        raw += text.encode()
    return Output(
        reasoning=reasoning, visible=visible, kept=kept, pieces=draw(cuts(raw)), labels=labels
    )


@st.composite
def spans(draw: st.DrawFn, reasoning: str, visible: str) -> tuple[Span, ...]:
    """A few stretches, which may share text."""
    found = []
    for _ in range(draw(st.integers(0, 3))):
        source: Source = draw(st.sampled_from(("reasoning", "visible")))
        size = len(reasoning if source == "reasoning" else visible)
        start, end = sorted((draw(st.integers(0, size)), draw(st.integers(0, size))))
        found.append(Span(output=0, source=source, start=start, end=end))
    return tuple(found)


def by_first_byte(pieces: Sequence[bytes], labels: Sequence[str]) -> Counter[str]:
    starts = [0, *accumulate(map(len, pieces))][: len(pieces)]
    return Counter(labels[start] for start in starts)


def made(reasoning: str, visible: str, usage: Usage, **changes: Any) -> Completion:
    return Completion(reasoning=reasoning, visible=visible, finish="stop", usage=usage, **changes)


def fates(tokens: Tokens) -> tuple[int, ...]:
    return (
        tokens.reasoning,
        tokens.published,
        tokens.published_reasoning,
        tokens.discarded,
        tokens.answer,
        tokens.control,
    )


@given(prompts(), outputs(), st.booleans())
def test_with_token_bytes_the_parts_are_exact(
    prompt: Prompt, output: Output, answers: bool
) -> None:
    usage = Usage(prompt=len(prompt.pieces), completion=len(output.pieces))
    completion = made(
        output.reasoning,
        output.visible,
        usage,
        pieces=output.pieces,
        prompt_pieces=prompt.pieces,
    )
    tokens = account(prompt.segments, prompt.texts, completion, kept=output.kept, answers=answers)
    assert not tokens.estimated
    assert check(tokens, usage)
    parts = by_first_byte(prompt.pieces, prompt.labels)
    assert {name: size for name, size in tokens.prompt.items() if size} == dict(parts)
    fate = by_first_byte(output.pieces, output.labels)
    hidden = "published reasoning"
    visible = (0, fate["visible"]) if answers else (fate["visible"], 0)
    assert fates(tokens) == (
        fate["reasoning"],
        fate[hidden] + fate["published visible"],
        fate[hidden],
        *visible,
        fate["control"],
    )
    assert {turn for turn, _ in tokens.reread} == {
        s.source_turn for s in prompt.segments if s.source_turn is not None
    }


@given(prompts(), outputs(), st.integers(-3, 3))
def test_with_counts_the_prompt_is_exact_or_flagged(
    prompt: Prompt, output: Output, error: int
) -> None:
    counts = [len(text) for text in prompt.texts]
    usage = Usage(prompt=sum(counts) + 7 + error, completion=len(output.pieces))
    completion = made(output.reasoning, output.visible, usage, pieces=output.pieces)
    tokens = account(
        prompt.segments, prompt.texts, completion, kept=output.kept, counts=counts, template=7
    )
    assert tokens.estimated is (error != 0)
    assert check(tokens, usage) is (error == 0)
    assert tokens.prompt["template"] == 7
    assert sum(tokens.prompt.values()) == sum(counts) + 7


@given(
    prompts(),
    outputs(),
    st.integers(1, 500),
    st.integers(0, 300),
    st.none() | st.integers(0, 300),
    st.booleans(),
)
def test_with_nothing_sums_are_equal_and_flagged(
    prompt: Prompt, output: Output, size: int, written: int, known: int | None, answers: bool
) -> None:
    usage = Usage(prompt=size, completion=written, reasoning=known)
    completion = made(output.reasoning, output.visible, usage)
    tokens = account(prompt.segments, prompt.texts, completion, kept=output.kept, answers=answers)
    assert tokens.estimated
    assert check(tokens, usage)
    assert min(fates(tokens)) >= 0
    if known and known <= written and output.reasoning and output.visible:
        assert tokens.reasoning + tokens.published_reasoning == known


def account_output(
    raw: Sequence[bytes], reasoning: str, visible: str, *kept: tuple[Source, int, int], **more: Any
) -> Tokens:
    usage = Usage(prompt=2, completion=len(raw))
    completion = made(
        reasoning, visible, usage, pieces=tuple(raw), prompt_pieces=(b"Hi", b"\n"), **more
    )
    published = [Span(output=0, source=s, start=a, end=b) for s, a, b in kept]
    return account([Segment(part="cue", text="Hi\n")], ["Hi\n"], completion, kept=published)


THINKING = (b"<think>", b"\n", b"So", b" seven", b".", b"\n", b"</think>", b"\n\n")
RAW = (*THINKING, b"It", b" is", b" 7", b".", b"<|im_end|>")


def test_what_is_sent_is_told_from_what_is_kept_back() -> None:
    nothing = account_output(RAW, "So seven.", "It is 7.")
    assert fates(nothing) == (3, 0, 0, 4, 0, 6)
    visible = account_output(RAW, "So seven.", "It is 7.", ("visible", 0, 8))
    assert fates(visible) == (3, 4, 0, 0, 0, 6)
    part = account_output(RAW, "So seven.", "It is 7.", ("visible", 6, 7))
    assert fates(part) == (3, 0, 0, 4, 0, 6), "the token of ' 7' begins before the span"
    whole = account_output(RAW, "So seven.", "It is 7.", ("reasoning", 0, 9), ("visible", 0, 8))
    assert fates(whole) == (0, 7, 3, 0, 0, 6)
    assert not any(t.estimated for t in (nothing, visible, part, whole))


def test_a_token_belongs_to_the_stretch_of_its_first_byte() -> None:
    """A segment's last token may hold the first byte of the next one."""
    segments = [Segment(part="system", text="a\n"), Segment(part="cue", text="b c\n")]
    pieces = (b"<|s|>", b"a", b"\nb", b" c", b"\n<|e|>", b"<|r|>")
    usage = Usage(prompt=6, completion=1)
    completion = made("", "ok", usage, pieces=(b"ok",), prompt_pieces=pieces)
    tokens = account(segments, ["a\n", "b c\n"], completion)
    assert tokens.prompt == {"template": 2, "system": 2, "cue": 2}
    assert not tokens.estimated


def test_bytes_that_are_not_the_text_flag_an_estimate() -> None:
    tokens = account_output((b"other", b" words"), "So", "It is 7.")
    assert tokens.estimated
    assert sum(fates(tokens)) == 2
    whole = Usage(prompt=9, completion=2)
    wrong = made("", "ab", whole, pieces=(b"a", b"b"), prompt_pieces=(b"Hi", b"\n"))
    assert account([Segment(part="cue", text="Hi\n")], ["Hi\n"], wrong).estimated


def test_usage_that_was_not_reported_is_an_estimate() -> None:
    usage = Usage(prompt=2, completion=1, estimated=True)
    completion = made("", "ok", usage, pieces=(b"ok",), prompt_pieces=(b"Hi", b"\n"))
    assert account([Segment(part="cue", text="Hi\n")], ["Hi\n"], completion).estimated


def test_an_empty_output_is_control() -> None:
    tokens = account_output((b"<|im_end|>",), "", "")
    assert fates(tokens) == (0, 0, 0, 0, 0, 1)
    assert not tokens.estimated
    usage = Usage(prompt=1, completion=3)
    blind = account([Segment(part="cue", text="Hi\n")], ["Hi\n"], made("", "", usage))
    assert fates(blind) == (0, 0, 0, 0, 0, 3)


def test_a_false_zero_of_reasoning_tokens_is_not_believed_b09() -> None:
    usage = Usage(prompt=32, completion=474, reasoning=0)
    completion = made("r" * 2000, "4", usage)
    tokens = account([Segment(part="cue", text="Hi\n")], ["Hi\n"], completion)
    assert tokens.estimated
    assert tokens.reasoning > 400
    assert check(tokens, usage)


@given(prompts(), outputs(), st.data(), st.booleans())
def test_a_reused_call_is_split_by_what_this_arm_sends(
    prompt: Prompt, output: Output, data: st.DataObject, answers: bool
) -> None:
    usage = Usage(prompt=len(prompt.pieces), completion=len(output.pieces))
    recalled = made(output.reasoning, output.visible, usage)
    first = replace(recalled, pieces=output.pieces, prompt_pieces=prompt.pieces)
    stored = asdict(
        account(prompt.segments, prompt.texts, first, kept=output.kept, answers=answers)
    )
    others = data.draw(spans(output.reasoning, output.visible))
    tokens = again(stored, recalled, others, False)
    assert check(tokens, usage)
    assert min(fates(tokens)) >= 0
    assert (tokens.prompt, tokens.control) == (stored["prompt"], stored["control"])
    whole = [Span(output=0, source="visible", start=0, end=len(output.visible))]
    if output.reasoning:
        whole.append(Span(output=0, source="reasoning", start=0, end=len(output.reasoning)))
    for chosen in ((), (whole[0],), tuple(whole)):
        expected = account(prompt.segments, prompt.texts, first, kept=chosen)
        assert again(stored, recalled, chosen, False) == expected


def test_several_blocks_of_thinking_sum_up() -> None:
    raw = (b"<think>", b"a", b"</think>", b"One.", b"<think>", b"b", b"</think>", b" Two.")
    tokens = account_output(raw, "a\n\nb", "One. Two.", ("visible", 0, 9))
    assert sum(fates(tokens)) == len(raw)
    assert tokens.estimated
