from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.redaction import REDACTED, redact, redact_error, redact_text

SECRET = "hunter2hunter2hunter2"


SECRET_NAMES = (
    *("api_key", "apiKey", "API-KEY", "key", "token", "hf_token", "accessToken", "password"),
    *("Authorization", "X-Api-Key", "client_secret", "passwd", "AWS_SECRET_ACCESS_KEY"),
    *("wandb.api_key", "credentials", "api_keys", "passwords"),
)


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_values_under_secret_names_are_redacted(name: str) -> None:
    assert redact({name: SECRET}) == {name: REDACTED}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tokens", 512),
        ("tokens_total", 7),
        ("tokenizer", "Qwen/Qwen3-8B"),
        ("eos_token", "<|im_end|>"),
        ("stop_tokens", ["<|im_end|>"]),
        ("api_key_env", "OPENAI_API_KEY"),
        ("keyword", "x"),
        ("author", "Ada"),
        ("secretary", "Ada"),
        ("keys", ["f1", "em"]),
    ],
)
def test_names_that_only_resemble_secrets_stay(name: str, value: object) -> None:
    assert redact({name: value}) == {name: value}


@pytest.mark.parametrize("value", [None, True, False, ""])
def test_whether_a_secret_is_set_stays_visible(value: object) -> None:
    assert redact({"api_key": value}) == {"api_key": value}


def test_nested_mappings_and_sequences_are_redacted_and_the_input_is_left_alone() -> None:
    given_: dict[str, Any] = {
        "engine": {"url": [f"http://me:{SECRET}@host/v1", "http://host/v1"], "headers": {}},
        "headers": ({"Authorization": f"Bearer {SECRET}"}, {"Accept": "text/plain"}),
        "credentials": {"user": "ada", "numbers": [1, 2]},
        "seed": 42,
    }
    assert redact(given_) == {
        "engine": {"url": [f"http://{REDACTED}@host/v1", "http://host/v1"], "headers": {}},
        "headers": ({"Authorization": REDACTED}, {"Accept": "text/plain"}),
        "credentials": {"user": REDACTED, "numbers": [REDACTED, REDACTED]},
        "seed": 42,
    }
    assert given_["engine"]["url"][0] == f"http://me:{SECRET}@host/v1"


def test_the_value_after_a_secret_flag_is_redacted() -> None:
    arguments = ["--port", "8000", "--api-key", SECRET, f"--token={SECRET}", "--max-tokens", "9"]
    redacted = ["--port", "8000", "--api-key", REDACTED, f"--token={REDACTED}", "--max-tokens", "9"]
    assert redact({"args": arguments}) == {"args": redacted}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://me:p@ss@host:8000/v1", f"http://{REDACTED}@host:8000/v1"),
        ("git+https://ghp@github.com/a/b.git", f"git+https://{REDACTED}@github.com/a/b.git"),
        ("GET https://h/v1?x=1&api_key=abc&y=2", f"GET https://h/v1?x=1&api_key={REDACTED}&y=2"),
        ("https://h/v1?key=abc", f"https://h/v1?key={REDACTED}"),
        ("header: Bearer abc.def-123", f"header: Bearer {REDACTED}"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {REDACTED}"),
        ("serve --api-key abc --port 1", f"serve --api-key {REDACTED} --port 1"),
        ('{"password": "abc", "n": 1}', f'{{"password": "{REDACTED}", "n": 1}}'),
        ("bad key sk-abcdefghijklmnopqrst in use", f"bad key {REDACTED} in use"),
        (f"hf_{'a' * 34}", REDACTED),
    ],
)
def test_secrets_of_a_known_shape_are_redacted_in_text(text: str, expected: str) -> None:
    assert redact_text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "http://host:8000/v1?q=a@b",
        "mail ada@example.org",
        "the token budget is 512",
        "max_tokens=512, tokens: 7",
        "basic understanding",
        "git@github.com:a/b.git",
        "42a1b7c0" * 5,
    ],
)
def test_plain_text_stays(text: str) -> None:
    assert redact_text(text) == text


def test_an_error_becomes_one_short_line_without_secrets() -> None:
    error = ValueError(f"cannot reach http://me:{SECRET}@host\nsecond line")
    assert redact_error(error) == f"ValueError: cannot reach http://{REDACTED}@host"
    assert redact_error(KeyError()) == "KeyError"
    assert len(redact_error(ValueError("x" * 9999))) == 300


PLAIN = st.text(string.ascii_letters + string.digits + " :/@=&?-._\"'", max_size=40)
LEAF = PLAIN | st.integers() | st.none() | st.booleans()
NAMES = st.sampled_from(["api_key", "url", "args", "token", "max_tokens", "password", "x"])
NESTED = st.dictionaries(
    NAMES,
    st.recursive(
        LEAF,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


@given(NESTED)
def test_redacting_twice_changes_nothing_more(mapping: dict[str, Any]) -> None:
    once = redact(mapping)
    assert redact(once) == once


@given(PLAIN)
def test_redacting_a_text_twice_changes_nothing_more(text: str) -> None:
    assert redact_text(redact_text(text)) == redact_text(text)


@given(
    st.lists(st.sampled_from(["a", "b"]) | st.integers(0, 2), max_size=4),
    st.sampled_from(
        [
            {"api_key": SECRET},
            {"url": f"https://u:{SECRET}@h/"},
            {"args": ["--password", SECRET]},
            {"header": f"Bearer {SECRET}"},
        ]
    ),
)
def test_no_depth_hides_a_secret(path: list[str | int], inner: dict[str, Any]) -> None:
    value: Any = inner
    for step in path:
        value = {step: value} if isinstance(step, str) else [*[0, value][:step], value]
    assert SECRET not in str(redact({"top": value}))


def test_time_stays_linear_in_the_text() -> None:
    for text in ("a-" * 50_000, "http." * 20_000, "--" * 50_000, " -a" * 30_000):
        assert redact_text(text) == text
