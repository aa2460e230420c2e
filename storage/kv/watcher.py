"""Watcher: one watch. It replays the engine's history, then follows the feed, and replays again when the feed dropped
it.

Must hold: events come without gap or repetition at each change between the two. The watcher joins the feed at the
feed's revision. All events up to there are in the history, or compacted, and then the replay raises. A cancelled wait
loses nothing, and iterating may go on.
"""

from typing import Self

from aio_apiserver.storage.kv.feed import Feed
from aio_apiserver.storage.kv.interface import EventBatch
from aio_apiserver.storage.kv.replay import Replay, Replaying


class LocalWatcher:
    """An asynchronous iterator of batches, from `revision` on."""

    def __init__(self, start: bytes, end: bytes, *, revision: int, feed: Feed, replay: Replaying) -> None:
        self._feed = feed
        self._replay = replay
        self._subscription = feed.subscribe(start, end)
        self._position = revision
        """While replaying: the first revision that was not replayed yet."""
        self._replay_until = 0
        self._is_left = False
        self._join()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> EventBatch:
        while not self._is_left:
            batch = await self._next()
            if batch is not None and not self._is_left:
                return batch
        raise StopAsyncIteration

    def leave(self) -> None:
        """End the watch, also for a task that is iterating."""
        self._is_left = True
        self._feed.unsubscribe(self._subscription)
        self._subscription.wake()

    @property
    def _is_replaying(self) -> bool:
        return self._position <= self._replay_until

    async def _next(self) -> EventBatch | None:
        subscription = self._subscription
        if subscription.failure is not None:
            raise subscription.failure
        if subscription.lost_from is not None:
            self._join_again(subscription.lost_from)
        if self._is_replaying:
            return await self._replay_part()
        batch = subscription.pop()
        if batch is None:
            await subscription.wait_until_changed()
        return batch

    async def _replay_part(self) -> EventBatch | None:
        start, end = self._subscription.scope
        part = await self._replay(Replay(start=start, end=end, first=self._position, last=self._replay_until))
        self._position = part.next_revision
        return EventBatch(part.events, part.events[-1].record.mod_revision) if part.events else None

    def _join_again(self, lost_from: int) -> None:
        if not self._is_replaying:
            self._position = lost_from
        self._join()

    def _join(self) -> None:
        self._replay_until = current = self._feed.revision
        self._subscription.join(max(self._position, current + 1), current=current)
