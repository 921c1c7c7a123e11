"""Records read from text; the reported cases of kind C are the truth."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.parsing import Record, parse_record, section, split_reasoning
from shared_data import case, needs_shared

FIELDS = ("Action", "State", "Result")


def values(text: str) -> tuple[str, ...]:
    return tuple(parse_record(text, FIELDS).data.get(name, "-") for name in FIELDS)


@needs_shared
def test_fence_trailing_comma_chatter_c01() -> None:
    text = case("C01")["input"]
    record = parse_record(text, FIELDS)
    assert record.data == {"Action": "answer", "State": "done", "Result": "7"}
    assert (record.status, record.missing) == ("repaired", ())
    assert [text[start:end] for start, end in record.spans] == ["answer", "done", "7"]


@needs_shared
def test_last_complete_object_c02() -> None:
    text = case("C02")["input"]
    for part in (text, split_reasoning(text).visible):
        record = parse_record(part, FIELDS)
        assert record.data == {"Action": "answer", "State": "s", "Result": "R {ok}"}
        assert record.status == "ok"
        assert [part[start:end] for start, end in record.spans] == ["answer", "s", "R {ok}"]


@needs_shared
def test_missing_and_unparsed_c04() -> None:
    absent, empty, nothing = (parse_record(text, FIELDS) for text in case("C04")["input"])
    assert absent.data == {"Action": "None", "State": "waiting"}
    assert (absent.status, absent.missing) == ("missing_fields", ("Result",))
    assert empty.data == {"Action": "answer", "State": "s"}
    assert (empty.status, empty.missing) == ("missing_fields", ("Result",))
    assert nothing == Record(data={}, status="unparsed", missing=FIELDS, spans=())


@needs_shared
def test_marks_around_labels_c05() -> None:
    for text in case("C05")["input"]:
        record = parse_record(text, FIELDS)
        assert record.data == {"Action": "answer", "State": "s", "Result": "7"}
        assert record.status == "ok"
        assert [text[start:end] for start, end in record.spans] == ["answer", "s", "7"]


@needs_shared
def test_labels_only_at_line_start_c06() -> None:
    assert values(case("C06")["input"]) == (
        "verify",
        'the note "Result: 5" is wrong; Action: none needed\nsecond line',
        "7\nbecause 3+4=7",
    )


@needs_shared
def test_quoted_lines_stay_inside_c08() -> None:
    record = parse_record(case("C08")["input"]["agent_a_output"], FIELDS)
    assert record.data == {
        "Action": "answer",
        "State": "P2 says:\n> Action: stop\n> Result: no",
        "Result": "yes",
    }


@needs_shared
def test_document_copied_without_quoting_cannot_replace_a_field_c08() -> None:
    evidence = case("C08")["input"]["evidence"].replace(". Action", ".\nAction")
    record = parse_record(f"Action: answer\nState: {evidence}\nResult: yes", FIELDS)
    assert (record.data["Action"], record.data["Result"]) == ("answer", "yes")
    assert record.data["State"] == "Lake Orr."


@needs_shared
def test_backslashes_restored_c11() -> None:
    text = case("C11")["input"]
    record = parse_record(text, FIELDS)
    assert record.data["Result"] == "\\boxed{73}"
    assert record.data["State"] == "\\frac{1}{2} \\text{m}"
    assert record.status == "repaired"
    start, end = record.spans[2]
    assert text[start:end] == "\\boxed{73}"


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (r"\sqrt{2} \cdot \(x\)", r"\sqrt{2} \cdot \(x\)"),
        (r"\\boxed{7}", r"\boxed{7}"),
        (r"a\nbut not \neq b", "a\nbut not \\neq b"),
        (r"one\ntwo\nthree\ne", "one\ntwo\nthree\ne"),
        (r"a\tb \times c \theta", "a\tb \\times c \\theta"),
        (r"\rightarrow \rho", r"\rightarrow \rho"),
        (r"it\'s", "it's"),
        (r"\u0041\underline{x}", r"A\underline{x}"),
        (r"say \"hi\" \/", 'say "hi" /'),
        (r"\ud800", "\ufffd"),
        (r"\ud83d\ude00", "\U0001f600"),
    ],
)
def test_escapes(body: str, value: str) -> None:
    for text in (f'{{"a": "{body}"}}', f'{{"a": "{body}",}}'):
        assert parse_record(text, ("a",)).data == {"a": value}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Case of the names, order, white space, other keys.
        ('{"action":"a","RESULT":"r"," state ":" s ","note":"n"}', ("a", "s", "r")),
        ("RESULT: r\naction: a\nState: s", ("a", "s", "r")),
        # Names are whole and not guessed.
        ("Action Required: a\nCurrent State: s\nResults: r", ("-", "-", "-")),
        ('{"Action Required":"a","state_":"s","Outcome":"r"}', ("-", "-", "-")),
        # Values that are not strings stand as written.
        ('{"Action":1.50,"State":true,"Result":[1, {"a": 2}]}', ("1.50", "true", '[1, {"a": 2}]')),
        ('{"Action":"a","State":null,"Result":073}', ("a", "-", "073")),
        ('{"Action":"a","State":"","Result":"  "}', ("a", "-", "-")),
        # An object inside another, in an array, or told of inside a string.
        ('{"record":{"Action":"a","State":"s","Result":"r"}}', ("a", "s", "r")),
        ('[{"Action":"a","State":"s","Result":"r"}]', ("a", "s", "r")),
        (r'{"Action":"a","State":"{\"Action\":\"x\"}","Result":"r"}', ("a", '{"Action":"x"}', "r")),
        # Mended: single quotes, bare keys, a line break in a string, no last brace, an odd quote.
        ("{'Action': 'a', 'State': 's', 'Result': 'r'}", ("a", "s", "r")),
        ('{\nAction: "a",\nState: "s",\nResult: "r"\n}', ("a", "s", "r")),
        ('{"Action":"a","State":"s\nt","Result":"r"}', ("a", "s\nt", "r")),
        ('```json\n{"Action":"a","State":"s","Result":"r"\n```', ("a", "s", "r")),
        ("{'Action': 'it\\'s', 'State': 007, 'Result': 1.50,}", ("it's", "007", "1.50")),
        # Cut within a value: the object is not guessed.
        ('{"Action":"a","State":"s","Result":"r and', ("-", "-", "-")),
        # The last complete record wins, whichever its form.
        ('{"Action":"a","State":"s","Result":"r"}{"Action":"b"}', ("a", "s", "r")),
        ('{"Action":"a","State":"s","Result":"r"}\nAction: b\nState: t\nResult: q',
         ("b", "t", "q")),
        ("Action: a\nState: s\nResult: r\nAction: b\nState: t\nResult: q", ("b", "t", "q")),
        ("Action: a\nState: s\nResult: r\nAction: b\nState: t", ("a", "s", "r")),
        ("Action: a\nState: s\nResult: r\nAction:\nState:\nResult:", ("a", "s", "r")),
        # Copied objects cannot replace labels, nor quoted ones a record.
        (
            'Action: a\nState: {"Action":"x","State":"x","Result":"x"}\nResult: r',
            ("a", '{"Action":"x","State":"x","Result":"x"}', "r"),
        ),
        ('{"Action":"a","State":"s","Result":"r"}\n> {"Action":"x","State":"x","Result":"x"}',
         ("a", "s", "r")),
        # Fences and bold around labels.
        ("```\nAction: a\nState: s\nResult: r\n```", ("a", "s", "r")),
        ("Action: a\nState:\n```\nx = 1\n```\nResult: r", ("a", "```\nx = 1\n```", "r")),
        ("**Action: a**\n__State__: **s**\n**Result**\nr", ("a", "s", "r")),
        ("1. **Action**: a\n2. **State:** s\n3. Result : r", ("a", "s", "r")),
        ("Action: a\r\nState: s\r\nResult: r\r\n", ("a", "s", "r")),
        ("Action: **a** or *b*\nState: f(**kwargs)\nResult: 2*3*4",
         ("**a** or *b*", "f(**kwargs)", "2*3*4")),
        ("Action: a\nState: s\n    indented\n      more\nResult: r",
         ("a", "s\nindented\n  more", "r")),
        # A heading needs its mark, a label its colon.
        ("Action\na\nState\ns\nResult\nr", ("-", "-", "-")),
        ("- Action a\n- State s", ("-", "-", "-")),
    ],
)  # fmt: skip
def test_shapes(text: str, expected: tuple[str, ...]) -> None:
    assert values(text) == expected


def test_statuses() -> None:
    exact = '{"Action":"a","State":"s","Result":"r"}'
    assert parse_record(f"Sure:\n{exact}\nDone.", FIELDS).status == "ok"
    assert parse_record(exact.replace("}", ",}"), FIELDS).status == "repaired"
    assert parse_record(exact.replace('"s"', '"s\nt"'), FIELDS).status == "repaired"
    partial = parse_record('{"Action":"a",}', FIELDS)
    assert (partial.status, partial.missing) == ("missing_fields", ("State", "Result"))
    assert parse_record("Action:\nState:\nResult:", FIELDS).status == "unparsed"


def test_span_of_a_value_that_cannot_be_found_again_is_the_object() -> None:
    text = r'so {"a": "x\ty",} it is'
    record = parse_record(text, ("a",))
    assert record.status == "repaired"
    assert [text[start:end] for start, end in record.spans] == [r'{"a": "x\ty",}']
    assert record.data == {"a": "x\ty"}


def test_section() -> None:
    text = "Fact: old\nFact: It is 7.\nIt was 6.\n\nEvidence: Lake Orr\n> Fact: no"
    for stops, expected in (
        (("Evidence",), "It is 7.\nIt was 6."),
        ((), "It is 7.\nIt was 6.\n\nEvidence: Lake Orr\n> Fact: no"),
    ):
        span = section(text, "fact", stops)
        assert span is not None
        assert text[slice(*span)] == expected
    assert section(text, "Answer") is None
    assert section("Fact:  \nEvidence: x", "Fact", ("Evidence",)) is not None
    empty = section("Fact:  \nEvidence: x", "Fact", ("Evidence",))
    assert empty is not None
    assert empty[0] == empty[1]


NAMES = st.lists(
    st.sampled_from([*FIELDS, "Final answer", "C++ (x)", "# odd", "naïve", "İ", "ß", ""]),
    max_size=4,
).map(tuple)
PIECES = st.lists(
    st.sampled_from(
        ["Action", "State", "Result", ":", "：", "**", "*", "#", "- ", "> ", "\n", "\r\n", " ",
         "{", "}", '"', "'", ",", "[", "\\", "\\u12", "\\n", "`", "```", "x", "1", "null",
         '{"Action":', '"State":', '"Result":', '"v"', "Action: a\n", "\ud800", "\x00", "\u2028"]
    ),
    max_size=20,
).map("".join)  # fmt: skip


@given(text=st.one_of(st.text(), PIECES), fields=st.one_of(st.just(FIELDS), NAMES))
def test_total(text: str, fields: tuple[str, ...]) -> None:
    record = parse_record(text, fields)
    assert set(record.data) | set(record.missing) == set(fields)
    assert not set(record.data) & set(record.missing)
    assert len(record.spans) == len(record.data)
    for value, (start, end) in zip(record.data.values(), record.spans, strict=True):
        assert value == value.strip() != ""
        assert 0 <= start < end <= len(text)
    for label in fields:
        span = section(text, label, fields)
        assert span is None or 0 <= span[0] <= span[1] <= len(text)


def test_deep_nesting_is_no_exception() -> None:
    for unit in ('{"Action":', "[", "{", '{"a":[', "{'Action':"):
        parse_record('{"Action":' + unit * 3_000, FIELDS)


LINES = st.text(
    st.characters(categories=("L", "N", "Zs"), include_characters=".,;()\"'/-"), max_size=30
).map(lambda line: " ".join(line.split()))
VALUES = st.lists(LINES, min_size=1, max_size=3).map("\n".join).map(str.strip)


def labelled_value(value: str) -> bool:
    """Whether a value is one that labels can carry: no line of it is a label or a mark itself."""
    return bool(value) and "\n\n" not in value and value[0] not in "\"'-"


@given(st.tuples(*[VALUES.filter(labelled_value)] * 3), st.permutations(FIELDS))
def test_labelled_round_trip(parts: tuple[str, str, str], order: list[str]) -> None:
    data = dict(zip(FIELDS, parts, strict=True))
    text = "Here it is.\n\n" + "\n".join(f"{name}: {data[name]}" for name in order)
    record = parse_record(text, FIELDS)
    assert (record.data, record.status) == (data, "ok")
    for value, (start, end) in zip(record.data.values(), record.spans, strict=True):
        assert value in text[start:end]


PLAIN = st.text(st.characters(exclude_categories=("Cs", "Cc"))).map(str.strip).filter(bool)


@given(
    parts=st.tuples(PLAIN, PLAIN, PLAIN),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 2]),
    around=st.sampled_from(["{}", "```json\n{}\n```", "Set {{a}}.\n{}\nDone {{b}}."]),
)
def test_json_round_trip(
    parts: tuple[str, str, str], ascii_only: bool, indent: int | None, around: str
) -> None:
    data = dict(zip(FIELDS, parts, strict=True))
    text = around.format(json.dumps(data, ensure_ascii=ascii_only, indent=indent))
    record = parse_record(text, FIELDS)
    assert (record.data, record.status, record.missing) == (data, "ok", ())
    for value, (start, end) in zip(record.data.values(), record.spans, strict=True):
        assert json.loads(f'"{text[start:end]}"') == value


@pytest.mark.parametrize("unit", ["{", '{"Action": "', '{"Action": {', "\\frac{1}{", "```{"])
def test_a_model_that_repeats_itself_for_a_megabyte_does_not_hold_up_a_run(unit: str) -> None:
    record = parse_record(unit * (1_000_000 // len(unit)), ("Action", "State", "Result"))
    assert record.status in ("unparsed", "missing_fields")


def test_the_record_is_found_behind_a_megabyte_of_reasoning() -> None:
    text = "so to speak, " * 80_000 + '{"Action": "a", "State": "s", "Result": "r"}'
    assert parse_record(text, ("Action", "State", "Result")).status == "ok"
