from __future__ import annotations

import time
from email.utils import formatdate

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.engines.failures import Retriable, clean, failure, wait_asked
from parley.errors import ContextOverflow, ParleyError, RequestRefused, TransportError
from shared_data import case

URL = "http://host:8000"


def of(status: int, body: object) -> Retriable | ParleyError:
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    return failure(status, raw, context=2048, url=URL)


def test_d01_all_wordings_of_a_context_overflow() -> None:
    for body in case("D01")["input"]:
        error = of(400, body)
        assert isinstance(error, ContextOverflow)
        # The sizes are the configured ones, not those of the message.
        assert "2048" in str(error)
        assert "16384" not in str(error)
        assert " 3 tokens" not in str(error)


@pytest.mark.parametrize(
    "body",
    [
        {
            "error": {
                "code": 400,
                "message": "request (10031 tokens) exceeds the available context size (4096)",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 10031,
                "n_ctx": 4096,
            }
        },
        {"error": {"message": "too long", "code": "context_length_exceeded"}},
        {"error": {"message": "max_tokens must be at least 1, got -180.", "code": 400}},
        b"This model's maximum context length is 2048 tokens.",
    ],
)
@pytest.mark.parametrize("status", [400, 413, 500])
def test_other_servers_word_it_otherwise(body: object, status: int) -> None:
    assert isinstance(of(status, body), ContextOverflow)


def test_a_rate_limit_that_speaks_of_context_is_still_a_rate_limit() -> None:
    body = {"error": {"message": "rate limit; the maximum context length counts too"}}
    assert isinstance(of(429, body), Retriable)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_named_statuses_are_repeated(status: int) -> None:
    assert isinstance(of(status, {"error": "busy"}), Retriable)


def test_an_exhausted_quota_is_not() -> None:
    body = {"error": {"message": "pay first", "type": "insufficient_quota"}}
    assert isinstance(of(429, body), RequestRefused)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 405, 422])
def test_refusals_carry_the_servers_words(status: int) -> None:
    error = of(status, {"error": {"message": "The model `nope` does not exist."}})
    assert isinstance(error, RequestRefused)
    assert "`nope`" in str(error)
    assert str(status) in str(error)
    assert "next:" in str(error)


@pytest.mark.parametrize("status", [501, 505, 521])
def test_other_server_errors_fail_without_another_attempt(status: int) -> None:
    assert isinstance(of(status, b""), TransportError)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"message": "flat"}, "flat"),
        ({"error": "a string"}, "a string"),
        ({"detail": "fastapi"}, "fastapi"),
        ({"error": {"message": {"nested": "odd"}}}, "odd"),
        (b"<html><h1>Bad Gateway</h1></html>", "Bad Gateway"),
        (b"", "empty"),
        (b"\xff\xfe not utf-8", "not utf-8"),
        ([1, 2], "1,2"),
    ],
)
def test_a_body_of_any_shape_gives_its_words(body: object, said: str) -> None:
    assert said in str(of(400, body))


def test_tokens_that_a_failed_attempt_reports_are_waste() -> None:
    error = of(500, {"error": "died", "usage": {"prompt_tokens": 12, "completion_tokens": 300}})
    assert isinstance(error, Retriable)
    assert error.waste == 312


def test_secrets_and_markup_leave_a_foreign_text() -> None:
    said = clean("<b>bad key</b> my-own-key-1\nat http://me:pw@host", ["my-own-key-1"])
    assert "my-own-key-1" not in said
    assert "pw@" not in said
    assert "<b>" not in said
    assert "\n" not in said
    assert "bad key" in said


def test_d02_what_a_retry_after_header_asks_for() -> None:
    headers = [text.partition("Retry-After: ")[2] or None for text in case("D02")["input"]]
    assert [wait_asked(header, time.time()) for header in headers] == [
        2.0,
        None,
        None,
        3600.0,
        None,
        None,
    ]


def test_a_date_ahead_is_a_wait() -> None:
    now = time.time()
    asked = wait_asked(formatdate(now + 90, usegmt=True), now)
    assert asked is not None
    assert 88 <= asked <= 91


@given(st.text(max_size=40), st.integers(200, 599), st.binary(max_size=60))
def test_no_header_and_no_body_breaks_the_reading(header: str, status: int, body: bytes) -> None:
    asked = wait_asked(header, 1e9)
    assert asked is None or asked > 0
    assert isinstance(failure(status, body, context=1, url=URL), Retriable | ParleyError)
