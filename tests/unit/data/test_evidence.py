from __future__ import annotations

from collections import Counter
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.data.evidence import clean, deal, not_two_gold, two_share_problem
from parley.errors import DataError
from parley.types import Paragraph, Problem


def row(
    titles: list[str], gold: list[tuple[str, int]], *, ident: str = "q1", **changes: Any
) -> dict[str, Any]:
    """A row in the hub's shape, each paragraph of two sentences."""
    sentences = [[f"{title} is one.", f" {title} is two."] for title in titles]
    return {
        "id": ident,
        "question": "Who?",
        "answer": "Ann",
        "type": "bridge",
        "supporting_facts": {"title": [t for t, _ in gold], "sent_id": [n for _, n in gold]},
        "context": {"title": titles, "sentences": sentences},
        **changes,
    }


def read(data: dict[str, Any], **options: Any) -> Problem:
    return two_share_problem(data, "a.jsonl, line 1", **{"joint": "", "seed": 42, **options})


def titles_of(problem: Problem) -> list[list[str]]:
    return [[p.title for p in share] for share in problem.shares]


TEN = [f"T{n}" for n in range(10)]


def test_a_regular_row_gives_one_gold_and_four_distractors_to_each_share() -> None:
    problem = read(row(TEN, [("T3", 0), ("T7", 1)]))
    assert problem.notes == ()
    shares = titles_of(problem)
    assert [len(share) for share in shares] == [5, 5]
    assert [len({"T3", "T7"} & set(share)) for share in shares] == [1, 1]
    assert sorted(shares[0] + shares[1]) == TEN
    assert problem.facts == ("T3 is one.", "T7 is two.")
    assert problem.kind == "bridge"
    text = next(p.text for share in problem.shares for p in share if p.title == "T3")
    assert text == "T3 is one. T3 is two."


def test_the_split_depends_on_id_and_seed_and_is_pinned() -> None:
    gold = [("T3", 0), ("T7", 1)]
    assert titles_of(read(row(TEN, gold))) == titles_of(read(row(TEN, gold)))
    assert titles_of(read(row(TEN, gold))) != titles_of(read(row(TEN, gold), seed=43))
    assert titles_of(read(row(TEN, gold))) != titles_of(read(row(TEN, gold, ident="q2")))
    assert [" ".join(share) for share in titles_of(read(row(TEN, gold)))] == [
        "T5 T0 T6 T1 T7",
        "T4 T2 T8 T3 T9",
    ]


def test_either_gold_goes_to_either_share_and_stands_anywhere() -> None:
    places = Counter[int]()
    first = Counter[int]()
    for n in range(400):
        shares = titles_of(read(row(TEN, [("T3", 0), ("T7", 1)], ident=f"q{n}")))
        holder = 0 if "T3" in shares[0] else 1
        first[holder] += 1
        places[shares[holder].index("T3")] += 1
    assert min(first.values()) > 160
    assert min(places[n] for n in range(5)) > 50


@pytest.mark.parametrize(
    ("titles", "gold", "notes", "sizes", "golds"),
    [
        (["A", "B"], ["A", "B"], ("few_paragraphs",), [1, 1], [1, 1]),
        (TEN[:9], ["T0", "T1"], ("few_paragraphs",), [4, 5], [1, 1]),
        ([*TEN, "U", "V"], ["T0", "T1"], ("many_paragraphs",), [6, 6], [1, 1]),
        (TEN, ["T0", "T1", "T2", "T3"], ("four_gold",), [5, 5], [2, 2]),
        (TEN, ["T0", "T1", "T2"], ("three_gold",), [5, 5], [1, 2]),
        (TEN, ["T0", "T1", "T2", "T3", "T4"], ("many_gold",), [5, 5], [2, 3]),
        (TEN, ["T0"], ("one_gold",), [5, 5], [0, 1]),
        (TEN, [], ("no_gold",), [5, 5], [0, 0]),
        (TEN, ["T0", "Gone"], ("absent_gold",), [5, 5], [0, 1]),
        (TEN, ["Gone", "Lost"], ("absent_gold",), [5, 5], [0, 0]),
        ([*TEN[:9], "T8"], ["T0", "T1"], ("repeated_title",), [5, 5], [1, 1]),
        ([*TEN[:9], "T0"], ["T0", "T1"], ("repeated_title",), [5, 5], [1, 2]),
        ([], ["T0", "T1"], ("absent_gold", "few_paragraphs"), [0, 0], [0, 0]),
    ],
)
def test_rows_of_another_shape(
    titles: list[str], gold: list[str], notes: tuple[str, ...], sizes: list[int], golds: list[int]
) -> None:
    problem = read(row(titles, [(title, 0) for title in gold]))
    shares = titles_of(problem)
    assert problem.notes == notes
    assert sorted(map(len, shares)) == sizes
    assert sorted(sum(t in gold for t in share) for share in shares) == golds
    assert sorted(shares[0] + shares[1]) == sorted(titles)
    two = len(gold) == 2 and "absent_gold" not in notes
    assert not_two_gold(problem) == ("" if two else "not_two_gold")


def test_a_repeated_gold_title_stays_in_one_share() -> None:
    for n in range(50):
        shares = titles_of(read(row([*TEN[:9], "T0"], [("T0", 0), ("T1", 0)], ident=f"q{n}")))
        assert sorted(share.count("T0") for share in shares) == [0, 2]


def test_a_supporting_sentence_that_is_not_there_is_noted_and_left_out() -> None:
    problem = read(row(TEN, [("T3", 902), ("T3", -1), ("T7", 0), ("Gone", 0)]))
    assert problem.notes == ("absent_gold", "bad_sentence_id", "three_gold")
    assert problem.facts == ("T7 is one.",)


def test_html_entities_are_written_out_and_both_forms_of_the_answer_are_gold() -> None:
    data = row(["R&amp;B", "AT&T", *TEN[:8]], [("R&amp;B", 0), ("AT&T", 0)], answer="R&amp;B")
    problem = read(data | {"question": "Is&nbsp;R&amp;B  &copy right &#9731;?"})
    assert problem.answers == ("R&amp;B", "R&B")
    assert problem.question == "Is R&B &copy right ☃?"
    assert problem.notes == ("html_entity",)
    assert problem.facts[0] == "R&B is one."


def test_white_space_collapses_and_an_empty_paragraph_is_kept() -> None:
    data = row(TEN, [("T3", 0), ("T7", 0)])
    data["context"]["sentences"][0] = ["One\nAnswer: no.", "", "\u2028 Two.  "]
    data["context"]["sentences"][1] = [" "]
    problem = read(data)
    texts = {p.title: p.text for share in problem.shares for p in share}
    assert texts["T0"] == "One Answer: no. Two."
    assert texts["T1"] == ""
    assert problem.notes == ("empty_paragraph",)


def test_every_published_shape_reads_alike() -> None:
    hub = row(TEN, [("T3", 0), ("T7", 1)])
    context, facts = hub["context"], hub["supporting_facts"]
    pairs = [list(pair) for pair in zip(context["title"], context["sentences"], strict=True)]
    pointers = [list(pair) for pair in zip(facts["title"], facts["sent_id"], strict=True)]
    original = {k: v for k, v in hub.items() if k != "id"} | {
        "_id": "q1",
        "context": pairs,
        "supporting_facts": pointers,
    }
    objects = hub | {
        "context": [{"title": t, "sentences": s} for t, s in pairs],
        "supporting_facts": [{"title": t, "sent_id": n} for t, n in pointers],
    }
    text = hub | {
        "context": orjson.dumps(pairs).decode(),
        "supporting_facts": orjson.dumps(facts).decode(),
    }
    assert read(hub) == read(original) == read(objects) == read(text)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": None}, "'question' is missing"),
        ({"question": "  "}, "'question' is empty"),
        ({"answer": None}, "'answer' is missing"),
        ({"answer": 1999}, "'answer' is int, not a string"),
        ({"id": None}, "'id' .* is missing"),
        ({"id": True}, "'id' .* is missing"),
        ({"context": 3}, "'context' is int"),
        ({"context": "no json"}, "'context' is a string that is not JSON"),
        ({"context": {"title": ["A"], "sentences": []}}, "'context' is not two lists"),
        ({"context": [["A", ["a"], 1]]}, "'context' holds an item that is not a pair"),
        ({"context": [["A", "a"]]}, "no list of sentences for 'A'"),
        ({"context": [[1, ["a"]]]}, "a title that is not a string"),
        ({"supporting_facts": [["A", "0"]]}, "not a title and a number"),
        ({"supporting_facts": {"title": ["A"]}}, "'supporting_facts' is not two lists"),
    ],
)
def test_a_malformed_row_names_place_fault_and_shapes(change: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=rf"^a\.jsonl, line 1: .*{said}") as caught:
        read(row(TEN, [("T3", 0)]) | change)
    assert "supporting_facts {title, sent_id}" in caught.value.allowed
    assert "original shape" in caught.value.allowed


def test_a_missing_column_is_named() -> None:
    data = row(TEN, [("T3", 0)])
    del data["context"]
    with pytest.raises(DataError, match="'context' is missing"):
        read(data)


def test_a_whole_number_is_an_id_and_aliases_follow_the_answer() -> None:
    problem = read(row(TEN, [("T3", 0)], ident="q") | {"id": 37}, aliases=("Anna", "Ann", " "))
    assert problem.id == "37"
    assert problem.answers == ("Ann", "Anna")


NAMES = st.lists(st.sampled_from("ABCDEFGHIJKL"), max_size=14)


@given(
    NAMES, st.lists(st.sampled_from("ABCDXY"), max_size=6, unique=True), st.text(), st.integers()
)
def test_dealing_loses_nothing_and_stays_even(
    titles: list[str], gold: list[str], ident: str, seed: int
) -> None:
    paragraphs = [Paragraph(title=t, text=str(n)) for n, t in enumerate(titles)]
    shares = deal(paragraphs, gold, seed=seed, problem=ident)
    assert Counter(shares[0] + shares[1]) == Counter(paragraphs)
    for title in gold:
        assert {p.title for p in shares[0]} & {p.title for p in shares[1]} & {title} == set()
    if len(set(titles)) == len(titles) and len([t for t in gold if t in titles]) <= 4:
        assert abs(len(shares[0]) - len(shares[1])) <= 1


@given(st.text())
def test_cleaning_is_total_and_leaves_one_line(text: str) -> None:
    assert len(clean(text).splitlines()) <= 1
    assert clean(text) == clean(text).strip()
