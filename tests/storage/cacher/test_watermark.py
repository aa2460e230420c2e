"""Watermark: it only grows, wakes the waiters that it has passed, and keeps none that has left."""

import asyncio

import pytest

from aio_apiserver.storage.cacher.watermark import Watermark
from aio_apiserver.storage.errors import Closed


async def test_what_has_been_reached_is_not_waited_for() -> None:
    mark = Watermark()
    mark.advance(5)

    assert mark.expect(5).done()
    assert len(mark) == 0


async def test_those_who_waited_for_no_more_are_woken() -> None:
    mark = Watermark()
    near, far = mark.expect(5), mark.expect(7)

    mark.advance(6)

    assert near.result() is True
    assert not far.done()
    mark.advance(7)
    assert far.result() is True


async def test_it_never_goes_back() -> None:
    mark = Watermark()
    mark.advance(5)

    mark.advance(3)

    assert mark.revision == 5


async def test_who_gives_up_leaves_nothing_behind() -> None:
    mark = Watermark()
    waiting = [mark.expect(10**18), mark.expect(10**18)]

    waiting[0].cancel()
    waiting[1].set_result(False)
    await asyncio.sleep(0)

    assert len(mark) == 0


async def test_a_failure_reaches_those_who_wait_and_those_who_come() -> None:
    mark = Watermark()
    mark.advance(5)
    waiting = mark.expect(6)

    mark.fail(Closed("closed"))

    for arrival in (waiting, mark.expect(7)):
        with pytest.raises(Closed):
            await arrival
    assert mark.expect(5).result() is True
