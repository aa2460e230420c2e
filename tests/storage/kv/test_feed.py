"""Subscriptions: who gets which batch, what they share, and what happens behind a gap."""

import asyncio

import pytest

from storage.errors import Closed, Compacted
from storage.kv.interface import Event, EventBatch, EventType, Record
from storage.kv.subscriptions import Subscription, Subscriptions


@pytest.fixture
def subscriptions() -> Subscriptions:
    return Subscriptions()


def put(key: bytes, revision: int) -> Event:
    return Event(EventType.PUT, Record(key, b"value", revision, revision, 1))


async def drain(subscription: Subscription) -> list[EventBatch | None]:
    return [await subscription.next() for _ in range(subscription.backlog)]


async def test_a_subscription_gets_what_is_published_for_its_range(subscriptions: Subscriptions) -> None:
    subscription = subscriptions.add(b"b", b"c", first_revision=1)

    for revision, key in enumerate([b"a", b"b", b"bb", b"c"], start=2):
        subscriptions.publish([put(key, revision)], revision)

    assert await drain(subscription) == [EventBatch([put(b"b", 3)], 3), EventBatch([put(b"bb", 4)], 4)]


async def test_of_one_revision_it_gets_the_events_of_its_range(subscriptions: Subscriptions) -> None:
    subscription = subscriptions.add(b"b", b"c", first_revision=1)

    subscriptions.publish([put(key, 2) for key in (b"a", b"b", b"bb", b"c")], 2)
    subscriptions.publish([put(key, 3) for key in (b"a", b"c")], 3)

    assert await drain(subscription) == [EventBatch((put(b"b", 2), put(b"bb", 2)), 2)]


async def test_a_subscription_starts_with_its_first_revision(subscriptions: Subscriptions) -> None:
    subscription = subscriptions.add(b"a", b"b", first_revision=3)

    for revision in (2, 3, 4):
        subscriptions.publish([put(b"a", revision)], revision)

    assert [batch.revision for batch in await drain(subscription) if batch] == [3, 4]


async def test_subscriptions_of_one_range_share_their_batches(subscriptions: Subscriptions) -> None:
    one, other = [subscriptions.add(b"a", b"b", first_revision=1) for _ in range(2)]

    subscriptions.publish([put(b"a", 2)], 2)

    assert await one.next() is await other.next()


async def test_a_removed_subscription_gets_nothing(subscriptions: Subscriptions) -> None:
    staying, leaving = [subscriptions.add(b"a", b"b", first_revision=1) for _ in range(2)]

    subscriptions.remove(leaving)
    subscriptions.remove(leaving)
    subscriptions.publish([put(b"a", 2)], 2)

    assert await leaving.next() is None
    assert staying.backlog == 1
    assert len(subscriptions) == 1


async def test_the_newest_of_several_progress_batches_is_enough(subscriptions: Subscriptions) -> None:
    subscription = subscriptions.add(b"a", b"b", first_revision=1)

    subscriptions.publish_progress(2)
    subscriptions.publish([put(b"a", 3)], 3)
    subscriptions.publish_progress(3)
    subscriptions.publish_progress(5)

    assert await drain(subscription) == [EventBatch((), 2), EventBatch([put(b"a", 3)], 3), EventBatch((), 5)]


async def test_a_compaction_fails_those_who_still_have_older_events(subscriptions: Subscriptions) -> None:
    behind = subscriptions.add(b"a", b"b", first_revision=1)
    in_step = subscriptions.add(b"a", b"b", first_revision=3)
    for revision in (2, 3):
        subscriptions.publish([put(b"a", revision)], revision)

    subscriptions.compact(3)

    with pytest.raises(Compacted):
        await behind.next()
    assert await drain(in_step) == [EventBatch([put(b"a", 3)], 3)]


async def test_old_progress_does_not_count_as_lagging(subscriptions: Subscriptions) -> None:
    subscription = subscriptions.add(b"a", b"b", first_revision=1)
    subscriptions.publish_progress(2)

    subscriptions.compact(5)

    assert await drain(subscription) == [EventBatch((), 2)]


async def test_nothing_is_seen_behind_a_gap(subscriptions: Subscriptions) -> None:
    subscription = subscriptions.add(b"a", b"b", first_revision=1)
    subscriptions.publish([put(b"a", 2)], 2)
    subscriptions.compact(3)

    subscriptions.publish([put(b"a", 4)], 4)
    subscriptions.publish_progress(4)

    with pytest.raises(Compacted):
        await subscription.next()


async def test_the_first_failure_is_the_one_that_is_raised(subscriptions: Subscriptions) -> None:
    subscription = subscriptions.add(b"a", b"b", first_revision=1)
    waiting = asyncio.create_task(subscription.next())
    await asyncio.sleep(0)

    subscriptions.fail(Closed("first"))
    subscriptions.fail(Closed("second"))

    with pytest.raises(Closed, match="first"):
        await waiting
