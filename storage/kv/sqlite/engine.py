"""Engine: SqliteKV, the kv contract on one SQLite file, for a server without a cluster.

It puts the neighbouring modules together, and owns their threads, tasks and files. One process uses a data directory.
Must hold: the kv contract. A write that returned is synced to the disk. No disk access runs on the event loop. `close`
leaves no thread, no task and no lock.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Self, cast

from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import Closed, NoSpace, StorageError, TooLarge
from aio_apiserver.storage.health import Health
from aio_apiserver.storage.kv.feed import Feed
from aio_apiserver.storage.kv.interface import MAX_VALUE_BYTES, Event, EventBatch, GetResult, RangeResult, WriteResult
from aio_apiserver.storage.kv.quota import Quota
from aio_apiserver.storage.kv.replay import Replay, Replayed
from aio_apiserver.storage.kv.space_keeping import SpaceKeeper
from aio_apiserver.storage.kv.sqlite import reads, schema, upkeep
from aio_apiserver.storage.kv.sqlite.commands import Compact, Delete, Grant, Probe, Put, Revoke
from aio_apiserver.storage.kv.sqlite.committer import Committer
from aio_apiserver.storage.kv.sqlite.compaction import RowSweeper
from aio_apiserver.storage.kv.sqlite.data_dir import DataDir
from aio_apiserver.storage.kv.sqlite.disk_reserve import DiskReserve
from aio_apiserver.storage.kv.sqlite.error_codes import ErrorTranslator
from aio_apiserver.storage.kv.sqlite.leases import LeaseTimers
from aio_apiserver.storage.kv.sqlite.reader import SqliteReader
from aio_apiserver.storage.kv.sqlite.schema import Connection, Lease, StoreRevisions
from aio_apiserver.storage.kv.sqlite.workers import Patience, Workers
from aio_apiserver.storage.kv.sqlite.writer import Writer
from aio_apiserver.storage.kv.watcher import LocalWatcher
from aio_apiserver.storage.store_limits import NO_LIMITS, StoreLimits

_WRITES = Patience(first=0.002, later=0.0001, pause=0.001)
"""A group is prepared in memory within the first wait. After that, the thread only has to return."""
_GETS = Patience(first=0.001, later=0.0005, pause=0.002)
_RANGES = Patience(first=0.001, later=0.001, pause=0.004)

_RANGE_THREADS = 2
_HEALTH_SECONDS = 3.0


class _Start:
    """The first connection of a store, on the writer's thread, and what it has found."""

    def __init__(self, data_dir: DataDir, reserve: DiskReserve) -> None:
        self.reserve = reserve
        self.used_bytes = 0
        self.disk_problem = ""
        self._data_dir = data_dir

    def connect(self) -> Connection:
        """Open the database. On a full disk, the reserve has the room that SQLite needs to open it."""
        self._data_dir.acquire()
        self._data_dir.create_database_file()
        connection = self._open()
        self.reserve.fill()
        return connection

    def _open(self) -> Connection:
        try:
            return schema.open_for_writing(self._data_dir.database)
        except sqlite3.Error as exc:
            problem = ErrorTranslator(self._data_dir.database).translate(exc)
            if not isinstance(problem, NoSpace) or not self.reserve.release():
                raise
            self.disk_problem = str(problem)
            return schema.open_for_writing(self._data_dir.database)


class SqliteKV:
    """A store in a directory. `open` creates one."""

    has_reliable_progress = True

    def __init__(
        self,
        data_dir: DataDir,
        workers: Workers,
        *,
        clock: Clock,
        state: StoreRevisions,
        leases: Sequence[Lease],
        limits: StoreLimits,
        start: "_Start",
    ) -> None:
        faults = ErrorTranslator(data_dir.database)
        self._data_dir = data_dir
        self._clock = clock
        self._tasks = Tasks()
        self._feed = Feed(state.revision)
        self._quota = Quota(limits.quota_bytes)
        self._quota.note(start.used_bytes)
        self._quota.disk_problem = start.disk_problem
        self._reserve = start.reserve
        self._space = SpaceKeeper(
            self._quota,
            limits,
            compact=self.compact,
            newest=self.known_revision,
            regain=self._regain_room,
            clock=clock.patience,
            tasks=self._tasks,
        )
        self._writer = Writer(
            workers,
            Committer(
                state,
                faults,
                self._quota,
                before_commit=workers.wait_for_disk,
                release_reserve=self._reserve.release,
            ),
            faults=faults,
            publish=self._publish,
            settled=self._check_space,
            tasks=self._tasks,
        )
        self._reader = SqliteReader(
            gets=Workers("sqlite-get", self._connect, patience=_GETS),
            ranges=Workers("sqlite-range", self._connect, patience=_RANGES, threads=_RANGE_THREADS),
            faults=faults,
        )
        self._compactor = RowSweeper(self._writer, self._measure, clock=clock.patience, tasks=self._tasks)
        self._timers = LeaseTimers(self._end_lease, clock=clock, tasks=self._tasks)
        self._closing: asyncio.Task[None] | None = None
        for lease in leases:  # no longer than granted, should the system's clock have been set back
            self._timers.add(lease.id, min(lease.expires - clock.now(), lease.ttl))
        self._compactor.start()  # it may have been interrupted
        self._space.check()

    @classmethod
    async def open(cls, directory: Path, *, clock: Clock | None = None, limits: StoreLimits = NO_LIMITS) -> Self:
        """Open the store in the directory, or create it.

        Raises DataDirLocked, Corrupt for a file that is no store or one of a newer release, NoSpace, Unavailable.
        """
        data_dir = DataDir(directory)
        start = _Start(data_dir, DiskReserve(directory, limits.reserve_bytes))
        workers = Workers("sqlite-writer", start.connect, patience=_WRITES)
        try:
            state = await workers.run(schema.read_state)
            leases = await workers.run(schema.read_leases)
            start.used_bytes = await workers.run(upkeep.used_bytes)
        except BaseException as exc:
            await workers.stop()
            data_dir.release()
            if isinstance(exc, sqlite3.Error | OSError):
                raise ErrorTranslator(data_dir.database).translate(exc) from exc
            raise
        return cls(
            data_dir,
            workers,
            clock=clock or SystemClock(),
            state=state,
            leases=leases,
            limits=limits,
            start=start,
        )

    async def get(self, key: bytes, *, revision: int = 0) -> GetResult:
        self._check_open()
        result = await self._reader.get(key, revision=revision)
        await self._feed.wait_until_reached(result.revision)
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
        self._check_open()
        result = await self._reader.range(
            reads.Range(
                start=start, end=end, limit=limit, revision=revision, keys_only=keys_only, count_only=count_only
            )
        )
        await self._feed.wait_until_reached(result.revision)
        return result

    async def put(self, key: bytes, value: bytes, *, expected_mod_revision: int, lease: int = 0) -> WriteResult:
        self._check_open()
        if len(value) > MAX_VALUE_BYTES:
            raise TooLarge(f"value of {len(value)} bytes, at most {MAX_VALUE_BYTES} are allowed")
        return cast("WriteResult", await self._writer.submit(Put(key, value, expected_mod_revision, lease)))

    async def delete(self, key: bytes, *, expected_mod_revision: int) -> WriteResult:
        self._check_open()
        return cast("WriteResult", await self._writer.submit(Delete(key, expected_mod_revision)))

    async def grant_lease(self, ttl: int) -> int:
        self._check_open()
        lease = cast("int", await self._writer.submit(Grant(ttl, self._clock.now() + ttl)))
        self._timers.add(lease, ttl)
        return lease

    async def revoke_lease(self, lease: int) -> None:
        self._check_open()
        await self._end_lease(lease)

    @asynccontextmanager
    async def watch(self, start: bytes, end: bytes, *, revision: int) -> AsyncIterator[AsyncIterator[EventBatch]]:
        self._check_open()
        watcher = LocalWatcher(start, end, revision=revision, feed=self._feed, replay=self.replay)
        try:
            yield watcher
        finally:
            watcher.leave()

    def on_revision(self, note: Callable[[int], None]) -> None:
        self._feed.on_revision(note)

    async def replay(self, wanted: Replay) -> Replayed:
        self._check_open()
        return await self._reader.replay(wanted)

    async def request_progress(self) -> None:
        self._check_open()
        self._feed.promise_progress()

    async def current_revision(self) -> int:
        return self.known_revision()

    def known_revision(self) -> int:
        """The revision of the store. Each read calls it, so an open engine makes no further call."""
        if self._closing is not None:
            self._check_open()
        return self._feed.revision

    async def compact(self, revision: int) -> None:
        self._check_open()
        await self._writer.submit(Compact(revision))
        self._space.past.compact(revision)
        self._compactor.start()

    async def health(self) -> Health:
        if self._closing is not None:
            return Health(healthy=False, reason="closed")
        probe: asyncio.Task[Health] = self._tasks.spawn(self._probe(), name="sqlite kv: health")
        waiting = self._clock.patience.sleep(_HEALTH_SECONDS)
        deadline = self._tasks.spawn(waiting, name="sqlite kv: end of patience with health")
        await asyncio.wait((probe, deadline), return_when=asyncio.FIRST_COMPLETED)
        deadline.cancel()
        if probe.done() and not probe.cancelled():
            return probe.result()
        probe.cancel()
        return Health(healthy=False, reason=f"{self._data_dir.database} has not answered for {_HEALTH_SECONDS:.0f} s")

    async def close(self) -> None:
        if self._closing is None:
            self._feed.fail(Closed("the engine was closed"))
            self._closing = asyncio.get_running_loop().create_task(self._shut_down(), name="sqlite kv: close")
        await asyncio.shield(self._closing)

    def statistics(self) -> Mapping[str, int]:
        """Counters and sizes, for metrics and for people."""
        return {
            "revision": self._feed.revision,
            "bytes": self._data_dir.size,
            "watches": len(self._feed),
            "queued_batches": self._feed.backlog,
            **self._space.statistics(),
            **self._writer.statistics(),
            **self._reader.statistics(),
        }

    def _publish(self, events: Sequence[Event], revision: int) -> None:
        self._space.add(events)
        self._feed.publish(events, revision)

    def _check_space(self) -> None:
        if self._closing is None:
            self._space.check()

    async def _regain_room(self) -> None:
        """End the alarm of a full disk when there is room again for the reserve and for writes."""
        if await self._writer.run_chore(self._has_room):
            self._quota.disk_problem = ""

    def _has_room(self, connection: Connection) -> bool:
        with suppress(sqlite3.Error):  # a full disk; what deletions free is enough for the next attempt
            upkeep.truncate_log(connection)
        return self._reserve.fill()

    def _measure(self, connection: Connection) -> None:
        self._quota.note(upkeep.used_bytes(connection))

    def _connect(self) -> Connection:
        return schema.open_for_reading(self._data_dir.database)

    def _check_open(self) -> None:
        if self._closing is not None:
            raise Closed("the engine was closed")

    async def _end_lease(self, lease: int) -> None:
        await self._writer.submit(Revoke(lease))

    async def _probe(self) -> Health:
        is_doubtful = self._writer.is_doubtful
        try:
            if is_doubtful:
                await self._writer.run_chore(lambda _: self._data_dir.check_room())
            await self._writer.submit(Probe(is_write=is_doubtful))
        except StorageError as exc:
            return Health(healthy=False, reason=str(exc))
        return Health(healthy=True, reason=self._space.warning or await asyncio.to_thread(self._data_dir.shortage))

    async def _shut_down(self) -> None:
        try:
            await self._tasks.close()
        finally:
            await self._reader.stop()
            await self._writer.stop()
            self._reserve.keep()
            self._data_dir.release()
