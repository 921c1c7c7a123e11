"""Every prompt and message of every strategy, word by word, in tests/golden.

A changed word of a prompt changes results: the diff of these files shows it. If the change is
meant, write them anew with `pytest tests/unit/test_golden.py --update-golden` and read the diff.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from core_cases import THOUGHT, Messages, arm, play, problem
from parley.prompt import rebuild
from parley.protocols import Strategy
from parley.strategies.artifact import Artifact
from parley.strategies.concise import Concise
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.strategies.pact import Pact
from parley.strategies.summary import Summary
from parley.topologies.pipeline import Pipeline
from parley.topologies.split_evidence import SplitEvidence
from parley.types import Episode

Golden = Callable[[str, str], None]

FREE = (
    "The Quiet Lantern was painted by Clara Barlow. Where was she born?",
    "Clara Barlow was born in Maple Ridge. Nothing is missing.",
    "I agree: Maple Ridge.",
)
LINES = {
    "Conclusion": ("Clara Barlow is the painter.", "The town is Maple Ridge.", "Maple Ridge."),
    "Summary": ("Clara Barlow painted it.", "She was born in Maple Ridge.", "It is Maple Ridge."),
    "Fact": (
        "The Quiet Lantern was painted by Clara Barlow.",
        "Clara Barlow was born in Maple Ridge.",
        "The Quiet Lantern was painted by Clara Barlow.",
    ),
    "Evidence": ("The Quiet Lantern", "Clara Barlow", "The Quiet Lantern"),
    "Candidate": ("unknown", "Maple Ridge", "Maple Ridge"),
    "Action": ("Tell me where Clara Barlow was born.", "Check Maple Ridge.", "Answer now."),
    "State": (
        "The Quiet Lantern was painted by Clara Barlow.",
        "Clara Barlow was born in Maple Ridge.",
        "The Quiet Lantern was painted by Clara Barlow.",
    ),
    "Result": ("The painter is Clara Barlow.", "The town is Maple Ridge.", "Maple Ridge."),
}
FIELDS = ("Action", "State", "Result")
CLOSING = "She was born there.\nAnswer: Maple Ridge"


def labelled(*labels: str, before: str = "Here is my message.\n") -> tuple[str, ...]:
    """Three visible texts: some words around, then a line for each label."""
    lines = ("\n".join(f"{label}: {LINES[label][turn]}" for label in labels) for turn in range(3))
    return tuple(before + text for text in lines)


def after_free(label: str) -> tuple[str, ...]:
    return tuple(f"{text}\n{label}: {LINES[label][turn]}" for turn, text in enumerate(FREE))


RECORDS = tuple(
    f'{{"Action": "{LINES["Action"][turn]}", "State": "{LINES["State"][turn]}", '
    f'"Result": "{LINES["Result"][turn]}"}}'
    for turn in range(3)
)
ASKED = tuple(text for turn in range(3) for text in (FREE[turn], LINES["Summary"][turn]))

VARIANTS: dict[str, tuple[Strategy, Sequence[str]]] = {
    "full": (Full(), FREE),
    "concise": (Concise(), FREE),
    "conclusion": (Conclusion(), FREE),
    "conclusion_final": (Conclusion(portion="final"), after_free("Conclusion")),
    "summary": (Summary(), after_free("Summary")),
    "summary_call": (Summary(by="call"), ASKED),
    "artifact": (Artifact(), labelled("Fact")),
    "artifact_all": (
        Artifact(evidence=True, candidate=True),
        labelled("Fact", "Evidence", "Candidate"),
    ),
    "pact": (Pact(), labelled("Action", "State", "Result")),
    "pact_subset": (Pact(fields=("State", "Result")), labelled("State", "Result")),
    "pact_structured": (Pact(structured=True), RECORDS),
    "pact_compact": (Pact(serialisation="compact"), labelled("State", "Result")),
}


def raw_outputs(strategy: Strategy, visible: Sequence[str], reasoning: str) -> list[str]:
    """What the model says, call by call: a speech thinks where the arm does, an ask does not.
    A model whose reasoning is `none` never thinks."""
    asks = strategy.max_asks + 1
    opens = [
        THOUGHT if strategy.thinks and call % asks == 0 else "" for call in range(len(visible))
    ]
    opens.append(THOUGHT if strategy.answer_thinks else "")
    texts = [*visible, CLOSING]
    return [
        text if reasoning == "none" else before + text
        for before, text in zip(opens, texts, strict=True)
    ]


def written(episode: Episode) -> str:
    """Every call of an episode: its prompt, its raw output, and the message made of it."""
    lines: list[str] = []
    for turn in episode.turns:
        for call in turn.calls:
            role = "answers" if turn.answers else "speaks"
            thinking = "on" if call.thinking else "off"
            head = f"{turn.title} {role}; call '{call.kind}', thinking {thinking}"
            lines.append(f"=== turn {turn.index}: {head}")
            lines += prompt_lines(rebuild(episode, turn, call, ()))
            lines += [f"--- reasoning of turn {turn.index}", call.reasoning or "(none)"]
            lines += [f"--- visible text of turn {turn.index}", call.visible]
        if turn.message:
            lines += [f"--- MESSAGE of turn {turn.index} ({turn.message.status})"]
            lines += [turn.message.text]
    return "\n".join(lines) + "\n"


def prompt_lines(sent: Messages) -> list[str]:
    return [line for role, text in sent for line in (f"--- {role}", text.removesuffix("\n"))]


@pytest.mark.parametrize("reasoning", ["native", "prompted"])
@pytest.mark.parametrize("variant", VARIANTS)
async def test_prompts_and_messages(variant: str, reasoning: str, golden: Golden) -> None:
    strategy, visible = VARIANTS[variant]
    episode, chat = await play(
        arm(strategy, reasoning=reasoning), raw_outputs(strategy, visible, reasoning)
    )
    assert episode.failure is None
    assert len(chat.requests) == len(visible) + 1
    golden(f"{variant}.{reasoning}.txt", written(episode))
    for turn in episode.turns:
        assert turn.message is None or variant == "full" or "PRIVATE" not in turn.message.text
    for _, text in (pair for sent in chat.sent for pair in sent):
        assert "\n\n" not in text
        assert text.endswith("\n")
        assert variant == "full" or "PRIVATE" not in text


@pytest.mark.parametrize("variant", VARIANTS)
async def test_without_reasoning_prompts_are_those_of_a_native_reasoner(variant: str) -> None:
    """But for `full`, which then equals `conclusion`."""
    strategy, visible = VARIANTS[variant]
    _, bare = await play(arm(strategy, reasoning="none"), raw_outputs(strategy, visible, "none"))
    other = VARIANTS["conclusion"][0] if variant == "full" else strategy
    _, native = await play(arm(other), raw_outputs(other, visible, "native"))
    assert bare.sent == native.sent


@pytest.mark.parametrize("reasoning", ["native", "prompted"])
@pytest.mark.parametrize("variant", VARIANTS)
async def test_worked_examples(variant: str, reasoning: str, golden: Golden) -> None:
    """Two shots put the instruction into the system text and examples behind it, the same in every
    prompt of a kind; messages and what is asked beyond a speech stay as they are. What is read is
    the same as without, in another order."""
    strategy, visible = VARIANTS[variant]
    answers = raw_outputs(strategy, visible, reasoning)
    bare, without = await play(arm(strategy, reasoning=reasoning), answers)
    shown, with_two = await play(arm(strategy, reasoning=reasoning, shots=2), answers)
    golden(f"{variant}.{reasoning}.examples.txt", "\n".join(prompt_lines(with_two.sent[0])) + "\n")
    assert [turn.message for turn in shown.turns] == [turn.message for turn in bare.turns]
    openings: dict[bool, list[tuple[str, str]]] = {}
    answering = [turn.answers for turn in bare.turns for _ in turn.calls]
    plain = [call for turn in bare.turns for call in turn.calls]
    made = zip(plain, answering, without.sent, with_two.sent, strict=True)
    for call, answers_now, short, long in made:
        if call.kind != "speak":
            assert long == short
            continue
        (told,) = [
            text
            for part, _, text, _ in (bare.segments[place] for place in call.prompt)
            if part == "instruction"
        ]
        opening = openings.setdefault(answers_now, list(long[:-1]))
        assert list(long[:-1]) == opening
        assert opening[0] == ("system", short[0][1] + told)
        read = short[-1][1].replace(told, "", 1)
        assert sorted(long[-1][1].split("\n")) == sorted(read.split("\n"))


async def test_a_message_may_end_the_exchange(golden: Golden) -> None:
    answers = [FREE[0], f"{FREE[1]}\nAnswer: Maple Ridge"]
    given = arm(Conclusion(), topology=SplitEvidence(turns=8, early_exit=True))
    episode, _ = await play(given, answers, question=problem())
    assert episode.answer is not None
    assert (episode.answer.text, episode.answer.turn) == ("Answer: Maple Ridge", 1)
    golden("early_exit.txt", written(episode))


PIPELINE: dict[str, Strategy] = {
    "pipeline_full": Full(),
    "pipeline_artifact": Artifact(),
    "pipeline_pact": Pact(),
    "pipeline_pact_compact": Pact(serialisation="compact"),
}
WORK = {
    "pipeline_full": ("Find the painter, then her town.", "No birth year is needed.", "Go on."),
    "pipeline_artifact": ("Plan: Find her.", "Critique: Whom?", "Plan: Find the painter."),
}


@pytest.mark.parametrize("variant", PIPELINE)
async def test_the_pipelines_roles(variant: str, golden: Golden) -> None:
    strategy = PIPELINE[variant]
    work = WORK.get(variant) or labelled(*("State", "Result") if "compact" in variant else FIELDS)
    given = arm(strategy, topology=Pipeline())
    episode, _ = await play(given, raw_outputs(strategy, work, "native"))
    assert episode.failure is None
    golden(f"{variant}.txt", written(episode))


def test_no_golden_file_is_left_over() -> None:
    kinds = [
        f"{reasoning}{what}" for reasoning in ("native", "prompted") for what in ("", ".examples")
    ]
    names = {f"{variant}.{kind}.txt" for variant in VARIANTS for kind in kinds}
    folder = Path(__file__).resolve().parents[1] / "golden"
    assert {path.name for path in folder.iterdir()} == {
        *names,
        "early_exit.txt",
        *(f"{name}.txt" for name in PIPELINE),
    }
