import asyncio
from functools import partial

from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.base.clock import ManualClock


def test_subscribers_are_called_once() -> None:
    draining, calls = Draining(), list[str]()
    draining.subscribe(lambda: calls.append("a"))
    draining.subscribe(lambda: calls.append("b"))

    draining.begin()
    draining.begin()

    assert calls == ["a", "b"]


def test_who_has_left_is_not_called() -> None:
    draining, calls = Draining(), list[str]()
    draining.subscribe(calls.clear)
    calls.append("a")

    draining.unsubscribe(calls.clear)
    draining.unsubscribe(calls.clear)
    draining.begin()

    assert calls == ["a"]


def test_who_comes_late_is_called_at_once() -> None:
    draining, calls = Draining(), list[str]()
    draining.begin()

    late = partial(calls.append, "a")
    draining.subscribe(late)
    draining.unsubscribe(late)

    assert calls == ["a"]


def test_the_announcement_comes_first() -> None:
    draining, calls = Draining(), list[str]()
    draining.subscribe(lambda: calls.append("a"))

    draining.announce()

    assert (draining.is_announced, draining.has_begun, calls) == (True, False, [])


async def test_streams_end_evenly_over_the_time_that_is_given() -> None:
    draining, clock, ended = Draining(), ManualClock(), list[int]()
    for number in range(20):
        draining.subscribe(lambda number=number: ended.append(number))  # type: ignore[misc]

    beginning = asyncio.create_task(draining.begin_spread(1.0, clock))
    counts = []
    for _ in range(10):
        await asyncio.sleep(0)
        counts.append(len(ended))
        clock.advance(0.1)
    await beginning

    assert counts == [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert draining.has_begun


async def test_streams_end_at_once_without_a_time() -> None:
    draining, calls = Draining(), list[str]()
    draining.subscribe(lambda: calls.append("a"))

    await draining.begin_spread(0.0, ManualClock())

    assert calls == ["a"]
