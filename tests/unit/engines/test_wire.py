from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parley.engines.wire import Dialect, body, read
from parley.errors import RequestRefused
from parley.protocols import Model
from parley.types import Request, Sampling

NATIVE = Model(name="Qwen/Qwen3-8B", label="qwen3-8b", context=4096)
PROMPTED = Model(name="m", label="m", context=4096, reasoning="prompted")


def request(**changes: Any) -> Request:
    settings: dict[str, Any] = {
        "messages": (("system", "Be brief.\n"), ("user", "Hi.\n")),
        "sampling": Sampling(temperature=0.6, top_p=0.95, top_k=20, min_p=0.0, max_tokens=64),
        "seed": 7,
        "thinking": False,
    }
    return Request(**{**settings, **changes})


def sent(model: Model = NATIVE, dialect: Dialect = "vllm", **changes: Any) -> Any:
    return orjson.loads(body(request(**changes), model=model, served="served", dialect=dialect))


def test_all_settings_of_a_call_are_in_its_body() -> None:
    assert sent() == {
        "model": "served",
        "messages": [
            {"role": "system", "content": "Be brief.\n"},
            {"role": "user", "content": "Hi.\n"},
        ],
        "temperature": 0.6,
        "top_p": 0.95,
        "top_k": 20,
        "min_p": 0.0,
        "max_tokens": 64,
        "seed": 7,
        "chat_template_kwargs": {"enable_thinking": False},
        "return_token_ids": True,
    }


def test_what_is_left_to_the_server_is_not_sent() -> None:
    fields = sent(PROMPTED, "openai", sampling=Sampling(temperature=0.0))
    assert not fields.keys() & {"top_k", "min_p", "chat_template_kwargs", "return_token_ids"}
    assert not fields.keys() & {"verbose", "return_tokens", "response_format"}


@pytest.mark.parametrize("thinking", [True, False])
def test_thinking_is_switched_by_the_template_of_a_native_reasoner_only(thinking: bool) -> None:
    assert sent(thinking=thinking)["chat_template_kwargs"] == {"enable_thinking": thinking}
    assert "chat_template_kwargs" not in sent(PROMPTED, thinking=thinking)


def test_a_models_own_template_arguments_are_added() -> None:
    model = Model(name="m", label="m", context=99, reasoning="none", template={"tools": "no"})
    assert sent(model)["chat_template_kwargs"] == {"tools": "no"}


def test_each_dialect_asks_for_token_ids_in_its_own_way() -> None:
    assert sent(dialect="llamacpp")["return_tokens"] is True
    assert sent(dialect="llamacpp")["verbose"] is True
    assert "return_token_ids" not in sent(dialect="llamacpp")


def test_a_schema_becomes_a_response_format() -> None:
    schema = {"type": "object", "properties": {"Result": {"type": "string"}}}
    assert sent(schema=schema)["response_format"]["json_schema"]["schema"] == schema


def test_text_that_is_not_unicode_is_refused_not_a_crash() -> None:
    with pytest.raises(RequestRefused):
        sent(messages=(("user", "half a \ud83d pair\n"),))


def test_token_ids_are_read_where_each_dialect_puts_them() -> None:
    choice = {"message": {"content": "a"}, "finish_reason": "stop", "token_ids": [5, 2]}
    reply = read({"choices": [choice], "prompt_token_ids": [1, 9]}, "vllm")
    assert (reply.ids, reply.prompt_ids) == ((5, 2), (1, 9))
    verbose = {"tokens": [5, 2], "prompt": "<|im_start|>assistant\n<think>\n"}
    reply = read({"choices": [choice], "__verbose": verbose}, "llamacpp")
    assert (reply.ids, reply.prompt_ids, reply.opened) == ((5, 2), None, True)
    assert read({"choices": [choice]}, "openai").ids is None


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "usage", "reasoning", "prompt_tokens_details"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_json, st.sampled_from(["openai", "vllm", "llamacpp"]))
def test_any_json_is_a_reply_or_a_value_error(answer: Any, dialect: Dialect) -> None:
    try:
        reply = read(answer, dialect)
    except ValueError:
        return
    assert isinstance(reply.content, str)
    assert isinstance(reply.reasoning, str)


@given(_json)
def test_any_usage_is_read_without_a_crash(usage: Any) -> None:
    answer = {"choices": [{"message": {"content": "a"}}], "usage": usage}
    try:
        reply = read(answer, "openai")
    except ValueError:
        return
    assert reply.prompt is None or reply.prompt > 0
