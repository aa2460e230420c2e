"""Watching: the event of a change for a watcher, and the sink to iterate over."""

import asyncio

import orjson
import pytest

from aio_apiserver.storage.errors import RevisionExpired
from aio_apiserver.storage.interface import WatchBatch, WatchEvent, WatchEventType
from aio_apiserver.storage.selection import EVERYTHING, Operator, Requirement, SelectionPredicate
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject
from aio_apiserver.storage.watching import WatchQueue, seen_through

READER = ObjectReader(decode=orjson.loads, fields=lambda obj: {})
RED = SelectionPredicate(labels=(Requirement("color", Operator.IN, frozenset(["red"])),))
ADDED, MODIFIED, DELETED = WatchEventType.ADDED, WatchEventType.MODIFIED, WatchEventType.DELETED


def stored(color: str | None, revision: int) -> StoredObject | None:
    if color is None:
        return None
    return StoredObject("a", revision, orjson.dumps({"metadata": {"labels": {"color": color}}}), READER)


@pytest.mark.parametrize(
    ("predicate", "before", "after", "expected"),
    [
        (EVERYTHING, None, "red", (ADDED, "red")),
        (EVERYTHING, "red", "blue", (MODIFIED, "blue")),
        (EVERYTHING, "red", None, (DELETED, "red")),
        (EVERYTHING, None, None, None),
        (RED, None, "red", (ADDED, "red")),
        (RED, "blue", "red", (ADDED, "red")),
        (RED, "red", "red", (MODIFIED, "red")),
        (RED, "red", "blue", (DELETED, "red")),
        (RED, "red", None, (DELETED, "red")),
        (RED, None, "blue", None),
        (RED, "blue", "blue", None),
        (RED, "blue", None, None),
    ],
)
def test_a_watcher_sees_objects_enter_change_and_leave_its_selection(
    predicate: SelectionPredicate, before: str | None, after: str | None, expected: tuple[WatchEventType, str] | None
) -> None:
    event = seen_through(predicate, previous=stored(before, 5), current=stored(after, 8), revision=8)

    if event is None:
        assert expected is None
        return
    assert event.object is not None
    assert (event.type, event.object.labels["color"]) == expected
    assert event.revision == 8
    assert event.object.revision == 8
    assert event.object.decode()["metadata"]["resourceVersion"] == "8"


def test_a_watcher_of_everything_costs_no_decoding() -> None:
    previous, current = stored("red", 5), stored("blue", 8)
    assert previous is not None
    assert current is not None

    event = seen_through(EVERYTHING, previous=previous, current=current, revision=8)

    assert event is not None
    assert event.object is current
    assert previous.unread is not None
    assert current.unread is not None


def bookmark(revision: int) -> WatchEvent:
    return WatchEvent(WatchEventType.BOOKMARK, None, revision)


async def test_a_queue_yields_what_was_delivered_and_then_ends() -> None:
    queue = WatchQueue()
    queue.deliver(WatchBatch([bookmark(1), bookmark(2)]))
    queue.deliver(WatchBatch([bookmark(3)]))
    queue.end(None)

    assert [event.revision async for event in queue] == [1, 2, 3]


async def test_a_queue_waits_for_more() -> None:
    queue = WatchQueue()

    async def read() -> list[int]:
        return [event.revision async for event in queue]

    reading = asyncio.create_task(read())
    for revision in (1, 2, 3):
        await asyncio.sleep(0)
        queue.deliver(WatchBatch([bookmark(revision)]))
    await asyncio.sleep(0)
    queue.end(None)

    assert await reading == [1, 2, 3]


async def test_a_queue_raises_why_the_watch_ended_behind_the_last_event() -> None:
    queue = WatchQueue()
    queue.deliver(WatchBatch([bookmark(1)]))
    queue.end(RevisionExpired("too old resource version"))
    events = aiter(queue)

    first = await anext(events)

    assert first == bookmark(1)
    with pytest.raises(RevisionExpired):
        await anext(events)


async def test_the_backlog_is_what_was_not_taken_yet() -> None:
    queue = WatchQueue(limit=5)
    queue.deliver(WatchBatch([bookmark(1), bookmark(2)]))
    events = aiter(queue)

    before = queue.backlog
    await anext(events)

    assert (before, queue.backlog, queue.backlog_limit) == (2, 1, 5)
