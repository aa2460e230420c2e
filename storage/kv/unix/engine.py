"""Engine: UnixKV, the kv contract in a process that shares the embedded store of another one.

Reads and writes are calls to the owner of the store. The newest revision is in memory that the processes share. Live
events come from the owner unasked. The watches are local: they replay the owner's history, then follow the events.

Must hold: the kv contract. When the owner is replaced, watches continue without a gap, and the revision does not
decrease.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.storage.errors import Closed, StorageError, TooLarge
from aio_apiserver.storage.health import Health
from aio_apiserver.storage.kv.feed import Feed
from aio_apiserver.storage.kv.interface import MAX_VALUE_BYTES, EventBatch, GetResult, RangeResult, WriteResult
from aio_apiserver.storage.kv.replay import Replay, Replayed
from aio_apiserver.storage.kv.unix import connection, revision_page
from aio_apiserver.storage.kv.unix.connection import Follower, OwnerConnection
from aio_apiserver.storage.kv.unix.messages import Published
from aio_apiserver.storage.kv.unix.revision_page import RevisionPage
from aio_apiserver.storage.kv.watcher import LocalWatcher

logger = logging.getLogger(__name__)

_HEALTH_SECONDS = 3.0


class UnixKV:
    """The store that the process behind a socket owns. That process need not answer yet.

    patience: how many seconds a request waits for it.
    """

    has_reliable_progress = True

    def __init__(self, path: Path, *, clock: Clock | None = None, patience: float = connection.PATIENCE) -> None:
        clock = clock or SystemClock()
        follower = Follower(self._begin, self._publish)
        self._path = path
        self._page: RevisionPage | None = None
        self._feed = Feed(0)
        self._owner = OwnerConnection(path, follower, clock.patience, patience=patience)

    async def get(self, key: bytes, *, revision: int = 0) -> GetResult:
        result: GetResult = await self._owner.call("get", key=key, revision=revision)
        return result

    async def range(
        self,
        start: bytes,
        end: bytes,
        *,
        limit: int = 0,
        revision: int = 0,
        keys_only: bool = False,
        count_only: bool = False,
    ) -> RangeResult:
        result: RangeResult = await self._owner.call(
            "range",
            start=start,
            end=end,
            limit=limit,
            revision=revision,
            keys_only=keys_only,
            count_only=count_only,
        )
        return result

    async def put(self, key: bytes, value: bytes, *, expected_mod_revision: int, lease: int = 0) -> WriteResult:
        if len(value) > MAX_VALUE_BYTES:
            raise TooLarge(f"value of {len(value)} bytes, at most {MAX_VALUE_BYTES} are allowed")
        result: WriteResult = await self._owner.call(
            "put", has_effect=True, key=key, value=value, expected_mod_revision=expected_mod_revision, lease=lease
        )
        return result

    async def delete(self, key: bytes, *, expected_mod_revision: int) -> WriteResult:
        result: WriteResult = await self._owner.call(
            "delete", has_effect=True, key=key, expected_mod_revision=expected_mod_revision
        )
        return result

    async def grant_lease(self, ttl: int) -> int:
        """Grant a lease. A repeated grant leaves at most an unused lease, which expires."""
        lease: int = await self._owner.call("grant_lease", ttl=ttl)
        return lease

    async def revoke_lease(self, lease: int) -> None:
        await self._owner.call("revoke_lease", has_effect=True, lease=lease)

    @asynccontextmanager
    async def watch(self, start: bytes, end: bytes, *, revision: int) -> AsyncIterator[AsyncIterator[EventBatch]]:
        await self._owner.wait_until_connected()
        watcher = LocalWatcher(start, end, revision=revision, feed=self._feed, replay=self._replay)
        try:
            yield watcher
        finally:
            watcher.leave()

    async def request_progress(self) -> None:
        """Report progress as soon as all events have come that are committed now."""
        await self._feed.wait_until_reached(await self.current_revision())
        self._feed.promise_progress()

    async def current_revision(self) -> int:
        """The revision of the store. It is known also while the owner is being replaced."""
        if self._page is None:
            await self._owner.wait_until_connected()
        revision = self.known_revision()
        assert revision is not None
        return revision

    def known_revision(self) -> int | None:
        self._owner.check_open()
        return None if self._page is None else self._page.revision

    async def compact(self, revision: int) -> None:
        await self._owner.call("compact", has_effect=True, revision=revision)
        self._feed.compact(revision)

    async def health(self) -> Health:
        try:
            async with asyncio.timeout(_HEALTH_SECONDS):
                health: Health = await self._owner.call("health")
                return health
        except Closed:
            return Health(healthy=False, reason="closed")
        except StorageError as exc:
            return Health(healthy=False, reason=str(exc))
        except TimeoutError:
            return Health(healthy=False, reason=f"the owner of the store has not answered for {_HEALTH_SECONDS:.0f} s")

    def statistics(self) -> Mapping[str, int]:
        """Counters and sizes, for metrics and for people."""
        return {
            "revision": self._feed.revision,
            "watches": len(self._feed),
            "queued_batches": self._feed.backlog,
            **self._owner.statistics(),
        }

    async def close(self) -> None:
        self._feed.fail(Closed("the engine was closed"))
        await self._owner.close()
        if self._page is not None:
            self._page.close()
            self._page = None

    def _begin(self, revision: int) -> None:
        """Continue at the revision of a new connection: the watches replay what came since the last one."""
        if self._page is None:
            self._page = RevisionPage(revision_page.beside(self._path))
        if revision < self._feed.revision:
            logger.error("the store is at revision %d, and was at %d before", revision, self._feed.revision)
            self._feed.fail(Closed("the store went back to an older revision"))
        self._feed.skip(revision)

    def _publish(self, published: Published) -> None:
        self._feed.publish(published.events, published.revision)

    async def _replay(self, wanted: Replay) -> Replayed:
        """A part of the history. It waits for an owner, because a lost connection is not an error of a watch."""
        replayed: Replayed = await self._owner.call(
            "replay", waits_for_ever=True, start=wanted.start, end=wanted.end, first=wanted.first, last=wanted.last
        )
        return replayed
