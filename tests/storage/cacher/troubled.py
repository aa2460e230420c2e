"""Troubled: an Origin between a Cacher and a real Store, on which tests can cause faults.

Everything goes through to the store; what goes wrong on the way is what the test says.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.errors import Compacted, KeyNotFound, StorageError, Unavailable
from aio_apiserver.storage.interface import (
    ListOptions,
    ListResult,
    NewestRevisions,
    PastChange,
    Preconditions,
    TryUpdate,
    Validate,
    Watch,
    WatchBatch,
    WatchOptions,
    WatchSink,
    accept,
)
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.stored_object import StoredObject


class Door:
    """Open or closed; counts the calls that have come while it was closed."""

    def __init__(self) -> None:
        self.waiting = 0
        self._open = asyncio.Event()
        self._open.set()
        self._came = asyncio.Event()

    def shut(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    async def pass_through(self) -> None:
        if not self._open.is_set():
            self.waiting += 1
            self._came.set()
            await self._open.wait()

    async def wait_for_somebody(self, count: int = 1) -> None:
        async with asyncio.timeout(20):
            while self.waiting < count:
                self._came.clear()
                await self._came.wait()


class Troubled:
    """The origin. `failure`: the error of every request; `failing_lists`: the errors of the next lists, one each."""

    def __init__(self, store: KVStore) -> None:
        self.store = store
        self.requests: Counter[str] = Counter()
        self.failure: Exception | None = None
        self.failing_lists: list[StorageError] = []
        self.has_reliable_progress = True
        self.compares_objects = True
        self.answers_progress = True
        self.check_door = Door()
        self.list_door = Door()
        self.old_list: ListResult | None = None
        self.taps: list[Tap] = []

    # Faults

    def hold_events(self) -> None:
        """Hold back the events of the store's watch from now on."""
        for tap in self.taps:
            tap.held = tap.held or []

    def release_events(self) -> None:
        for tap in self.taps:
            tap.release()

    async def break_watches(self, reason: StorageError | None) -> None:
        """Break the connection of all watches."""
        taps, self.taps = self.taps, []
        for tap in taps:
            tap.break_off(reason)

    # Storage

    async def create(self, key: str, obj: Object, *, ttl: int = 0) -> StoredObject:
        self._meet("create")
        return await self.store.create(key, obj, ttl=ttl)

    async def get(self, key: str, *, resource_version: int | None = None) -> StoredObject:
        self._meet("get")
        return await self.store.get(key, resource_version=resource_version)

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        self._meet("list")
        await self.list_door.pass_through()
        if self.failing_lists:
            raise self.failing_lists.pop(0)
        old, self.old_list = self.old_list, None
        return old or await self.store.get_list(key, options)

    def at_hand(self, key: str) -> None:
        """Nothing, as the store."""

    async def guaranteed_update(
        self,
        key: str,
        try_update: TryUpdate,
        *,
        ignore_not_found: bool = False,
        preconditions: Preconditions | None = None,
        suggestion: StoredObject | None = None,
    ) -> StoredObject:
        self._meet("update")
        return await self.store.guaranteed_update(
            key,
            try_update,
            ignore_not_found=ignore_not_found,
            preconditions=preconditions,
            suggestion=suggestion,
        )

    async def delete(
        self,
        key: str,
        *,
        preconditions: Preconditions | None = None,
        validate: Validate = accept,
        suggestion: StoredObject | None = None,
    ) -> StoredObject:
        self._meet("delete")
        return await self.store.delete(key, preconditions=preconditions, validate=validate, suggestion=suggestion)

    async def preview(self, key: str, obj: Object) -> StoredObject:
        return await self.store.preview(key, obj)

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        self._meet("watch")
        tap = Tap(sink)
        tap.watch = await self.store.watch(key, options, tap)
        self.taps.append(tap)
        return tap

    async def count(self) -> int:
        self._meet("count")
        return await self.store.count()

    async def newest(self, keys: Sequence[str]) -> NewestRevisions:
        self._meet("newest")
        newest = await self.store.newest(keys)
        if self.compares_objects:
            newest = newest[0], [await self._revision_of(key) for key in keys]
        await self.check_door.pass_through()
        return newest

    def known_revision(self) -> None:
        """None: the revision is asked for, so that the door of `newest` can be shut."""

    async def request_progress(self) -> None:
        self._meet("request_progress")
        if self.answers_progress:
            await self.store.request_progress()

    async def past_changes(self, after: int, until: int) -> Sequence[PastChange]:
        self._meet("past_changes")
        return await self.store.past_changes(after, until)

    async def wait_until_ready(self) -> None:
        await self.store.wait_until_ready()

    def statistics(self) -> Mapping[str, Any]:
        return self.store.statistics()

    async def close(self) -> None:
        await self.store.close()

    async def _revision_of(self, key: str) -> int:
        try:
            return (await self.store.get(key)).revision
        except KeyNotFound:
            return 0

    def _meet(self, request: str) -> None:
        self.requests[request] += 1
        if self.failure is not None:
            raise self.failure


class Tap:
    """The sink and the watch of one origin watch: passes on, holds back, breaks off."""

    backlog = 0
    backlog_limit = 0

    def __init__(self, sink: WatchSink) -> None:
        self.watch: Watch
        self.held: list[WatchBatch] | None = None
        self._sink = sink
        self._is_ended = False

    def deliver(self, batch: WatchBatch) -> None:
        if self.held is not None:
            self.held.append(batch)
        elif not self._is_ended:
            self._sink.deliver(batch)

    def end(self, reason: StorageError | None) -> None:
        if not self._is_ended:
            self._is_ended = True
            self._sink.end(reason)

    def stop(self) -> None:
        self.watch.stop()
        self.end(None)

    def release(self) -> None:
        held, self.held = self.held or [], None
        for batch in held:
            self.deliver(batch)

    def break_off(self, reason: StorageError | None) -> None:
        """End with this reason; the events on their way are lost."""
        self.held = None
        self.end(reason)
        self.watch.stop()


async def make_trouble(origins: Sequence[Troubled], kv: MemoryKV, clock: ManualClock, *, seed: int = 1) -> None:
    """Let time pass, hold events back, cut caches off, and compact the revisions that they would resume from."""
    chance = random.Random(seed)
    while True:
        await asyncio.sleep(0)
        clock.advance(0.01)
        origin = chance.choice(origins)
        what = chance.random()
        if what < 0.02:
            origin.hold_events()
        elif what < 0.1:
            origin.release_events()
        elif what < 0.12:
            await origin.break_watches(Unavailable("connection lost"))
        elif what < 0.13:
            try:
                await kv.compact(await kv.current_revision())
            except Compacted:
                continue
