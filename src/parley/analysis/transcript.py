"""One conversation as a terminal can show it.

Text of models and data sets is inert here: it is never read as markup, and control characters
(colours, cursor moves, reversed writing) appear as visible signs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parley.grading.options import letters
from parley.metrics import FATES, PARTS, episode_row, turn_rows

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.text import Text

FOLD = 6
"""Lines of reasoning shown unless all are asked for."""
FOLD_MESSAGE = 16
PUBLISHED = "green"
_VISIBLE = {code: 0x2400 + code for code in range(32) if code not in (9, 10)}
_HIDDEN = (0x7F, *range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)
_INERT = {**_VISIBLE, **dict.fromkeys(_HIDDEN, 0xFFFD)}
Record = Mapping[str, Any]


def render(episode: Record, *, width: int, full: bool = False) -> Group:
    """The question, each turn with what was written and what of it was published, the answer.

    `full` unfolds reasoning and messages, and adds each seat's evidence. Published stretches of
    a raw output are green.
    """
    from rich.console import Group

    head, turns, end = pieces(episode, width=width, full=full)
    return Group(head, *turns.values(), end)


def pieces(
    episode: Record, *, width: int, full: bool = False
) -> tuple[Group, dict[int, Group], Group]:
    """The same in pieces: the question, each turn by its number, the answer."""
    from rich.console import Group

    turns = {
        turn["index"]: Group(*_turn(episode, turn, numbers, width, full))
        for turn, numbers in zip(episode["turns"], turn_rows(episode), strict=True)
    }
    return Group(*_head(episode, width, full)), turns, Group(*_end(episode, width))


def inert(text: str) -> str:
    """The text with control characters made visible, one sign for each."""
    return text.translate(_INERT)


def _head(episode: Record, width: int, full: bool) -> Iterator[RenderableType]:
    from rich.rule import Rule
    from rich.text import Text

    number = f" · sample {episode['sample']}" if episode["sample"] else ""
    named = (f"{episode['problem']}{number}", episode["kind"], episode["arm"])
    name = inert(" · ".join(filter(None, named)))
    yield Rule(Text(name, style="bold"), align="left")
    yield _field("question", episode["question"], width)
    if episode["options"]:
        marks = letters(len(episode["options"]))
        lines = (f"{mark}. {text}" for mark, text in zip(marks, episode["options"], strict=True))
        yield _field("options", "\n".join(lines), width)
    yield _field("gold", " | ".join(episode["answers"]), width)
    if full:
        for title, text in _evidence(episode):
            yield _field(f"evidence of {title}", text, width)


def _evidence(episode: Record) -> Iterator[tuple[str, str]]:
    """What each seat's first prompt holds of the evidence."""
    first = {turn["seat"]: turn for turn in reversed(episode["turns"])}
    for turn in sorted(first.values(), key=lambda turn: turn["index"]):
        held = (episode["segments"][index] for index in turn["calls"][0]["prompt"])
        yield turn["title"], "".join(text for part, _, text, _ in held if part == "evidence")


def _turn(
    episode: Record, turn: Record, numbers: Mapping[str, Any], width: int, full: bool
) -> Iterator[RenderableType]:
    from rich.rule import Rule
    from rich.text import Text

    ends = " · answers" if turn["answers"] else ""
    yield Text("")
    name = f"turn {turn['index']} · {turn['title']} · round {turn['round']}{ends}"
    yield Rule(Text(inert(name), style="bold cyan"), align="left")
    yield _field("heard", _heard(episode, turn), width, style="dim")
    message = turn["message"]
    kept = message["kept"] if message else ()
    for output, call in enumerate(turn["calls"]):
        if call["kind"] != "speak":
            yield _field("ask", f"{call['kind']} (call {output})", width, style="dim")
        for source, style in (("reasoning", "dim"), ("visible", "")):
            if call[source].strip():
                text = _marked(call[source], style, output, source, kept)
                fold = 0 if full or source == "visible" else FOLD
                yield _block(source, text, width, fold)
        if call["finish"] != "stop" or call["flags"] or call["reused"]:
            made = ["taken from earlier records"] if call["reused"] else []
            said = [*made, f"finish: {call['finish']}", *call["flags"]]
            yield _field("call", ", ".join(said), width, style="yellow")
    if message:
        yield _published(message, turn["calls"][0], width, full)
    yield _field("tokens", _tokens(numbers), width, style="dim")


def _heard(episode: Record, turn: Record) -> str:
    """The turns heard, and where a channel changed a message, the text as it was heard."""
    changed = dict(turn["heard"])
    titles = {spoken["index"]: spoken["title"] for spoken in episode["turns"]}
    said = []
    for source in turn["hears"]:
        name = f"turn {source} ({titles[source]})"
        if source in changed:
            text = changed[source]
            name += ", dropped by the channel" if text is None else f", as: {text}"
        said.append(name)
    return "; ".join(said) or "nothing"


def _marked(text: str, style: str, output: int, source: str, kept: Sequence[Record]) -> Text:
    from rich.text import Text

    marked = Text(inert(text), style=style)
    for span in kept:
        if span["output"] == output and span["source"] == source:
            marked.stylize(f"not dim {PUBLISHED}", span["start"], span["end"])
    return marked


def _published(message: Record, call: Record, width: int, full: bool) -> RenderableType:
    from rich.text import Text

    label = f"published ({message['status']})"
    text, visible = message["text"].split(), call["visible"].split()
    for written, name in (
        (visible, "the visible text, as written"),
        (call["reasoning"].split() + visible, "the reasoning and the visible text, as written"),
    ):
        if text == written:
            return _block(label, Text(name, style=PUBLISHED), width)
    sent = Text(inert(message["text"]) or "(empty)", style=PUBLISHED)
    return _block(label, sent, width, 0 if full else FOLD_MESSAGE)


def _tokens(numbers: Mapping[str, Any]) -> str:
    prompt = ", ".join(
        f"{part} {numbers[f'tokens_{part}']:,}" for part in PARTS if numbers[f"tokens_{part}"]
    )
    completion = ", ".join(
        f"{'private reasoning' if fate == 'private' else fate} {numbers[f'tokens_{fate}']:,}"
        for fate in FATES
        if numbers[f"tokens_{fate}"]
    )
    mark = " (estimated)" if numbers["estimated"] else ""
    return (
        f"{numbers['tokens_total']:,}{mark} = prompt {numbers['tokens_prompt']:,} ({prompt})"
        f" + completion {numbers['tokens_completion']:,} ({completion or 'nothing'})"
    )


def _end(episode: Record, width: int) -> Iterator[RenderableType]:
    from rich.rule import Rule

    row = episode_row(episode)
    yield Rule(style="dim")
    if failure := episode["failure"]:
        yield _field("failed", f"{failure['error']}: {failure['message']}", width, style="red")
    answer, score = episode["answer"], episode["score"]
    if answer:
        rule = f" · {answer['rule']}" if answer["rule"] else ""
        yield _field("answered by", f"turn {answer['turn']}{rule}", width)
    if score:
        yield _field("answer", score["extracted"] or "(none found)", width, style="bold")
        numbers = [
            f"{name} {'none' if value is None else format(value, '.3f')}"
            for name, value in score["metrics"].items()
        ]
        if thought := score.get("answer_in_thinking"):
            numbers.append(f"answer in thinking, not counted: {thought}")
        yield _field("score", " · ".join([*numbers, score["status"]]), width, style="bold")
    said = f"{row['tokens_total']:,} in {row['calls']} calls, {row['seconds']:.1f} s"
    if row["tokens_granted"] is not None:
        said += f"; completion {row['tokens_completion']:,} of {row['tokens_granted']:,} granted"
    yield _field("all tokens", said, width)


def _field(label: str, text: str, width: int, style: str = "") -> RenderableType:
    from rich.text import Text

    return _block(label, Text(inert(text.strip()), style=style), width)


def _block(label: str, text: Text, width: int, fold: int = 0) -> RenderableType:
    """A label, then the text indented beside or below it, folded to `fold` lines (0: never)."""
    import io

    from rich.console import Console
    from rich.text import Text

    label = inert(label)
    console = Console(width=width, file=io.StringIO())
    lines = list(text.wrap(console, max(20, width - 4)))
    hidden = len(lines) - fold if fold else 0
    if hidden > 1:
        note = Text(f"… {hidden} lines more (--full shows them)", style="dim italic")
        lines = [*lines[:fold], note]
    if len(lines) == 1 and len(label) + 2 + lines[0].cell_len <= width:
        return Text.assemble((f"{label}: ", "bold"), lines[0])
    indented = [Text("    ").append_text(line) for line in lines]
    return Text("\n").join([Text(f"{label}:", style="bold"), *indented])
