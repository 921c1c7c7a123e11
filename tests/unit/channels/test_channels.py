"""The controls: what each channel lets be heard, in real episodes and on recorded donors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_cases import CUE, SEAT, arm, chat, play, problem
from parley.calls import Run
from parley.channels.constant_message import ConstantMessage
from parley.channels.length_matched import LengthMatched
from parley.channels.no_message import NoMessage
from parley.channels.quarantine import Quarantine
from parley.channels.shuffled_message import ShuffledMessage
from parley.episode import run_episode
from parley.errors import ConfigError, DataError
from parley.protocols import Channel, Passage
from parley.strategies.conclusion import Conclusion
from parley.strategies.pact import Pact
from parley.types import Episode, Message, Turn
from records import call

WORDS = ("one of A", "two of B", "three of A", "Answer: Maple Ridge")
RECORD = "Action: ask\nState: s\nResult: r"


def passage(source: int = 1, speaker: str = "agent_b", **changes: Any) -> Passage:
    """On its way to agent A."""
    return Passage(source=source, speaker=speaker, cue=CUE, **{"problem": problem(), **changes})


def donor(name: str, *texts: str, sample: int = 0, tokens: int = 0) -> Episode:
    """An episode of agents A and B as a channel sees it."""
    turns = tuple(
        Turn(
            index=index,
            seat=f"agent_{'ab'[index % 2]}",
            title="",
            round=index,
            hears=(),
            answers=False,
            calls=(call(published=tokens),),
            message=Message(text=text),
        )
        for index, text in enumerate(texts)
    )
    return Episode(
        version=1,
        arm="donor",
        problem=name,
        sample=sample,
        kind="",
        question="Q?",
        answers=("x",),
        segments=(),
        turns=turns,
        answer=None,
        score=None,
    )


DONORS = tuple(donor(f"q{n}", f"a of q{n}", f"b of q{n}") for n in range(5))


def heard(episode: Episode) -> list[dict[int, str | None]]:
    """Turn by turn, what the channel changed."""
    return [dict(turn.heard) for turn in episode.turns]


@pytest.mark.parametrize(
    ("channel", "text"), [(NoMessage(), None), (ConstantMessage(text="Hm."), "Hm.")]
)
async def test_what_others_hear_is_dropped_or_constant(channel: Channel, text: str | None) -> None:
    episode, talked = await play(arm(Conclusion(), channel=channel), WORDS)
    assert episode.failure is None
    assert [turn.message.text for turn in episode.turns if turn.message] == list(WORDS[:3])
    # A seat's own messages stay as they were written.
    assert heard(episode) == [{}, {0: text}, {1: text}, {0: text, 2: text}]
    last = talked.sent[3][-1][1]
    assert "two of B" in last
    assert "one of A" not in last
    assert last.count("Hm.") == (0 if text is None else 2)


def told(channel: Channel, text: str = "mine", **changes: Any) -> str:
    message = channel.deliver(Message(text=text), passage(**changes))
    assert message is not None
    return message.text


def test_shuffled_messages_are_anothers_of_the_same_seat_and_turn() -> None:
    channel = ShuffledMessage()
    for source, letter in enumerate("ab"):
        listener = replace(CUE, seat=replace(SEAT, name="agent_c"))
        way = replace(passage(source, f"agent_{letter}", recorded=DONORS), cue=listener)
        found = channel.deliver(Message(text="mine"), way)
        assert found is not None
        assert found.text.startswith(f"{letter} of q")
        assert found.kept == ()
    own: dict[str, Any] = {"source": 0, "speaker": "agent_a", "recorded": DONORS}
    assert told(channel, **own) == "mine"


def test_shuffled_messages_depend_on_the_problem_and_the_seed_alone() -> None:
    names = [f"q{number}" for number in range(5)]
    heard_by = {
        name: told(ShuffledMessage(), recorded=DONORS, problem=problem(name)) for name in names
    }
    assert all(name not in text for name, text in heard_by.items()), "never its own"
    assert heard_by == {
        name: told(ShuffledMessage(), "other", recorded=DONORS, problem=problem(name))
        for name in names
    }
    several = {
        told(ShuffledMessage(seed=seed), recorded=DONORS, problem=problem("q0"))
        for seed in range(30)
    }
    assert several == {f"b of q{number}" for number in range(1, 5)}


def test_a_donor_that_ended_before_the_turn_is_passed_over() -> None:
    short = (*(donor(f"s{number}", "a") for number in range(4)), donor("long", "a", "b of long"))
    for name in ("s0", "s1", "p1"):
        assert told(ShuffledMessage(), recorded=short, problem=problem(name)) == "b of long"


@pytest.mark.parametrize("recorded", [(), (donor("p1", "a"),)], ids=["none", "itself"])
@pytest.mark.parametrize("channel", [ShuffledMessage(), LengthMatched()])
def test_without_a_donor_nothing_is_guessed(channel: Channel, recorded: Any) -> None:
    with pytest.raises(DataError, match="donor"):
        told(channel, recorded=recorded)


async def test_an_episode_without_its_donor_is_a_failed_row() -> None:
    episode, _ = await play(arm(Conclusion(), channel=ShuffledMessage()), WORDS)
    assert episode.failure is not None
    assert (episode.failure.error, episode.score) == ("DataError", None)


async def test_an_episode_with_its_donor() -> None:
    donors = tuple(donor(f"q{n}", *(f"{turn} of q{n}" for turn in range(4))) for n in range(3))
    given_arm = arm(Conclusion(), channel=ShuffledMessage())
    run = Run(arm=given_arm, chat=chat(given_arm, WORDS), recorded=donors)
    episode = await run_episode(run, problem(), 0)
    assert episode.failure is None
    changed = heard(episode)
    assert [sorted(one) for one in changed] == [[], [0], [1], [0, 2]]
    told_of = {text for one in changed for text in one.values() if text}
    (name,) = {text.split()[-1] for text in told_of}  # one donor problem for the whole episode
    assert changed[3] == {turn: f"{turn} of {name}" for turn in (0, 2)}


def test_messages_are_cut_to_the_donors_mean_length_of_the_turn() -> None:
    donors = (donor("q1", "x" * 99, "123456"), donor("q2", "x" * 99, "12345678901234"))
    where = {"recorded": donors}
    cut = LengthMatched(unit="characters")
    assert told(cut, "one two three", **where) == "one two"
    assert told(cut, "one\n two\nthree", **where) == "one\n two"
    assert told(cut, "one long-word", **where) == "one long-w", "a word may be all there is"
    assert told(cut, "unbreakably long", **where) == "unbreakabl"
    assert told(cut, "short", **where) == "short"
    own = {"source": 1, "speaker": "agent_a", **where}
    assert told(cut, "one two three", **own) == "one two", "its own, too"
    by_words = LengthMatched(unit="words")
    assert told(by_words, "one two", **where) == "one"


def test_messages_are_cut_to_the_donors_mean_tokens() -> None:
    """A message loses the share of its characters by which its tokens are too many."""
    donors = (donor("q1", "", "a b", tokens=4), donor("q2", "", "c d", tokens=8))
    text = "one two three four five six"
    for tokens, left in ((6, text), (3, text), (12, "one two three"), (60, "one"), (0, text)):
        assert told(LengthMatched(), text, recorded=donors, tokens=tokens) == left


@given(st.text(), st.integers(0, 40), st.sampled_from(["characters", "words"]))
def test_no_message_is_longer_than_the_mean(text: str, size: int, unit: str) -> None:
    donors = (donor("q1", "", " ".join("x" for _ in range(size))),)
    cut = told(LengthMatched(unit=unit), text, recorded=donors)
    if unit == "words":
        assert len(cut.split()) <= size
    else:
        assert len(cut) <= max(2 * size - 1, 0)
    assert cut.split() == text.split()[: len(cut.split())] or text.strip().startswith(cut)


async def test_quarantine_hides_or_replaces_the_action() -> None:
    outputs = [RECORD, RECORD, RECORD, "Answer: Maple Ridge"]
    expected = {
        "sent": RECORD,
        "hidden": "State: s\nResult: r",
        "question": f"Action: Find what answers this question: {problem().question}\n"
        "State: s\nResult: r",
    }
    for action, text in expected.items():
        channel = Quarantine(action=action)  # type: ignore[arg-type]
        episode, talked = await play(arm(Pact(), channel=channel), outputs)
        assert episode.failure is None
        assert [t.message.text for t in episode.turns if t.message] == [RECORD] * 3
        assert talked.sent[3][-1][1].count(f"\n{text}\n") == 3
        assert talked.sent[3][-1][1].count("Action:") == text.count("Action:") * 3
        # The seat that wrote a record reads it back in the same form.
        assert f"Message from Agent A:\n{text}\n" in talked.sent[2][-1][1]


def test_quarantine_leaves_other_messages_alone() -> None:
    for channel in (Quarantine(), Quarantine(action="sent"), Quarantine(action="question")):
        assert told(channel, "Action: prose of another strategy") == (
            "Action: prose of another strategy"
        )


def test_settings_that_say_nothing_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"channel\.text"):
        ConstantMessage(text=" ")
    with pytest.raises(ConfigError, match=r"channel\.wording"):
        Quarantine(wording="")
    with pytest.raises(ValueError, match=r"channel\.unit"):
        LengthMatched(unit="bytes")
