"""Past changes: the changes of one resource between two revisions, from the kv engine's history.

A watch cache asks for them when a client resumes behind the cache's first list.

    puts of a at 5, b at 8, a at 9: the changes after 5 up to 9 are b (new) at 8, and a (5 to 9) at 9

Must hold: the changes are complete and in order, or the call fails. They are bounded in number and bytes.
"""

from aio_apiserver.storage.errors import RevisionExpired
from aio_apiserver.storage.interface import PastChange
from aio_apiserver.storage.kv.interface import KV, Event, EventType
from aio_apiserver.storage.store.records import Records

MOST = 5_000
"""etcd sends 1,000 revisions of a past watch every tenth of a second."""
MOST_BYTES = 16 << 20


async def between(kv: KV, records: Records, after: int, until: int) -> list[PastChange]:
    """The changes after one revision up to another one. Raises Compacted, and RevisionExpired when they are too many.

    Without reliable progress it may wait for ever: the caller sets a limit.
    """
    start, end = records.range_of("", recursive=True)
    events = await _events(kv, start, end, after=after, until=until)
    await kv.get(start, revision=after)  # a compaction in between may have taken a deletion away: raises Compacted
    return [await _read(records, event) for event in events]


async def _events(kv: KV, start: bytes, end: bytes, *, after: int, until: int) -> list[Event]:
    events: list[Event] = []
    size = 0
    async with kv.watch(start, end, revision=after + 1) as batches:
        await kv.request_progress()
        async for batch in batches:
            if batch.is_progress and not kv.has_reliable_progress:
                continue
            events += [event for event in batch.events if event.record.mod_revision <= until]
            size += sum(_size(event) for event in batch.events)
            if len(events) > MOST or size > MOST_BYTES:
                raise RevisionExpired(f"more than {MOST} changes, or {MOST_BYTES} bytes, since revision {after}")
            if batch.revision >= until:
                break
    return events


async def _read(records: Records, event: Event) -> PastChange:
    record, previous = event.record, event.previous
    return PastChange(
        records.relative(record.key),
        record.mod_revision,
        previous=await records.read(previous) if previous is not None else None,
        current=await records.read(record) if event.type is EventType.PUT else None,
    )


def _size(event: Event) -> int:
    return len(event.record.value) + (len(event.previous.value) if event.previous is not None else 0)
