"""Applying: makes a store equal to a stream of records, by the kv contract. A restore and a migration do it.

Store and stream are both in order of keys, so that two cursors find the difference. Keys that are equal already are
left alone: a copy that was killed continues where it stopped.

Must hold: the store's revision first passes that of the stream, so that no resourceVersion goes back. Every write is
a compare-and-set; a server that writes at the same time makes the copy fail, and loses nothing. A marker stays in the
store until the copy is complete. A store that was empty then compacts the writes of the copy: a watch from an older
revision has to list again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Any, Protocol

from msgspec import Struct

from aio_apiserver.storage.errors import InvalidOptions, StorageError, StoreNotEmpty
from aio_apiserver.storage.factory import unfinished_copy
from aio_apiserver.storage.factory.unfinished_copy import PLACE
from aio_apiserver.storage.kv.interface import KV, prefix_end
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.transfer.contents import PAGE, presence, text_of

_AT_ONCE = 256
MOST_PASSED = 10_000_000
"""The most revisions that a copy passes by writes: an hour of an etcd's time."""

_Write = Callable[[], Coroutine[Any, Any, None]]


class Copied(Protocol):
    """A stream of records, and its revision."""

    @property
    def prefix(self) -> bytes: ...

    @property
    def revision(self) -> int: ...

    def records(self) -> AsyncIterator[Record]: ...

    async def lease_seconds(self, lease: int) -> int: ...


class StoreChanged(StorageError):
    """A server has written to the store during the copy."""


class Applied(Struct):
    """What a copy did: the keys that it wrote, deleted, and found equal."""

    written: int = 0
    deleted: int = 0
    equal: int = 0


class KeyDifference(Struct, frozen=True):
    """A key on both sides: None where it does not exist."""

    key: bytes
    present: Record | None
    wanted: Record | None

    @property
    def is_equal(self) -> bool:
        return (
            self.present is not None
            and self.wanted is not None
            and self.present.value == self.wanted.value
            and bool(self.present.lease) == bool(self.wanted.lease)
        )


async def apply(copied: Copied, store: KV, *, replace: bool, advance: Callable[[], None]) -> Applied:
    """Make the store equal. `advance` is called for each key.

    Raises StoreNotEmpty for a store with other keys unless `replace`, InvalidOptions for one that is too far behind,
    StoreChanged, and other StorageErrors.
    """
    marker = unfinished_copy.marker(copied.prefix)
    is_resumed = (await store.get(marker)).record is not None
    if not (replace or is_resumed or await _is_empty(store, copied.prefix)):
        raise StoreNotEmpty("the store has objects already: name another one")
    await _check_distance(store, copied.revision)
    await _put(store, marker, b"This store is being written by a restore or a migration.", present=None)
    await _pass(store, copied.prefix, copied.revision)
    done = Applied()
    leases: dict[int, int] = {}
    batch: list[_Write] = []
    async for one in differences(_present(store, copied.prefix), copied.records()):
        if one.is_equal:
            done.equal += 1
        else:
            batch.append(partial(_change, store, one, await _lease_for(one.wanted, copied, store, leases)))
            done.written += one.wanted is not None
            done.deleted += one.wanted is None
        if len(batch) >= _AT_ONCE:
            await _all(batch)
        advance()
    await _all(batch)
    await _delete(store, marker)
    if not replace:
        await store.compact(await store.current_revision())
    return done


async def differences(present: AsyncIterator[Record], wanted: AsyncIterator[Record]) -> AsyncIterator[KeyDifference]:
    """All keys of two streams in order."""
    left, right = await anext(present, None), await anext(wanted, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left.key < right.key):
            assert left is not None, "the loop ends when both are at their end"
            yield KeyDifference(left.key, left, None)
            left = await anext(present, None)
        elif left is None or right.key < left.key:
            yield KeyDifference(right.key, None, right)
            right = await anext(wanted, None)
        else:
            yield KeyDifference(left.key, left, right)
            left, right = await anext(present, None), await anext(wanted, None)


async def _present(store: KV, prefix: bytes) -> AsyncIterator[Record]:
    """The store's records, as they are when their page is read."""
    start, more = prefix, True
    left_out = (*presence(prefix), prefix + PLACE)
    while more:
        page = await store.range(start, prefix_end(prefix), limit=PAGE)
        for record in page.records:
            if not record.key.startswith(left_out):
                yield record
        more = page.more
        if more:
            start = page.records[-1].key + b"\0"


async def _is_empty(store: KV, prefix: bytes) -> bool:
    return (await store.range(prefix, prefix_end(prefix), count_only=True)).count == 0


async def _check_distance(store: KV, revision: int) -> None:
    """Raises InvalidOptions when too many writes would be needed to pass a revision."""
    left = revision - await store.current_revision()
    if left > MOST_PASSED:
        raise InvalidOptions(
            f"the store is {left} revisions behind the copy, and would have to reach it by as many writes: at most "
            f"{MOST_PASSED} are made. Start the etcd from a snapshot, with `etcdutl snapshot restore --bump-revision`"
        )


async def _pass(store: KV, prefix: bytes, revision: int) -> None:
    """Write until the store's revision is not below another one. Each write of a key of its own is a revision."""
    left = revision - await store.current_revision()
    while left > 0:
        keys = [prefix + PLACE + str(number).encode() for number in range(min(_AT_ONCE, -(-left // 2)))]
        await _all([partial(_touch, store, key) for key in keys])
        left = revision - await store.current_revision()


async def _touch(store: KV, key: bytes) -> None:
    """Two revisions without a trace."""
    await _put(store, key, b"", present=None)
    await _delete(store, key)


async def _put(store: KV, key: bytes, value: bytes, *, present: Record | None, lease: int = 0) -> None:
    expected = present.mod_revision if present is not None else 0
    result = await store.put(key, value, expected_mod_revision=expected, lease=lease)
    if not result.succeeded and (result.record is None or result.record.value != value):
        raise StoreChanged(f"another process has written {text_of(key)}: stop the servers of this store")


async def _delete(store: KV, key: bytes) -> None:
    record = (await store.get(key)).record
    if record is not None:
        await store.delete(key, expected_mod_revision=record.mod_revision)


async def _change(store: KV, one: KeyDifference, lease: int) -> None:
    if one.wanted is not None:
        return await _put(store, one.key, one.wanted.value, present=one.present, lease=lease)
    assert one.present is not None, "a difference has a side"
    if not (await store.delete(one.key, expected_mod_revision=one.present.mod_revision)).succeeded:
        raise StoreChanged(f"another process has written {text_of(one.key)}: stop the servers of this store")
    return None


async def _lease_for(wanted: Record | None, copied: Copied, store: KV, leases: dict[int, int]) -> int:
    """The lease in the store for that of a record; leases with their time left are made as they come."""
    if wanted is None or not wanted.lease:
        return 0
    if wanted.lease not in leases:
        leases[wanted.lease] = await store.grant_lease(max(1, await copied.lease_seconds(wanted.lease)))
    return leases[wanted.lease]


async def _all(batch: list[_Write]) -> None:
    """Do the writes of the batch at once, and empty it. Raises the first failure, after the end of all."""
    results = await asyncio.gather(*(write() for write in batch), return_exceptions=True)
    batch.clear()
    for result in results:
        if isinstance(result, BaseException):
            raise result
