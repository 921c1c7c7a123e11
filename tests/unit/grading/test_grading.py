from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.errors import ConfigError
from parley.grading import (
    METRICS,
    answer_words,
    best,
    check_contract,
    em,
    f1,
    f1_squad,
    grade_text,
    normalise,
)
from shared_data import case

WORDS = st.lists(
    st.sampled_from(["yes", "no", "noanswer", "the", "a", "Paris", "U.S.", "1998", "Bjork", "-"]),
    max_size=6,
).map(" ".join)
TEXTS = st.one_of(st.text(), WORDS)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The U.S. Navy", "us navy"),
        ("A  quick, an (old) the-end", "quick old theend"),
        ("a", ""),
        ("Theatre of a Bath", "theatre of bath"),
        ("1998–2001", "1998–2001"),
        ("“Jaws”", "“jaws”"),
        ("tab\tand\u2028separator", "tab and separator"),
    ],
)
def test_normalisation(text: str, plain: str) -> None:
    assert normalise(text) == plain


def test_yes_no_and_noanswer_as_reported() -> None:
    pairs = case("A13")["input"]
    assert [(f1(said, gold), em(said, gold)) for said, gold in pairs] == [
        (0, 0),
        (1, 1),
        (0, 0),
        (0, 0),
        (0, 0),
        (0, 0),
    ]


def test_squad_f1_lacks_the_rule_and_gives_credit() -> None:
    said, gold = case("A13")["input"][0]
    assert f1(said, gold) == 0
    assert f1_squad(said, gold) == pytest.approx(0.4)


def test_punctuation_and_unicode_as_reported() -> None:
    pairs = case("A14")["input"]
    assert [em(said, gold) == 1 for said, gold in pairs] == [True] * 3 + [False] * 5
    assert [f1(said, gold) for said, gold in pairs] == pytest.approx(
        [1, 1, 1, 0, 0, 0, 0.5, 0.6667], abs=5e-5
    )


def test_an_option_letter_normalises_to_nothing_as_reported() -> None:
    given_ = case("A12")["input"]["predictions"]
    assert [em(said, "A") for said in given_] == [1, 1, 1, 0]
    assert [f1(said, "A") for said in given_] == [0, 0, 0, 0]


@given(TEXTS, TEXTS)
def test_measures_are_total_symmetric_and_bounded(left: str, right: str) -> None:
    for measure in (em, f1, f1_squad):
        assert 0 <= measure(left, right) <= 1
        assert measure(left, right) == pytest.approx(measure(right, left))
    assert f1(left, right) <= f1_squad(left, right)


@given(TEXTS, TEXTS)
def test_exact_match_means_full_overlap_unless_nothing_is_left(left: str, right: str) -> None:
    if em(left, right) == 1:
        assert f1(left, right) == f1_squad(left, right) == (1 if normalise(left) else 0)


@given(TEXTS)
def test_a_text_matches_itself_whatever_its_case_punctuation_and_spaces(text: str) -> None:
    assert em(text, f" {text}!\n") == em(text, text) == 1
    assert f1(text, f"the, {text}") == f1(text, text)


def test_the_best_of_gold_and_aliases_counts_metric_by_metric() -> None:
    gold = ("The Bronx", "Bronx borough in New York")
    assert best(em, "Bronx", gold) == 1
    assert best(f1, "borough in New York", gold) == pytest.approx(8 / 9)
    assert best(f1, "x", ()) == 0


@pytest.mark.parametrize(
    ("text", "extracted", "status", "exact"),
    [
        ("I think so.\nAnswer: Maple Ridge", "Maple Ridge", "ok", 1),
        ("Answer: Cedar Falls\nAnswer: Maple Ridge.", "Maple Ridge.", "ok", 1),
        ("**Final answer:** Maple Ridge\nThat is all.", "Maple Ridge", "ok", 1),
        ("She was born there.\n\nMaple Ridge\n```\n", "Maple Ridge", "no_label", 1),
        ("It is Maple Ridge", "It is Maple Ridge", "no_label", 0),
        ("Maple Ridge\nAnswer:", None, "no_answer", 0),
        ("**Answer:**", None, "no_answer", 0),
        ("", None, "no_answer", 0),
        (" \n\u2028...\n", None, "no_answer", 0),
    ],
)
def test_reading_an_answer(text: str, extracted: str | None, status: str, exact: float) -> None:
    score = grade_text(("Maple Ridge",), text)
    assert (score.extracted, score.status, score.metrics["em"]) == (extracted, status, exact)
    assert tuple(score.metrics) == METRICS


def test_an_output_cut_before_it_said_anything_is_called_truncated() -> None:
    assert grade_text(("x",), "", truncated=True).status == "truncated"
    assert grade_text(("x",), "Answer: x", truncated=True).status == "ok"


def test_no_answer_scores_zero_even_where_the_gold_normalises_to_nothing() -> None:
    assert set(grade_text(("A",), "").metrics.values()) == {0.0}
    assert grade_text(("A",), "Answer: the").metrics == {"em": 1, "f1": 0, "f1_squad": 0}


@given(st.lists(st.text(), max_size=3).map(tuple), st.text(), st.booleans())
def test_grading_is_total(gold: tuple[str, ...], text: str, truncated: bool) -> None:
    for visible in (text, f"Answer: {text}", f"Answer: {text}\nAnswer:"):
        score = grade_text(gold, visible, truncated=truncated)
        assert all(0 <= value <= 1 for value in score.metrics.values())
        assert (score.extracted is None) == (score.status in ("no_answer", "truncated"))


def test_the_two_ways_to_ask_differ_in_asking_for_shortness() -> None:
    assert "shortest" in answer_words("short")
    assert "short" not in answer_words("none")
    assert all('"Answer:"' in answer_words(contract) for contract in ("short", "none"))


def test_another_way_to_ask_is_refused_with_the_allowed_ones() -> None:
    with pytest.raises(ConfigError, match="short or none"):
        check_contract("long")
