"""Whether the agents of an episode end with the same answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parley.analysis.agreement import disagreement
from parley.analysis.flow import summed
from records import call, episode, line, turn


def _said(*texts: str, finish: str = "stop") -> bool | None:
    turns = tuple(turn(i, call(visible=text, finish=finish)) for i, text in enumerate(texts))
    return disagreement(line(episode(turns=turns)))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Answer: Northmill", "Answer: Southmill"), True),
        (("Answer: Northmill", "**Answer:** the northmill."), False),
        (("Answer: 7", r"So it is \boxed{7}"), False),
        (("Answer: Southmill", "Answer: Northmill", "Answer: Northmill"), False),
        (("The mill is here.", "Answer: Northmill"), None),
        (("Northmill", "Southmill"), None),
        (("The answer is 7.", "Answer: 7"), False),
        ((), None),
    ],
)
def test_last_answers_by_seat(texts: tuple[str, ...], expected: bool | None) -> None:
    assert _said(*texts) is expected


def test_an_option_is_the_same_by_letter_and_by_words() -> None:
    def said(*texts: str) -> bool | None:
        turns = tuple(turn(i, call(visible=text)) for i, text in enumerate(texts))
        return disagreement(line(replace(episode(turns=turns), options=("iron", "gold"))))

    assert said("Answer: (B) gold", "Answer: gold") is False
    assert said("Answer: (B) gold", "The answer is A.") is True
    assert said("Answer: B", "Answer: A or B") is None


def test_an_unfinished_line_is_no_answer() -> None:
    assert _said("Answer: North", "Answer: South", finish="length") is None


def test_shares_are_of_what_can_be_compared() -> None:
    def record(*texts: str) -> object:
        turns = tuple(turn(i, call(visible=text)) for i, text in enumerate(texts))
        return line(episode(turns=turns))

    records = [
        record("Answer: a", "Answer: b"),
        record("Answer: b", "Answer: b"),
        record("nothing", "Answer: b"),
    ]
    found = summed(records)  # type: ignore[arg-type]
    assert (found.episodes, found.compared, len(found.disagreed)) == (3, 2, 1)
    assert found.disagreement == 0.5


def test_an_episode_of_no_known_shape_leaves_the_others() -> None:
    strange = line(episode())
    del strange["turns"]
    assert summed([strange, line(episode())]).episodes == 1
