"""Calls of earlier records, found again by the hash of their request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import store_cases
from core_cases import arm, calls, play
from parley.errors import StoreError
from parley.reuse import Recorded
from parley.store import ArmWriter
from parley.strategies.conclusion import Conclusion
from parley.strategies.full import Full

ANSWERS = ["<think>\nSo.\n</think>\n\nAnn wrote it."] * 3 + ["Answer: Lyon"]


async def test_a_whole_arm_is_taken_from_its_records(tmp_path: Path) -> None:
    first, _ = await play(arm(Full()), ANSWERS)
    with ArmWriter.open(tmp_path / "study" / "arm", store_cases.manifest()) as writer:
        writer.append(first)
    recorded = Recorded.load([tmp_path / "study"])
    assert set(recorded.calls) == {call.request_hash for call in calls(first)}
    again, talked = await play(arm(Full()), [], reuse=recorded.find)
    assert talked.requests == []
    assert all(call.reused for call in calls(again))
    for old, new in zip(calls(first), calls(again), strict=True):
        assert (new.tokens, new.usage, new.visible) == (old.tokens, old.usage, old.visible)
    assert [turn.message for turn in again.turns] == [turn.message for turn in first.turns]
    assert again.score == first.score
    other, talked = await play(arm(Conclusion()), ANSWERS, reuse=recorded.find)
    assert [call.reused for call in calls(other)] == [True, False, False, False]
    assert recorded.find("no such hash") is None


async def test_another_seed_model_or_setting_is_another_call(tmp_path: Path) -> None:
    known = {call.request_hash for call in calls((await play(arm(Full()), ANSWERS))[0])}
    templated = arm(Full())
    for other in (
        arm(Full(), seed=7),
        arm(Full(), max_tokens=400),
        arm(Full(), shots=1),
        arm(Full(), reasoning="none"),
        replace(templated, model=replace(templated.model, template={"tools": "none"})),
        replace(templated, model=replace(templated.model, revision="other")),
        arm(Full(thinks=False, answer_thinks=False)),
    ):
        episode, _ = await play(other, ANSWERS)
        assert not known & {call.request_hash for call in calls(episode)}


def test_a_folder_without_records_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        Recorded.load([tmp_path / "nothing"])
