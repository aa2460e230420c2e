"""Unknown outcomes: finds out whether etcd has applied a write whose answer was lost.

After a broken connection, a dead member or a timeout, the write may have been applied or may still be applied. Its
proposal may be on its way between members. It is never sent again. These conclusions are possible from reading, for a
compare-and-set on mod_revision E that was sent when the store's revision was at least S:

- The key had another mod_revision than E (E > 0) at S already. The comparison cannot hold now or later,
  because mod_revisions do not come back. The write is lost.
- The first change of the key after S is a put of our value and lease. The write has taken effect, in that revision.
  Another writer's write of the same bytes on the same E looks the same. If that writer uses this engine, the engine
  knows the write and concludes nothing. If it is another process, the state is the one that both requested. Objects
  with a uid or their writer's name differ anyway.
- The first change after S is a deletion, and ours is one: nothing follows, since all deletions look the same. Another
  process may have deleted the object, and one object is deleted by one client.
- The first change after S is another one, and E > 0: the write is lost, as above.
- The first change after S is another one, and E is 0: nothing follows. Once the key is deleted, a create that
  is still under way would be applied. Finding our own creation decides.
- Nothing has changed: nothing follows. The proposal may be applied in a moment, so the engine waits for changes for
  a short time. After that the outcome is unknown.

Must hold: "succeeded" and "lost" are returned if they are known to stay true; else it is DeadlineExceeded.
"""

import asyncio

from msgspec import Struct

from aio_apiserver.storage.errors import Closed, DeadlineExceeded, StorageError
from aio_apiserver.storage.kv.etcd import messages
from aio_apiserver.storage.kv.etcd.endpoint import RANGE
from aio_apiserver.storage.kv.etcd.requests import InDoubt, Requests
from aio_apiserver.storage.kv.etcd.revision import RevisionSeen
from aio_apiserver.storage.kv.etcd.watch_stream import EtcdWatchStream
from aio_apiserver.storage.kv.interface import Event, EventType, WriteResult
from aio_apiserver.storage.record import Record

_PATIENCE = 2.0
"""Seconds in which a cluster with a leader applies a proposal that is under way; usual are milliseconds."""


class Write(Struct, kw_only=True):
    """A compare-and-set under way. value: None for a deletion. seen: a revision of the store before the write."""

    key: bytes
    value: bytes | None
    lease: int
    expected_mod_revision: int
    seen: int
    has_twin: bool = False

    def is_like(self, other: "Write") -> bool:
        """Whether the two writes have the same effect."""
        return (
            self.expected_mod_revision == other.expected_mod_revision
            and self.lease == other.lease
            and self.value == other.value
        )

    def explains(self, event: Event) -> bool:
        """Whether this write has the effect that the event shows."""
        if self.value is None:
            return event.type is EventType.DELETE
        record = event.record
        return (
            event.type is EventType.PUT
            and event.is_create == (self.expected_mod_revision == 0)
            and record.lease == self.lease
            and record.value == self.value
        )


class UnknownOutcomes:
    """The writes that are under way in one engine."""

    def __init__(self, requests: Requests, stream: EtcdWatchStream, seen: RevisionSeen) -> None:
        self._requests = requests
        self._stream = stream
        self._seen = seen
        self._under_way: dict[bytes, list[Write]] = {}

    def begin(self, key: bytes, value: bytes | None, *, expected_mod_revision: int, lease: int = 0) -> Write:
        """Remember a write before it is sent."""
        write = Write(
            key=key, value=value, lease=lease, expected_mod_revision=expected_mod_revision, seen=self._seen.value
        )
        others = self._under_way.setdefault(key, [])
        for other in others:
            if other.is_like(write):
                other.has_twin = write.has_twin = True
        others.append(write)
        return write

    def end(self, write: Write) -> None:
        """Forget a write."""
        writes = self._under_way[write.key]
        if len(writes) == 1:
            del self._under_way[write.key]
        else:
            writes[:] = [other for other in writes if other is not write]

    async def resolve(self, write: Write, doubt: InDoubt) -> WriteResult:
        """The outcome of a write. Raises DeadlineExceeded when it cannot be known."""
        result = None
        try:
            async with asyncio.timeout(doubt.seconds):
                result = await self._find_out(write)
        except Closed:
            raise
        except (StorageError, TimeoutError):
            pass  # what went wrong with the write says more
        if result is None:
            raise DeadlineExceeded(f"the outcome of the write is unknown: {doubt.error}") from doubt.error
        return result

    async def _find_out(self, write: Write) -> WriteResult | None:
        since = max(write.seen, write.expected_mod_revision)
        if write.expected_mod_revision:
            before, _ = await self._read(write.key, since)
            if before is None or before.mod_revision != write.expected_mod_revision:
                return await self._lost(write)
        event = await self._first_decisive_change(write, since + 1)
        if event is None:
            return None
        if not write.explains(event):
            return await self._lost(write)
        if write.has_twin or write.value is None:
            return None
        return WriteResult(True, event.record.mod_revision)

    async def _first_decisive_change(self, write: Write, revision: int) -> Event | None:
        """The change of the key that decides the outcome; None when there is none."""
        watcher = self._stream.add(write.key, write.key + b"\x00", revision)
        try:
            async with asyncio.timeout(_PATIENCE):
                async for batch in watcher:
                    for event in batch.events:
                        if write.expected_mod_revision or write.explains(event):
                            return event
        except TimeoutError:
            pass
        finally:
            self._stream.remove(watcher)
        return None

    async def _lost(self, write: Write) -> WriteResult:
        record, revision = await self._read(write.key, 0)
        return WriteResult(False, revision, record)

    async def _read(self, key: bytes, revision: int) -> tuple[Record | None, int]:
        response = await self._requests.repeat(RANGE, messages.get(key, revision))
        return messages.record_in(response), response.header.revision
