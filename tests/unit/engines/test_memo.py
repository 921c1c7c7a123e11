from __future__ import annotations

import asyncio

import pytest

from parley.engines.memo import Memo


async def test_many_askers_one_piece_of_work() -> None:
    worked: list[str] = []

    async def work(key: str) -> int:
        worked.append(key)
        await asyncio.sleep(0.01)
        return len(key)

    memo = Memo(work)
    assert await asyncio.gather(*(memo.get("abc") for _ in range(50))) == [3] * 50
    assert await memo.get("abc") == 3
    assert worked == ["abc"]


async def test_one_cancelled_asker_does_not_take_the_others_along() -> None:
    async def work(key: str) -> int:
        await asyncio.sleep(0.02)
        return 1

    memo = Memo(work)
    first, second = (asyncio.ensure_future(memo.get("a")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 1


async def test_a_failure_is_told_to_all_and_not_remembered() -> None:
    calls = 0

    async def work(key: str) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError("once")
        return 5

    memo = Memo(work)
    with pytest.raises(OSError, match="once"):
        await memo.get("a")
    assert await memo.get("a") == 5


async def test_the_least_used_is_forgotten() -> None:
    worked: list[int] = []

    async def work(key: int) -> int:
        worked.append(key)
        return key

    memo = Memo(work, capacity=2)
    for key in (1, 2, 1, 3, 1, 2):
        await memo.get(key)
    assert worked == [1, 2, 3, 2]


async def test_closing_ends_what_is_pending() -> None:
    async def work(key: str) -> int:
        await asyncio.sleep(60)
        return 1

    memo = Memo(work)
    asker = asyncio.ensure_future(memo.get("a"))
    await asyncio.sleep(0)
    await memo.close()
    with pytest.raises(asyncio.CancelledError):
        await asker
