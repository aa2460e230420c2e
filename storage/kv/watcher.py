"""Watcher: one watch. It replays what is in the table, then goes on with the feed, and back whenever it has lost.

Must hold: what it gives out goes on without gap or repeat at each of those joints: it joins the feed at the feed's
revision, and everything up to there is in the table. A cancelled wait loses nothing; iterating may go on.
"""

from storage.kv.interface import EventBatch
from storage.kv.sqlite import reads
from storage.kv.sqlite.feed import Feed
from storage.kv.sqlite.reader import Reader


class Watcher:
    """An asynchronous iterator of batches, from `revision` on."""

    def __init__(self, start: bytes, end: bytes, *, revision: int, feed: Feed, reader: Reader) -> None:
        self._feed = feed
        self._reader = reader
        self._subscription = feed.subscribe(start, end)
        self._position = revision
        """While replaying: the first revision that was not replayed yet."""
        self._replay_until = 0
        self._is_left = False
        self._join()

    def __aiter__(self) -> "Watcher":
        return self

    async def __anext__(self) -> EventBatch:
        while not self._is_left:
            batch = await self._next()
            if batch is not None:
                return batch
        raise StopAsyncIteration

    def leave(self) -> None:
        """End the watch: whoever iterates gets no more."""
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
            return await self._replay()
        batch = subscription.pop()
        if batch is None:
            await subscription.wait_until_changed()
        return batch

    async def _replay(self) -> EventBatch | None:
        start, end = self._subscription.scope
        part = await self._reader.replay(
            reads.Replay(start=start, end=end, first=self._position, last=self._replay_until)
        )
        self._position = part.next_revision
        return EventBatch(part.events, part.events[-1].record.mod_revision) if part.events else None

    def _join_again(self, lost_from: int) -> None:
        if not self._is_replaying:
            self._position = lost_from
        self._join()

    def _join(self) -> None:
        self._replay_until = current = self._feed.revision
        self._subscription.join(max(self._position, current + 1), current=current)
