"""Steps that kv tests share: writes that must succeed, and waits for watches that time out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from aio_apiserver.storage.kv.interface import KV, Event, EventBatch, WriteResult, prefix_end
from aio_apiserver.storage.record import Record

PATIENCE = 60.0
"""The seconds after which a missing batch is a failure."""

Elapse = Callable[[float], Awaitable[None]]


async def create(kv: KV, key: bytes, value: bytes = b"value", *, lease: int = 0) -> Record:
    """Put a key that does not exist."""
    return written(key, value, await kv.put(key, value, expected_mod_revision=0, lease=lease), lease=lease)


async def update(kv: KV, current: Record, value: bytes = b"changed", *, lease: int = 0) -> Record:
    """Put over the current record."""
    result = await kv.put(current.key, value, expected_mod_revision=current.mod_revision, lease=lease)
    return written(current.key, value, result, before=current, lease=lease)


def written(key: bytes, value: bytes, result: WriteResult, *, before: Record | None = None, lease: int = 0) -> Record:
    """The record that a put has made; it must have succeeded."""
    assert (result.succeeded, result.record) == (True, None)
    if before is None:
        return Record(key, value, result.revision, result.revision, 1, lease)
    return Record(key, value, before.create_revision, result.revision, before.version + 1, lease)


async def remove(kv: KV, current: Record) -> int:
    """Delete the current record; the deletion's revision."""
    result = await kv.delete(current.key, expected_mod_revision=current.mod_revision)
    assert result.succeeded
    return result.revision


async def read(kv: KV, key: bytes, *, revision: int = 0) -> Record | None:
    """The record of a key, now or at a revision."""
    return (await kv.get(key, revision=revision)).record


async def keys_of(kv: KV, prefix: bytes, *, revision: int = 0) -> list[bytes]:
    """The keys that start with the prefix, now or at a revision."""
    result = await kv.range(prefix, prefix_end(prefix), revision=revision)
    return [record.key for record in result.records]


async def next_batch(batches: AsyncIterator[EventBatch]) -> EventBatch:
    """The next batch of any kind."""
    async with asyncio.timeout(PATIENCE):
        return await anext(batches)


async def next_events(batches: AsyncIterator[EventBatch]) -> EventBatch:
    """The next batch that has events."""
    while True:
        batch = await next_batch(batches)
        if not batch.is_progress:
            return batch


async def take(batches: AsyncIterator[EventBatch], count: int) -> list[Event]:
    """The next `count` events, and those after them in the same batch."""
    events: list[Event] = []
    while len(events) < count:
        events.extend((await next_events(batches)).events)
    return events


async def take_until(batches: AsyncIterator[EventBatch], revision: int) -> list[Event]:
    """All events up to and including a revision that has one."""
    events: list[Event] = []
    while not events or events[-1].record.mod_revision < revision:
        events.extend((await next_events(batches)).events)
    return events


async def collect(kv: KV, prefix: bytes, *, revision: int, until: int) -> list[Event]:
    """The events of a prefix between two revisions, both included; `until` has one."""
    async with kv.watch(prefix, prefix_end(prefix), revision=revision) as batches:
        return await take_until(batches, until)


def shape(event: Event) -> tuple[str, bytes, bytes]:
    """An event in short: type, key, value."""
    return event.type.value, event.record.key, event.record.value
