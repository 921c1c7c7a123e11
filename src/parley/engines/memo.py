"""Values worked out once, however many ask for them at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

A = TypeVar("A", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[A, V]):
    """Remembers `work(argument)` for the `capacity` arguments used last, not its failures.

    Arguments are told apart by their hash, so that long texts are not kept.
    """

    def __init__(self, work: Callable[[A], Awaitable[V]], capacity: int = 65536) -> None:
        self._work, self._capacity = work, capacity
        self._known: dict[int, V] = {}
        self._pending: dict[int, asyncio.Task[V]] = {}

    async def get(self, argument: A) -> V:
        key = hash(argument)
        if key in self._known:
            value = self._known[key] = self._known.pop(key)
            return value
        task = self._pending.get(key)
        if task is None:
            task = self._pending[key] = asyncio.ensure_future(self._remember(key, argument))
            task.add_done_callback(lambda done: self._settle(key, done))
        # Others wait for the same task: one who is cancelled must not take it along.
        return await asyncio.shield(task)

    async def _remember(self, key: int, argument: A) -> V:
        value = self._known[key] = await self._work(argument)
        while len(self._known) > self._capacity:
            self._known.pop(next(iter(self._known)))
        return value

    def _settle(self, key: int, done: asyncio.Task[V]) -> None:
        self._pending.pop(key, None)
        if not done.cancelled():
            done.exception()  # seen, even if nobody waits any more

    async def close(self) -> None:
        """Ends what is still being worked out."""
        tasks = list(self._pending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
