"""Feed: which subscription gets which batch, what subscriptions share, and what a slow reader loses."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aio_apiserver.storage.errors import Closed
from aio_apiserver.storage.kv.feed import Feed, Subscription
from aio_apiserver.storage.kv.interface import Event, EventBatch, EventType
from aio_apiserver.storage.record import Record


@pytest.fixture
def feed() -> Feed:
    return Feed(1)


def put(key: bytes, revision: int, value: bytes = b"value") -> Event:
    return Event(EventType.PUT, Record(key, value, revision, revision, 1))


def joined(feed: Feed, start: bytes, end: bytes, *, revision: int = 2) -> Subscription:
    subscription = feed.subscribe(start, end)
    subscription.join(revision, current=feed.revision)
    return subscription


def drain(subscription: Subscription) -> list[EventBatch]:
    return [batch for _ in range(subscription.backlog) if (batch := subscription.pop())]


class TestDelivery:
    async def test_a_subscription_gets_what_is_published_for_its_range(self, feed: Feed) -> None:
        subscription = joined(feed, b"b", b"c")

        for revision, key in enumerate([b"a", b"b", b"bb", b"c"], start=2):
            feed.publish([put(key, revision)], revision)

        assert drain(subscription) == [EventBatch([put(b"b", 3)], 3), EventBatch([put(b"bb", 4)], 4)]

    async def test_of_one_revision_it_gets_the_events_of_its_range(self, feed: Feed) -> None:
        subscription = joined(feed, b"b", b"c")

        feed.publish([put(key, 2) for key in (b"a", b"b", b"bb", b"c")], 2)
        feed.publish([put(key, 3) for key in (b"a", b"c")], 3)

        assert drain(subscription) == [EventBatch([put(b"b", 2), put(b"bb", 2)], 2)]

    async def test_a_subscription_starts_with_its_first_revision(self, feed: Feed) -> None:
        subscription = joined(feed, b"a", b"b", revision=4)

        feed.publish([put(b"a", 2)], 2)
        feed.publish([put(b"a", revision) for revision in (3, 4, 5)], 5)

        assert drain(subscription) == [EventBatch([put(b"a", 4), put(b"a", 5)], 5)]

    async def test_before_it_has_joined_it_gets_nothing(self, feed: Feed) -> None:
        subscription = feed.subscribe(b"a", b"b")

        feed.publish([put(b"a", 2)], 2)

        assert subscription.backlog == 0

    async def test_subscriptions_of_one_range_share_their_batches(self, feed: Feed) -> None:
        one, other = [joined(feed, b"a", b"b") for _ in range(2)]

        feed.publish([put(b"a", 2)], 2)

        batch = one.pop()
        assert batch is not None
        assert other.pop() is batch

    async def test_a_removed_subscription_gets_nothing(self, feed: Feed) -> None:
        staying, leaving = [joined(feed, b"a", b"b") for _ in range(2)]

        feed.unsubscribe(leaving)
        feed.publish([put(b"a", 2)], 2)

        assert (staying.backlog, leaving.backlog) == (1, 0)
        assert (len(feed), feed.backlog) == (1, 1)


class TestProgress:
    async def test_the_newest_of_several_promises_is_enough(self, feed: Feed) -> None:
        subscription = joined(feed, b"a", b"b")

        feed.promise_progress()
        feed.publish([put(b"a", 2)], 2)
        feed.promise_progress()
        feed.publish([put(b"z", 3)], 3)
        feed.promise_progress()

        assert drain(subscription) == [EventBatch((), 1), EventBatch([put(b"a", 2)], 2), EventBatch((), 3)]

    async def test_a_promise_that_was_lost_is_given_again(self, feed: Feed) -> None:
        subscription = joined(feed, b"a", b"b")
        feed.publish([put(b"a", 2)], 2)
        feed.promise_progress()
        feed.compact(3)
        feed.publish([put(b"a", 3)], 3)

        subscription.join(4, current=3)

        assert drain(subscription) == [EventBatch((), 3)]

    async def test_who_waits_for_a_revision_goes_on_once_it_is_published(self, feed: Feed) -> None:
        waiting = asyncio.create_task(feed.wait_until_reached(3))
        await asyncio.sleep(0)

        feed.publish([put(b"a", 2)], 2)
        await asyncio.sleep(0)
        is_early = waiting.done()
        feed.publish([put(b"a", 3)], 3)

        await waiting
        assert not is_early


class TestLoss:
    async def test_a_compaction_drops_queues_with_older_events(self, feed: Feed) -> None:
        behind = joined(feed, b"a", b"b")
        in_step = joined(feed, b"a", b"b", revision=3)
        for revision in (2, 3):
            feed.publish([put(b"a", revision)], revision)

        feed.compact(3)

        assert (behind.lost_from, drain(behind)) == (2, [])
        assert (in_step.lost_from, drain(in_step)) == (None, [EventBatch([put(b"a", 3)], 3)])

    async def test_old_progress_does_not_count_as_lagging(self, feed: Feed) -> None:
        subscription = joined(feed, b"a", b"b")
        feed.promise_progress()

        feed.compact(5)

        assert drain(subscription) == [EventBatch((), 1)]

    async def test_nothing_is_seen_behind_a_gap(self, feed: Feed) -> None:
        subscription = joined(feed, b"a", b"b")
        feed.publish([put(b"a", 2)], 2)
        feed.compact(3)

        feed.publish([put(b"a", 4)], 4)
        feed.promise_progress()

        assert (subscription.lost_from, drain(subscription)) == (2, [])

    async def test_a_slow_reader_loses_all_from_the_oldest_on(self, feed: Feed) -> None:
        slow, quick = [joined(feed, b"a", b"b") for _ in range(2)]
        for revision in range(2, 14):
            feed.publish([put(b"a", revision, bytes(1 << 20))], revision)
            quick.pop()

        assert (slow.lost_from, drain(slow)) == (2, [])
        assert quick.lost_from is None

    async def test_one_batch_is_kept_however_large(self, feed: Feed) -> None:
        subscription = joined(feed, b"a", b"b")

        feed.publish([put(b"a", revision, bytes(1 << 20)) for revision in range(2, 14)], 13)

        assert [batch.revision for batch in drain(subscription)] == [13]


async def test_the_first_failure_is_the_one_that_counts(feed: Feed) -> None:
    subscription = joined(feed, b"a", b"b")
    waiting = asyncio.create_task(subscription.wait_until_changed())
    await asyncio.sleep(0)

    feed.fail(Closed("first"))
    feed.fail(Closed("second"))

    await waiting
    assert str(subscription.failure) == "first"


BOUND = st.binary(min_size=1, max_size=2)


@given(
    scopes=st.lists(st.tuples(BOUND, BOUND), max_size=8),
    left=st.sets(st.integers(0, 7)),
    keys=st.lists(BOUND, min_size=1, max_size=20),
)
@settings(derandomize=True, deadline=None)
def test_each_range_gets_the_keys_that_it_covers(
    scopes: list[tuple[bytes, bytes]], left: set[int], keys: list[bytes]
) -> None:
    feed = Feed(1)
    subscriptions = [feed.subscribe(start, end) for start, end in scopes]
    for subscription in subscriptions:
        subscription.join(2, current=1)
    for index in left & set(range(len(scopes))):
        feed.unsubscribe(subscriptions[index])
    records = [Record(key, b"", revision, revision, 1) for revision, key in enumerate(keys, 2)]

    feed.publish([Event(EventType.PUT, record) for record in records], records[-1].mod_revision)

    for index, (start, end) in enumerate(scopes):
        batch = subscriptions[index].pop()
        expected = [record for record in records if start <= record.key < end and index not in left]
        assert [event.record for event in (batch.events if batch else ())] == expected
