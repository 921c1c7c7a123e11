from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.grading.answers import (
    Extracted,
    accuracy,
    boxes,
    free_answer,
    integer_answer,
    letter_answer,
)
from parley.grading.numerals import integer
from parley.grading.voting import comparable
from parley.parsing import split_reasoning
from shared_data import case

IRON = ("iron", "iron ore", "gold", "none of these")
PIECES = st.lists(
    st.sampled_from(
        [
            "\\boxed{",
            "}",
            "{",
            "Answer:",
            "73",
            "C",
            " ",
            "\n",
            "\\text{",
            "**",
            "$",
            "the answer is ",
        ]
    ),
    max_size=30,
).map("".join)
TEXTS = st.one_of(st.text(), PIECES)


def read(text: str, *, truncated: bool = False) -> tuple[str | None, str]:
    found = integer_answer(text, truncated=truncated)
    return found.value, found.status


def letter(text: str, *, truncated: bool = False) -> tuple[str | None, str]:
    found = letter_answer(text, IRON, truncated=truncated)
    return found.value, found.status


def letter_of(text: str) -> Extracted:
    return letter_answer(text, IRON)


def test_a01_leading_zeros_on_either_side() -> None:
    for gold, text in case("A01")["input"]["cases"]:
        zeros = integer(gold.removeprefix("gold ").strip('"'))
        assert zeros is not None
        assert accuracy(integer_answer(text), zeros).metrics == {"accuracy": 1}


def test_a02_the_last_box_counts_and_differing_ones_are_flagged() -> None:
    text = case("A02")["input"].partition("output ")[2].strip('"')
    assert read(text) == ("15", "multi_box")
    assert read("\\boxed{840} ... \\boxed{840}") == ("840", "ok")
    assert read("\\boxed{15} and \\boxed{12}") == ("12", "multi_box")


def test_a04_grouped_digits_are_one_number_and_lists_are_none() -> None:
    outputs, golds = case("A04")["input"]["outputs"], case("A04")["input"]["golds"]
    for text in outputs[:4]:
        found = integer_answer(text)
        assert found.value == "1234"
        assert [accuracy(found, str(gold)).metrics["accuracy"] for gold in golds] == [1, 0]
    assert [read(text) for text in outputs[4:]] == [(None, "not_integer")] * 2


def test_a05_nothing_stated_is_no_zero() -> None:
    gold = integer(case("A05")["input"]["gold"])
    assert gold == "0"
    statuses = []
    for output in case("A05")["input"]["outputs"]:
        given = output if isinstance(output, dict) else {"text": output or ""}
        cut = given.get("finish_reason") == "length"
        score = accuracy(integer_answer(given["text"], truncated=cut), gold)
        assert (score.extracted, score.metrics) == (None, {"accuracy": 0})
        statuses.append(score.status)
    assert statuses == [*["no_answer"] * 4, "truncated"]


def test_a06_a_value_in_the_reasoning_never_counts() -> None:
    found = []
    for output in case("A06")["input"]:
        given = output if isinstance(output, dict) else {"text": output, "finish_reason": "stop"}
        split = split_reasoning(given["text"], finish=given["finish_reason"])
        found.append(read(split.visible, truncated=split.truncated_in_thinking))
        assert integer_answer(split.reasoning).value == "81"
    assert found == [("18", "ok"), (None, "truncated"), ("18", "ok")]


def test_a08_never_a_capital_that_stands_somewhere() -> None:
    found = [letter(text)[0] for text in case("A08")["input"]]
    assert found == [None, None, None, None, "B", "C"]


def test_a09_wrappers_around_the_letter() -> None:
    outputs = case("A09")["input"]
    assert len(outputs) == 10
    assert [letter(text)[0] for text in outputs] == ["C"] * 10


def test_a11_words_instead_of_the_letter() -> None:
    given = case("A11")["input"]
    options = tuple(given["options"].values())
    found = [letter_answer(text, options) for text in given["outputs"]]
    assert [one.value for one in found] == ["B", "A", None, None]
    assert [one.status for one in found[:2]] == ["option_text"] * 2
    shuffled = ("gold", "iron ore", "none of these", "iron")
    assert letter_answer("Answer: gold", shuffled).value == "A"


def test_a12_a_letter_is_never_normalised_as_words_are() -> None:
    predictions = case("A12")["input"]["predictions"]
    for form in ("{}", "Answer: {}"):
        scores = [accuracy(letter_answer(form.format(one), IRON), "A") for one in predictions]
        assert [score.metrics["accuracy"] for score in scores] == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        ("so \\boxed{\\boxed{7}}", "7", "ok"),
        ("$$\\boxed{\\mathbf{336^\\circ}}$$", "336", "ok"),
        ("\\boxed{m+n = 73}", "73", "ok"),
        ("\\boxed{-5}", "-5", "ok"),
        ("\\boxed{5!}", None, "not_integer"),
        ("Answer: $5!$", None, "not_integer"),
        ("Answer: 33!", "33", "ok"),
        ("**Answer:** **33!**", "33", "ok"),
        ("Answer: $33$!", "33", "ok"),
        ("The answer is 33!", "33", "no_label"),
        ("We add.\n**33!**", "33", "no_label"),
        ("\\boxed{1 \\, 234}", "1234", "ok"),
        ("\\boxed{-0}", "0", "ok"),
        ("\\boxed{73.0}", "73", "ok"),
        ("\\boxed{73.5}", None, "not_integer"),
        ("\\boxed{73\\text{ minutes}}", "73", "ok"),
        ("\\boxed{73 \\text{ or } 74}", None, "not_integer"),
        ("\\boxed{12,345,678}", "12345678", "ok"),
        ("\\boxed{1,234 567}", None, "not_integer"),
        ("\\boxed{\\frac{1}{2}}", None, "not_integer"),
        ("\\\\boxed{73}", "73", "ok"),
        ("I write it in \\boxed{}. Answer: \\boxed{73}", "73", "ok"),
        ("\\boxed{15}, so put it in \\boxed{}", "15", "ok"),
        ("open \\boxed{12 and then \\boxed{15}", "15", "ok"),
        ("} stray \\boxed{15} {", "15", "ok"),
        ("set \\{ \\boxed{15} \\}", "15", "ok"),
        ("**Final answer:** $073$", "73", "ok"),
        ("# Answer\n73", "73", "ok"),
        ("Answer: 12\nAnswer: 73.", "73", "ok"),
        ("Answer: about 73", None, "not_integer"),
        ("Answer:", None, "no_answer"),
        ("It is 12 at first. The final answer is 73.", "73", "no_label"),
        ("The answer is 12 because it must", None, "no_answer"),
        ("We add.\n\n**73**", "73", "no_label"),
        ("There are 12 of 73 things", None, "no_answer"),
        ("٧٣", None, "no_answer"),
        ("Answer: The answer is 33", "33", "ok"),
        ("Final Answer: The final answer is $33$. I hope it is correct.", "33", "ok"),
        ("Answer: 33. I hope it is correct.", "33", "ok"),
        ("Answer: 33 degrees", "33", "ok"),
        ("Answer: $33$ square units.", "33", "ok"),
        ("Answer: $m + n = 12 + 21 = 33$", "33", "ok"),
        ("\\boxed{f(1, 2) = 1,000 + 234 = 1,234}", "1234", "ok"),
        ("The answer is 33, as required.", "33", "no_label"),
        ("The answer is: 33 degrees", "33", "no_label"),
        ("the sum is 12 + 21 = 33", "33", "no_label"),
        ("Answer:\n\\[\n33\n\\]", "33", "ok"),
        ("\\boxed{133}\nAnswer: 33", "33", "multi_box"),
        ("\\boxed{133} is wrong. Answer: 33", "33", "multi_box"),
        ("\\boxed{133} is wrong. **Final answer:** 33", "33", "multi_box"),
        ("\\boxed{33}\nAnswer: 12 or 13", None, "not_integer"),
        ("Answer: 12\n\\boxed{33}", "33", "ok"),
        ("Answer: 12. No, the answer is 33.", "33", "ok"),
        ("> It says so. Answer: 12\n\n**33**", "33", "no_label"),
        ("Answer: 12 or 33", None, "not_integer"),
        ("Answer: 33, 34", None, "not_integer"),
        ("Answer: 33 apples and 2 pears", None, "not_integer"),
        ("Answer: 3 degrees 2 minutes", None, "not_integer"),
        ("Answer: 33 since x = 5", None, "not_integer"),
        ("Answer: 33. Or is it 34?", None, "not_integer"),
        ("Answer: 5 and y = 33", None, "not_integer"),
        ("Answer: x = 5, y = 33", None, "not_integer"),
        ("Answer: x != 33", None, "not_integer"),
        ("The answer is not 33", None, "no_answer"),
        ("The answer is 33, or 34", None, "no_answer"),
        ("The answer is 33, 34 or 35", None, "no_answer"),
        ("33 degrees", None, "no_answer"),
        ("\\boxed{2\\,\\text{million}}", None, "not_integer"),
    ],
)
def test_integers(text: str, value: str | None, status: str) -> None:
    assert read(text) == (value, status)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("\\boxed{73} and then I", "73"),
        ("Answer: 7", None),
        ("Answer: 73.\nThis is bec", "73"),
        ("The answer is 73. Because", "73"),
        ("The answer is 7", None),
        ("7", None),
    ],
)
def test_an_unfinished_line_is_not_read_as_an_integer(text: str, value: str | None) -> None:
    assert read(text, truncated=True) == (value, read(text)[1] if value else "truncated")


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        ("Answer: C) gold", "C", "ok"),
        ("Answer: C gold", "C", "ok"),
        ("Answer: **C**: gold", "C", "ok"),
        ("Answer: C - it shines", "C", "ok"),
        ("Answer: B because it is ore", "B", "ok"),
        ("Answer: A plausible guess", None, "not_an_option"),
        ("Answer: B or C", None, "ambiguous"),
        ("Answer: B, C", None, "ambiguous"),
        ("Answer: A/B", None, "ambiguous"),
        ("Answer: E", None, "not_an_option"),
        ("Answer: not gold", None, "not_an_option"),
        ("Answer: Gold.", "C", "option_text"),
        ("Answer: gold!", "C", "option_text"),
        ("Long.\ngold!", "C", "option_text"),
        ("Answer: C!", "C", "ok"),
        ("Answer: it is the iron ore", "B", "option_text"),
        ("Answer: golden", None, "not_an_option"),
        ("Answer: unsure", None, "not_an_option"),
        ("Answer:", None, "no_answer"),
        ("\\boxed{A} or \\boxed{C}", "C", "multi_box"),
        ("\\boxed{A}\nAnswer: C", "C", "multi_box"),
        ("Answer: C\nso \\boxed{A}", "A", "ok"),
        ("Long.\n\n(d)", "D", "no_label"),
        ("Long.\nC. gold", "C", "no_label"),
        ("C. elegans is a worm", None, "no_answer"),
        ("The answer is B. Wait, no: the answer is C.", "C", "no_label"),
        ("The correct option is (D).", "D", "no_label"),
        ("The answer is a matter of taste", None, "no_answer"),
        ("A and B are wrong. The answer is C", "C", "no_label"),
        ("A, B and D are wrong, so the answer is C.", "C", "no_label"),
        ("The answer is C.\nA and B are wrong.", "C", "no_label"),
        ("Answer: A and B are wrong, so the answer is C", "C", "ok"),
        ("\\boxed{B} is wrong. Answer: C", "C", "multi_box"),
        ("Work.\nA and B", None, "ambiguous"),
        ("The answer is A or C.\nA and B are wrong.", None, "ambiguous"),
    ],
)
def test_letters(text: str, value: str | None, status: str) -> None:
    assert letter(text) == (value, status)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Answer: C", None),
        ("Answer: C\nBecause i", "C"),
        ("Answer: iron o", None),
        ("Answer: B\nAnswer: B\nAnsw", "B"),
        ("Answer: B\n\\boxed{C} and", "C"),
    ],
)
def test_an_unfinished_line_is_not_read_as_a_letter(text: str, value: str | None) -> None:
    assert letter(text, truncated=True)[0] == value


def test_an_option_told_apart_by_case_or_sign() -> None:
    assert letter_answer("Answer: CO", ("Co", "CO", "co2", "C")).value == "B"
    assert letter_answer("Answer: co", ("Co", "CO", "co2", "C")).status == "ambiguous"
    assert letter_answer("Answer: it is -1", ("1", "-1", "1.5", "10")).value == "B"
    assert letter_answer("Answer: it is 1.57", ("1", "-1", "1.5", "10")).value is None


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        ("Work.\nAnswer: x + 1", "x + 1", "ok"),
        ("Answer:\n```\n1 2\n3 4\n```", "1 2\n3 4", "ok"),
        ("Answer: $\\boxed{x}$", "x", "ok"),
        ("so \\boxed{x} and \\boxed{y}", "y", "multi_box"),
        ("first\nlast", "last", "no_label"),
        ("Answer: HELLO WORLD!", "HELLO WORLD!", "ok"),
        ("Answer:", None, "no_answer"),
        ("", None, "no_answer"),
    ],
)
def test_free_answers(text: str, value: str | None, status: str) -> None:
    assert free_answer(text) == Extracted(value=value, status=status)


def test_a_free_answer_that_was_cut_short_is_none_unless_boxed() -> None:
    assert free_answer("Answer: x +", truncated=True).status == "truncated"
    assert free_answer("\\boxed{x} beca", truncated=True).value == "x"


@given(TEXTS, st.booleans())
def test_every_text_gives_a_result(text: str, truncated: bool) -> None:
    found = integer_answer(text, truncated=truncated)
    assert found.value is None or found.value.removeprefix("-").isdigit()
    assert letter_answer(text, IRON, truncated=truncated).value in (*"ABCD", None)
    assert letter_answer(text, ("",) * 4, truncated=truncated).value in (*"ABCD", None)
    assert free_answer(text, truncated=truncated).value != ""
    assert all(inner for _, inner in boxes(text))


@given(st.integers(-(10**12), 10**12))
def test_a_boxed_integer_is_read_as_it_is(number: int) -> None:
    for form in ("\\boxed{%d}", "Answer: %d", "The answer is $%d$.", "**%d**"):
        assert integer_answer(form % number).value == str(number)
    assert integer_answer(f"\\boxed{{{number:,}}}").value == str(number)


STATED = st.tuples(
    st.integers(0, 3), st.sampled_from(["\\boxed{%s}", "Answer: %s", "**Answer:** %s"])
)


@given(st.lists(STATED, min_size=1, max_size=4), st.sampled_from(["\n", "\n\nWait.\n"]))
def test_what_is_stated_last_counts_for_numbers_as_for_letters(
    stated: list[tuple[int, str]], between: str
) -> None:
    last = stated[-1][0]
    for words, read_one in (("1234", integer_answer), ("ABCD", letter_of)):
        found = read_one(between.join(form % words[place] for place, form in stated))
        boxed = {place for place, form in stated if "boxed" in form}
        assert found.value == words[last]
        assert found.status == ("multi_box" if boxed - {last} else "ok")


@given(
    st.lists(st.integers(0, 999), min_size=2, max_size=3),
    st.sampled_from([", ", " or ", " and ", "; ", " "]),
)
def test_several_numbers_are_never_one_of_them(numbers: list[int], between: str) -> None:
    listed = between.join(map(str, numbers))
    joined = len({len(str(one)) for one in numbers[1:]} | {3}) == 1 and between == " "
    for form in (
        "Answer: %s",
        "\\boxed{%s}",
        "The answer is %s.",
        "%s",
        "Answer: the answer is %s",
    ):
        value = integer_answer(form % listed).value
        assert value is None or (joined and value == str(int(listed.replace(" ", ""))))


@pytest.mark.parametrize(
    "unit",
    [
        "{",
        "}",
        "\\",
        "\\boxed{",
        "\\boxed{1}",
        "9",
        " ",
        "\n",
        "Answer: ",
        "Answer  ",
        "A ",
        "*",
        "$",
        "!",
        "=",
        "x. Answer: ",
        "> x. Answer: ",
        "the answer is ",
        "1 ",
    ],
)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    text = "Answer" + unit * (1_000_000 // len(unit))
    started = time.process_time()
    integer_answer(text)
    letter_answer(text, IRON)
    free_answer(text)
    comparable(text)
    assert time.process_time() - started < 20
