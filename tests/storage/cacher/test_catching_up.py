"""Feeder: watchers catch up, fall behind, catch up again or are ended."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from aio_apiserver.base.yielding import MAX_STEPS
from aio_apiserver.storage.cacher.cache_watcher import CacheWatcher
from aio_apiserver.storage.cacher.catching_up import GRACE_SECONDS, LONGEST_PAUSE, PORTION_BYTES
from aio_apiserver.storage.cacher.slow_watch_budget import MAXIMUM
from aio_apiserver.storage.cacher.window import FRESH_SECONDS, SMALLEST
from aio_apiserver.storage.errors import Corrupt, RevisionExpired
from aio_apiserver.storage.interface import WatchEvent, WatchEventType, WatchOptions
from tests.storage.cacher.cachers import some_turns
from tests.storage.cacher.fanning import Parts, Sink
from tests.storage.cacher.objects import broken, put, stored
from tests.storage.steps import labelled


@pytest.fixture
async def parts() -> AsyncIterator[Parts]:
    parts = Parts()
    yield parts
    await parts.close()


async def pass_time(parts: Parts, seconds: float) -> None:
    """Let time pass in steps shorter than any pause."""
    step = LONGEST_PAUSE / 2
    for _ in range(round(seconds / step)):
        parts.clock.advance(step)
        await some_turns()


def state_watch(parts: Parts, sink: Sink, count: int, **options: object) -> CacheWatcher:
    """A watch that begins with a state of so many objects, at revision 10."""
    watcher = CacheWatcher(
        sink,
        lambda ended: parts.fanout.end(ended, None),
        scope="",
        options=WatchOptions(**options),  # type: ignore[arg-type]
    )
    watcher.show_first([stored(f"default/{number:05}", 1 + number % 9) for number in range(count)], 10)
    parts.feeder.start(watcher)
    return watcher


async def test_a_short_state_has_been_delivered_when_the_watch_has_started(parts: Parts) -> None:
    sink = Sink()

    state_watch(parts, sink, 3, allow_bookmarks=True, send_initial_events=True)

    assert [event.type for event in sink.events] == [WatchEventType.ADDED] * 3 + [WatchEventType.BOOKMARK]
    assert (sink.events[-1].revision, sink.events[-1].ends_initial_events) == (10, True)
    assert parts.fanout.statistics()["members"] == 1


async def test_a_long_state_comes_in_portions_and_changes_after_it(parts: Parts) -> None:
    sink = Sink()
    count = 2 * MAX_STEPS + 1

    state_watch(parts, sink, count, allow_bookmarks=True, send_initial_events=True)
    first = len(sink.events)
    parts.write_keys(11, "default/x", "default/y")
    events = await sink.take(count + 3)

    assert first == MAX_STEPS
    assert [event.type for event in events[:count]] == [WatchEventType.ADDED] * count
    assert events[count].ends_initial_events
    assert [event.revision for event in events[count:]] == [10, 11, 12]


async def test_the_state_waits_for_a_sink_that_is_behind(parts: Parts) -> None:
    sink = Sink(limit=100)
    count = 3 * MAX_STEPS
    state_watch(parts, sink, count)
    await some_turns()
    before = len(sink.events)

    for _ in range(2):
        await sink.take(MAX_STEPS)
        await pass_time(parts, GRACE_SECONDS - 1)
    await sink.take(MAX_STEPS)

    assert before == MAX_STEPS
    assert len(sink.events) == count
    assert not sink.ends


async def test_a_sink_that_takes_nothing_is_ended_after_its_grace(parts: Parts) -> None:
    sink = Sink(limit=1)
    parts.watch(sink)
    parts.write_keys(11, "default/a", "default/b")
    await some_turns()

    await pass_time(parts, GRACE_SECONDS - 1)
    has_grace = not sink.ends
    await pass_time(parts, 2)

    assert has_grace
    assert sink.ends == [None]
    assert parts.feeder.statistics() == {"slowed_watchers": 1, "dropped_watchers": 1}


async def test_the_first_slow_sink_of_a_quiet_time_has_more_patience(parts: Parts) -> None:
    parts.clock.advance(1000)
    first, second = Sink(limit=1), Sink(limit=1)
    for sink in (first, second):
        parts.watch(sink)
    parts.write_keys(11, "default/a", "default/b")
    await some_turns()

    await pass_time(parts, GRACE_SECONDS + MAXIMUM / 2)
    (early,) = [sink for sink in (first, second) if sink.ends]
    await pass_time(parts, MAXIMUM)

    assert early.ends == [None]
    assert [sink.ends for sink in (first, second)] == [[None], [None]]


async def test_a_slow_sink_is_given_nothing_more_until_it_has_caught_up(parts: Parts) -> None:
    slow, fast = Sink(limit=1), Sink()
    parts.watch(slow)
    parts.watch(fast)
    parts.write_keys(11, "default/a", "default/b")
    await some_turns()
    parts.write_keys(13, *(f"default/{number}" for number in range(100)))
    await some_turns()
    held = len(slow.events)

    await slow.take(2)
    await pass_time(parts, 1)
    await slow.take(100)
    await pass_time(parts, 1)
    parts.write_keys(113, "default/c")
    await some_turns()

    assert held == 2
    assert slow.revisions == fast.revisions == list(range(11, 114))
    assert parts.fanout.statistics()["members"] == 2


async def test_a_slow_sink_that_falls_out_of_the_window_has_expired(parts: Parts) -> None:
    slow = Sink(limit=1)
    parts.watch(slow)
    parts.write_keys(11, "default/a", "default/b")
    await some_turns()
    for number in range(2 * SMALLEST):
        parts.clock.advance(FRESH_SECONDS / SMALLEST * 2)
        parts.write_keys(13 + number, "default/c")

    await slow.take(2)
    await pass_time(parts, 1)

    (reason,) = slow.ends
    assert isinstance(reason, RevisionExpired)
    assert str(reason).startswith("too old resource version: 12 (")


async def test_what_was_missed_comes_selected(parts: Parts) -> None:
    parts.write(
        put(stored("default/a", 11, labels={"app": "web"})),
        put(stored("default/b", 12)),
        put(stored("other/c", 13, labels={"app": "web"})),
        put(stored("default/a", 14)),
    )
    sink = Sink()

    parts.watch(sink, "default/", revision=10, predicate=labelled(app="web"))

    assert [(event.type, event.revision) for event in sink.events] == [
        (WatchEventType.ADDED, 11),
        (WatchEventType.DELETED, 14),
    ]


async def test_a_watch_of_one_key_does_not_see_longer_keys(parts: Parts) -> None:
    parts.write_keys(11, "default/ab", "default/a")
    sink = Sink()

    parts.watch(sink, "default/a", revision=10, recursive=False)

    assert sink.keys == ["default/a"]


async def test_much_that_was_missed_comes_in_portions(parts: Parts) -> None:
    total = 2 * MAX_STEPS + 7
    parts.write_keys(11, *(f"default/{number}" for number in range(total)))
    sink = Sink()

    parts.watch(sink, revision=10)
    parts.write_keys(11 + total, "default/x")
    await sink.take(total + 1)

    assert sink.revisions == list(range(11, 12 + total))
    assert len(sink.batches[0].events) == MAX_STEPS


async def test_a_portion_of_large_objects_ends_with_the_one_that_fills_it(parts: Parts) -> None:
    missed, state = Sink(), Sink()
    large = [stored(f"default/{number}", 11 + number, text="x" * (PORTION_BYTES // 2)) for number in range(5)]
    parts.write(*map(put, large))

    parts.watch(missed, revision=10)
    watcher = CacheWatcher(state, lambda _: None, scope="", options=WatchOptions())
    watcher.show_first(large, 15)
    parts.feeder.start(watcher)
    await missed.take(5)
    await state.take(5)

    assert [len(batch.events) for batch in missed.batches] == [2, 2, 1]
    assert [len(batch.events) for batch in state.batches] == [2, 2, 1]


async def test_watchers_that_are_fed_the_same_portion_share_its_bytes(parts: Parts) -> None:
    parts.write(*(put(stored(f"default/{number}", 11 + number, text="x" * PORTION_BYTES)) for number in range(3)))
    sinks = [Sink() for _ in range(2)]

    def encoder(events: Sequence[WatchEvent]) -> bytes:
        return b" ".join(b"%d" % event.revision for event in events)

    frames = []
    for sink in sinks:
        parts.watch(sink, revision=10)
        frames.append(sink.batches[0].encoded(encoder))

    assert frames == [b"11", b"11"]
    assert frames[0] is frames[1]


async def test_a_portion_ends_between_two_revisions(parts: Parts) -> None:
    parts.write_keys(11, *(f"default/{number}" for number in range(MAX_STEPS - 1)))
    revision = 10 + MAX_STEPS
    parts.cache.apply([put(stored(f"other/{number}", revision)) for number in range(5)])
    parts.write_keys(revision + 1, "default/x")
    sink = Sink()

    parts.watch(sink, revision=10)
    await sink.take(MAX_STEPS + 5)

    assert [len(batch.events) for batch in sink.batches] == [MAX_STEPS + 4, 1]


async def test_a_watch_of_the_past_is_refused(parts: Parts) -> None:
    sink = Sink()

    with pytest.raises(RevisionExpired, match=r"^too old resource version: 9 \(10\)$"):
        parts.watch(sink, revision=9)
    assert parts.fanout.statistics()["watchers"] == 0
    assert sink.ends == []


async def test_a_watch_of_the_future_sees_what_comes_behind_it(parts: Parts) -> None:
    sink, other = Sink(), Sink()
    parts.watch(sink, revision=12)
    parts.watch(other)

    parts.write_keys(11, "default/a", "default/b", "default/c")
    await sink.take(1)
    parts.write_keys(14, "default/d")
    await sink.take(1)

    assert sink.revisions == [13, 14]
    assert other.revisions == [11, 12, 13, 14]


async def test_what_cannot_be_read_ends_the_watch_that_catches_up(parts: Parts) -> None:
    parts.write_keys(11, *(f"default/{number}" for number in range(MAX_STEPS)))
    parts.write(put(broken("default/x", 1000)))
    sink = Sink()

    parts.watch(sink, revision=10)
    reason = await sink.ended()

    assert isinstance(reason, Corrupt)
    assert len(sink.events) == MAX_STEPS


async def test_a_watch_that_is_being_fed_can_be_stopped(parts: Parts) -> None:
    sink = Sink()
    watcher = state_watch(parts, sink, 3 * MAX_STEPS)
    await asyncio.sleep(0)

    watcher.stop()
    watcher.stop()
    delivered = len(sink.events)
    await some_turns()

    assert sink.ends == [None]
    assert len(sink.events) == delivered < 3 * MAX_STEPS
