"""One call: its seed, its room for new tokens, its hash, and what it costs the next one."""

from __future__ import annotations

from dataclasses import asdict

import orjson

from core_cases import answered, arm, calls, play, problem
from parley.strategies.concise import Concise
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full
from parley.strategies.pact import Pact
from parley.strategies.summary import Summary
from parley.types import Paragraph


async def test_arms_are_paired_by_their_seeds() -> None:
    full, _ = await play(arm(Full()), answered)
    for strategy in (Concise(), Conclusion(), Pact()):
        other, _ = await play(arm(strategy), answered)
        assert [call.seed for call in calls(other)] == [call.seed for call in calls(full)]
    summed, _ = await play(arm(Summary(by="call")), answered)
    speeches = [call.seed for call in calls(summed) if call.kind == "speak"]
    assert speeches == [call.seed for call in calls(full)]
    reseeded, _ = await play(arm(Full(), seed=7), answered)
    assert not {call.seed for call in calls(reseeded)} & {call.seed for call in calls(full)}


async def test_four_samples_are_four_draws_d07() -> None:
    given = arm(Concise(), seed=7)
    played = [await play(given, answered, sample=sample) for sample in range(4)]
    seeds = [request.seed for _, talked in played for request in talked.requests]
    assert len(set(seeds)) == 16
    assert 7 not in seeds
    pinned = [{request.affinity for request in talked.requests} for _, talked in played]
    assert all(len(one) == 1 for one in pinned), "an episode stays on one server"
    assert [episode.sample for episode, _ in played] == [0, 1, 2, 3]


async def test_new_tokens_shrink_to_what_the_context_leaves() -> None:
    given = arm(Concise(), context=190, max_tokens=160, floor_tokens=16)
    episode, talked = await play(given, answered)
    assert episode.failure is None
    rooms = [request.sampling.max_tokens for request in talked.requests]
    assert rooms == [190 - call.usage.prompt for call in calls(episode)]
    assert rooms == sorted(rooms, reverse=True)
    assert rooms[0] < 160
    assert [call.max_tokens for call in calls(episode)] == rooms


async def test_a_text_of_one_token_a_byte_shrinks_too() -> None:
    """Digits are such a text for Qwen's tokenizer; lines of one letter are for this fake."""
    rows = problem(shares=((Paragraph(title="T", text="7\n" * 400),), ()))
    given = arm(Concise(), context=1100, max_tokens=400)
    episode, talked = await play(given, lambda request: "So.", question=rows)
    assert episode.failure is None
    assert talked.requests[0].sampling.max_tokens == 1100 - calls(episode)[0].usage.prompt < 400


async def test_below_the_floor_the_episode_overflows_without_a_call() -> None:
    given = arm(Concise(), context=190, max_tokens=160, floor_tokens=150)
    episode, talked = await play(given, answered)
    assert episode.failure is not None
    assert (episode.failure.error, episode.failure.repeat) == ("ContextOverflow", False)
    assert "floor_tokens=150" in episode.failure.message
    assert talked.requests == []
    roomy = arm(Concise(), context=400, max_tokens=20, floor_tokens=150)
    episode, talked = await play(roomy, answered)
    assert [request.sampling.max_tokens for request in talked.requests] == [20] * 4


async def test_the_same_call_in_two_arms_is_reused() -> None:
    """The first turn of `full` and of `conclusion` is one call; only what is published differs."""
    first, _ = await play(arm(Full()), answered)
    stored = orjson.loads(orjson.dumps([asdict(call) for call in calls(first)]))
    known = {call["request_hash"]: call for call in stored}
    assert len(known) == 4
    second, talked = await play(arm(Conclusion()), answered, reuse=known.get)
    assert [call.reused for call in calls(second)] == [True, False, False, False]
    assert len(talked.requests) == 3
    fresh, _ = await play(arm(Conclusion()), answered)
    ours, theirs = calls(second)[0], calls(fresh)[0]
    assert (ours.tokens, ours.usage) == (theirs.tokens, theirs.usage)
    assert (ours.latency, ours.attempts, ours.waste) == (0.0, 1, 0)
    assert second.turns[0].message == fresh.turns[0].message


async def test_full_costs_the_next_call_the_reasoning_b11() -> None:
    """Were the reasoning dropped on its way, two arms of the experiment would be one."""
    for reasoning in ("native", "prompted"):
        full, _ = await play(arm(Full(), reasoning=reasoning), answered)
        conclusion, _ = await play(arm(Conclusion(), reasoning=reasoning), answered)
        pairs = zip(calls(full), calls(conclusion), strict=True)
        more = [one.usage.prompt - other.usage.prompt for one, other in pairs]
        # "I am number N." and the line break behind it, once for each message heard.
        assert more == [0, 5, 10, 15]
        reasoned = [call.tokens.published_reasoning for call in calls(full)]
        assert reasoned == [4, 4, 4, 0]
        assert [call.tokens.reasoning for call in calls(conclusion)] == [4, 4, 4, 4]


async def test_concise_turns_thinking_off() -> None:
    for answer_thinks in (False, True):
        given = arm(Concise(answer_thinks=answer_thinks))
        _, talked = await play(given, answered)
        assert [r.thinking for r in talked.requests] == [False] * 3 + [answer_thinks]
