"""Store: KVStore, the objects of one resource on a kv engine: the Origin below a Cacher, and a Storage by itself.

It combines its neighbours: records (both forms of an object), writes and changes (writes and their races), listing,
watches. It knows no kind, no cache and no engine by name.

Must hold: the Storage contract, on every engine. The store owns its watches. The kv engine and the lease manager are
shared with other stores and belong to the factory.
"""

from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from operator import attrgetter
from typing import Any

from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.codec import Codec
from aio_apiserver.storage.errors import FutureRevision, KeyNotFound
from aio_apiserver.storage.interface import (
    ListOptions,
    ListResult,
    NewestRevisions,
    PastChange,
    Preconditions,
    Resource,
    TryUpdate,
    Validate,
    Watch,
    WatchOptions,
    WatchSink,
    accept,
)
from aio_apiserver.storage.kv.interface import KV, ComparesKeys
from aio_apiserver.storage.store import past_changes
from aio_apiserver.storage.store.changes import Changes, KeyChange
from aio_apiserver.storage.store.hydration import hydrate
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.listing import Listing
from aio_apiserver.storage.store.records import Records
from aio_apiserver.storage.store.translated_writes import TranslatedDeleting, TranslatedUpdating
from aio_apiserver.storage.store.watches import SLOW_BUDGET, StoreWatches, WatchSource
from aio_apiserver.storage.store.writes import Deleting, ObjectWriter, Updating
from aio_apiserver.storage.stored_object import Encodings, StoredObject
from aio_apiserver.storage.transformers.transformer import Transformer


class KVStore:
    """An Origin below `prefix`, which ends with a slash. decodes_lists: for clients, rather than for a cache."""

    def __init__(
        self,
        kv: KV,
        resource: Resource,
        *,
        prefix: str,
        codec: Codec,
        transformer: Transformer,
        leases: LeaseManager,
        clock: Clock | None = None,
        encodings: Encodings | None = None,
        messages: Codec | None = None,
        slow_budget: float = SLOW_BUDGET,
        decodes_lists: bool = False,
    ) -> None:
        clock = clock or SystemClock()
        self._decoding = clock if decodes_lists else None
        self._kv = kv
        self.known_revision = kv.known_revision
        self._comparing = kv if isinstance(kv, ComparesKeys) else None
        self._records = Records(
            resource, prefix, codec=codec, transformer=transformer, encodings=encodings, messages=messages
        )
        self._listing = Listing(kv, self._records)
        self._writer = ObjectWriter(kv, self._records, leases)
        self._changes = Changes(clock=clock)
        self._watches = StoreWatches(
            WatchSource(kv=kv, records=self._records, listing=self._listing, clock=clock, slow_budget=slow_budget)
        )
        self._requests: Counter[str] = Counter()

    has_reliable_progress = property(attrgetter("_kv.has_reliable_progress"))

    def create(self, key: str, obj: Object, *, ttl: int = 0) -> Coroutine[Any, Any, StoredObject]:
        self._requests["create"] += 1
        return self._writer.create(key, obj, ttl)

    async def get(self, key: str, *, resource_version: int | None = None) -> StoredObject:
        """See the contract. The object is decoded here, so that Corrupt is raised here."""
        self._requests["get"] += 1
        found = await self._kv.get(self._records.key_of(key))
        if (resource_version or 0) > found.revision:
            raise FutureRevision(resource_version or 0, found.revision)
        if found.record is None:
            raise KeyNotFound(key, found.revision)
        stored = await self._records.read(found.record)
        stored.hydrate()
        return stored

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        """See the contract. Unless the store decodes lists, Corrupt is raised at the first use of an item."""
        self._requests["list"] += 1
        listed = await self._listing.get_list(key, options)
        if self._decoding is not None:
            await hydrate(listed.items, self._decoding)
        return listed

    def at_hand(self, key: str) -> None:
        """Nothing: the store reads from its engine."""

    def guaranteed_update(
        self,
        key: str,
        try_update: TryUpdate,
        *,
        ignore_not_found: bool = False,
        preconditions: Preconditions | None = None,
        suggestion: StoredObject | None = None,
    ) -> Coroutine[Any, Any, StoredObject]:
        self._requests["update"] += 1
        updating = TranslatedUpdating if self._records.is_translated else Updating
        change: KeyChange[Any] = updating(
            writer=self._writer,
            key=key,
            try_update=try_update,
            preconditions=preconditions,
            ignore_not_found=ignore_not_found,
        )
        return self._changes.apply(change, suggestion)

    async def delete(
        self,
        key: str,
        *,
        preconditions: Preconditions | None = None,
        validate: Validate = accept,
        suggestion: StoredObject | None = None,
    ) -> StoredObject:
        self._requests["delete"] += 1
        deleting = TranslatedDeleting if self._records.is_translated else Deleting
        change = deleting(writer=self._writer, key=key, preconditions=preconditions, validate=validate)
        return await self._changes.apply(change, suggestion)

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        self._requests["watch"] += 1
        return await self._watches.start(key, options, sink)

    async def preview(self, key: str, obj: Object) -> StoredObject:
        return await self._records.preview(key, self._records.reduced(obj))

    async def count(self) -> int:
        start, end = self._records.range_of("", recursive=True)
        return (await self._kv.range(start, end, count_only=True)).count

    async def newest(self, keys: Sequence[str]) -> NewestRevisions:
        if self._comparing is None:
            return await self._kv.current_revision(), ()
        newest = await self._comparing.newest([self._records.key_of(key) for key in keys])
        return newest.revision, newest.mod_revisions

    async def request_progress(self) -> None:
        await self._kv.request_progress()

    def past_changes(self, after: int, until: int) -> Coroutine[Any, Any, Sequence[PastChange]]:
        self._requests["past_changes"] += 1
        return past_changes.between(self._kv, self._records, after, until)

    async def wait_until_ready(self) -> None:
        """A store is ready when it exists. Requests find out whether the kv engine is."""

    def statistics(self) -> Mapping[str, Any]:
        return {
            "requests": dict(self._requests),
            "changes": self._changes.statistics(),
            "watches": self._watches.statistics(),
        }

    async def close(self) -> None:
        await self._watches.close()
