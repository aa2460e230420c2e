import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest
from aiohttp import web

from aio_apiserver.apiserver.filters.deadlines import Deadlines
from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.filters.sending import with_sending
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.base.clock import ManualClock
from tests.apiserver.serving import LOOPBACK, Answer, ask, listening


class Gate:
    """A handler that answers with the time limit of its request, when the test allows it."""

    def __init__(self) -> None:
        self.entered = asyncio.Semaphore(0)
        self.opened = asyncio.Event()

    async def handle(self, _request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        self.entered.release()
        await self.opened.wait()
        return responses.text(context, f"{context.deadline - context.received:g}")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def deadlines(clock: ManualClock) -> AsyncIterator[Deadlines]:
    made = Deadlines(clock, timeout=60)
    yield made
    await made.close()


async def advance(clock: ManualClock, seconds: float) -> None:
    """Advance the time when the sleeper sleeps."""
    await asyncio.sleep(0)
    clock.advance(seconds)


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        ("", "60"),
        ("?timeout=", "60"),
        ("?timeout=5s", "5"),
        ("?timeout=2m", "60"),
        ("?timeout=0s", "60"),
        ("?timeout=-1s", "60"),
    ],
)
async def test_the_shorter_timeout_counts(deadlines: Deadlines, clock: ManualClock, query: str, seconds: str) -> None:
    gate = Gate()
    gate.opened.set()

    async with listening(gate.handle, with_request_info, with_errors, deadlines.with_deadline, clock=clock) as listener:
        answer = await ask(listener.port, f"/x{query}")

    assert answer.text == seconds


async def test_a_timeout_that_is_none_is_a_bad_request(deadlines: Deadlines, clock: ManualClock) -> None:
    async with listening(
        Gate().handle, with_request_info, with_errors, deadlines.with_deadline, clock=clock
    ) as listener:
        answer = await ask(listener.port, "/x?timeout=1")

    assert answer.status == 400
    assert answer.json["message"] == (
        'invalid timeout specified in the request URL - time: missing unit in duration "1"'
    )


async def test_a_request_ends_at_its_deadline_and_not_before(deadlines: Deadlines, clock: ManualClock) -> None:
    gate = Gate()

    async with listening(gate.handle, with_request_info, with_errors, deadlines.with_deadline, clock=clock) as listener:
        asking = asyncio.create_task(ask(listener.port, "/x"))
        await gate.entered.acquire()
        await advance(clock, 59)
        assert deadlines.running == 1
        await advance(clock, 1)
        answer = await asking

    assert answer.status == 504
    assert answer.json == {
        "metadata": {},
        "status": "Failure",
        "message": "Timeout: request did not complete within the allotted timeout",
        "reason": "Timeout",
        "details": {},
        "code": 504,
    }


async def test_a_shorter_deadline_that_comes_later_is_met_first(deadlines: Deadlines, clock: ManualClock) -> None:
    gate = Gate()

    async with listening(gate.handle, with_request_info, with_errors, deadlines.with_deadline, clock=clock) as listener:
        patient = asyncio.create_task(ask(listener.port, "/x"))
        await gate.entered.acquire()
        hasty = asyncio.create_task(ask(listener.port, "/x?timeout=1s"))
        await gate.entered.acquire()
        await advance(clock, 1)
        refused = await hasty
        assert deadlines.running == 1
        await advance(clock, 59)
        late = await patient

    assert (refused.status, late.status) == (504, 504)


async def test_long_running_requests_have_none(deadlines: Deadlines, clock: ManualClock) -> None:
    gate = Gate()

    async with listening(gate.handle, with_request_info, with_errors, deadlines.with_deadline, clock=clock) as listener:
        watching = asyncio.create_task(ask(listener.port, "/api/v1/pods?watch=1"))
        await gate.entered.acquire()
        await advance(clock, 1000)
        assert deadlines.running == 0
        gate.opened.set()
        answer = await watching

    assert answer.status == 200


async def test_idle_is_when_the_last_request_has_ended(deadlines: Deadlines, clock: ManualClock) -> None:
    gate = Gate()

    async with listening(gate.handle, with_request_info, with_errors, deadlines.with_deadline, clock=clock) as listener:
        await deadlines.wait_until_idle()
        asking: list[asyncio.Task[Answer]] = [asyncio.create_task(ask(listener.port, "/x")) for _ in range(3)]
        for _ in asking:
            await gate.entered.acquire()
        waiting = asyncio.create_task(deadlines.wait_until_idle())
        await asyncio.sleep(0)
        assert not waiting.done()
        gate.opened.set()
        await waiting
        await asyncio.gather(*asking)

    assert deadlines.running == 0


async def test_a_reader_that_does_not_read_is_cut_off(deadlines: Deadlines, clock: ManualClock) -> None:
    async def large(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return responses.raw(context, b"x" * 50_000_000)

    sending = partial(with_sending, draining=Draining())
    filters = (with_request_info, with_errors, deadlines.with_deadline, sending)
    async with listening(large, *filters, clock=clock) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port, limit=1024)
        writer.write(b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        assert deadlines.running == 1
        await advance(clock, 60)
        await deadlines.wait_until_idle()

        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(50_000_000)
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)
