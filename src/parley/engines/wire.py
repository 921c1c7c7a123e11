"""The chat protocol on the wire: a request's body, and what an answer says. Pure.

Four dialects of one protocol: `openai` (no token ids), `vllm` and `llamacpp` (token ids on
request, each in its own place) and `transformers` (no token ids; half of the sampling settings in
a string of their own).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import orjson

from parley.errors import RequestRefused
from parley.protocols import Model
from parley.types import Request, Sampling

Dialect = Literal["openai", "vllm", "llamacpp", "transformers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer as the server gave it. Counts are None where it did not report them.

    `opened`: the chat template left an open think block at the prompt's end; None if unknown.
    """

    content: str
    reasoning: str
    finish: str
    prompt: int | None
    completion: int | None
    cached: int
    reasoning_tokens: int | None
    ids: tuple[int, ...] | None
    prompt_ids: tuple[int, ...] | None
    opened: bool | None


def body(request: Request, *, model: Model, served: str, dialect: Dialect) -> bytes:
    """The JSON body of a chat completion. Raises RequestRefused for text that is not Unicode, and
    for a schema in a dialect that has none."""
    sampling = request.sampling
    fields: dict[str, Any] = {
        "model": served,
        "messages": [{"role": role, "content": text} for role, text in request.messages],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": request.seed,
    }
    if dialect == "transformers":
        fields["generation_config"] = _generation(sampling)
    else:
        fields |= _given(sampling)
    if template := template_arguments(request, model):
        fields["chat_template_kwargs"] = template
    if request.schema is not None and dialect == "transformers":
        raise RequestRefused(
            "`transformers serve` ignores a schema: nothing would make the output follow it",
            remedy="strategy.structured=false, or engine=vllm",
        )
    if request.schema is not None:
        fields["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "record", "schema": request.schema, "strict": True},
        }
    if dialect == "vllm":
        fields["return_token_ids"] = True
    elif dialect == "llamacpp":
        fields["return_tokens"] = fields["verbose"] = True
    try:
        return orjson.dumps(fields)
    except orjson.JSONEncodeError as error:
        raise RequestRefused(f"the request cannot be written as JSON: {error}") from None


def _given(sampling: Sampling) -> dict[str, float]:
    """The settings beyond the protocol's own that are not left to the server."""
    settings = {"top_k": sampling.top_k, "min_p": sampling.min_p}
    return {name: value for name, value in settings.items() if value is not None}


def _generation(sampling: Sampling) -> str:
    """What `transformers serve` takes in no other way.

    Without `do_sample` it is greedy at any temperature, unless the model's own settings say
    otherwise; without a `top_k` it keeps 50 candidates. 0 is off, for it knows no -1.
    """
    given = _given(sampling)
    settings = {
        "do_sample": sampling.temperature > 0,
        **given,
        "top_k": max(0, int(given.get("top_k", 0))),
    }
    return orjson.dumps(settings).decode()


def template_arguments(request: Request, model: Model) -> dict[str, object]:
    """Chat-template arguments: the thinking switch of a native reasoner, and the model's own."""
    if model.reasoning == "native":
        return {"enable_thinking": request.thinking, **model.template}
    return dict(model.template)


def read(answer: Any, dialect: Dialect) -> Reply:
    """What a decoded answer says. Raises ValueError where it is no chat completion."""
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        usage = answer.get("usage") or {}
        # Servers say `reasoning`, `reasoning_content`, or both with the same text.
        reasoning = message.get("reasoning") or message.get("reasoning_content") or ""
        content = message.get("content") or ""
        if not isinstance(content, str) or not isinstance(reasoning, str):
            raise ValueError("the message's content is not text")
        ids, prompt_ids, opened = _tokens(answer, choice, dialect)
        return Reply(
            content=content,
            reasoning=reasoning,
            finish=str(choice.get("finish_reason") or ""),
            prompt=_count(usage.get("prompt_tokens")),
            completion=_count(usage.get("completion_tokens")),
            cached=_count((usage.get("prompt_tokens_details") or {}).get("cached_tokens")) or 0,
            reasoning_tokens=_count(
                (usage.get("completion_tokens_details") or {}).get("reasoning_tokens")
            ),
            ids=ids,
            prompt_ids=prompt_ids,
            opened=opened,
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"no chat completion: {type(error).__name__} {error}") from None


def _tokens(
    answer: Any, choice: Any, dialect: Dialect
) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None, bool | None]:
    if dialect == "vllm":
        return _ids(choice.get("token_ids")), _ids(answer.get("prompt_token_ids")), None
    if dialect == "llamacpp":
        verbose = answer.get("__verbose") or {}
        prompt = verbose.get("prompt")
        opened = prompt.rstrip().endswith("<think>") if isinstance(prompt, str) else None
        return _ids(verbose.get("tokens")), None, opened
    return None, None, None


def _ids(value: Any) -> tuple[int, ...] | None:
    return tuple(value) if isinstance(value, list) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
