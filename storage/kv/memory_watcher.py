"""MemoryWatcher: one watch on a History. It replays the kept revisions up to where its subscription begins.

Must hold: no revision lies between replay and subscription, and none is in both. A cancelled wait loses nothing;
iterating may go on.
"""

import asyncio
from typing import Self

from storage.errors import Compacted
from storage.kv.history import History
from storage.kv.interface import EventBatch
from storage.kv.subscriptions import Subscriptions, batch_of_range

_REVISIONS_PER_TURN = 1_000
"""How many revisions are replayed before others get the event loop: some 0.5 ms."""


class MemoryWatcher:
    """An asynchronous iterator of batches, from `revision` on."""

    def __init__(
        self, start: bytes, end: bytes, *, revision: int, history: History, subscriptions: Subscriptions
    ) -> None:
        self._history = history
        self._subscriptions = subscriptions
        self._next_revision = revision
        """While replaying: the first revision that was not replayed yet."""
        self._first_live = history.revision + 1
        self._subscription = subscriptions.add(start, end, first_revision=max(revision, self._first_live))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> EventBatch:
        while self._next_revision < self._first_live and not self._subscription.is_left:
            if self._next_revision % _REVISIONS_PER_TURN == 0:
                await asyncio.sleep(0)
            batch = self._replay()
            if batch is not None:
                return batch
        batch = await self._subscription.next()
        if batch is None:
            raise StopAsyncIteration
        return batch

    def leave(self) -> None:
        """End the watch: whoever iterates gets no more."""
        self._subscriptions.remove(self._subscription)

    def _replay(self) -> EventBatch | None:
        self._subscription.raise_failure()
        revision = self._next_revision
        if revision < self._history.compact_revision:
            raise Compacted(revision, self._history.compact_revision)
        self._next_revision += 1
        scope = self._subscription
        return batch_of_range(self._history.events(revision), revision, start=scope.start, end=scope.end)
