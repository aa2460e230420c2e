"""Audit: the last event of a request reports its end."""

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest
from aiohttp import web

from aio_apiserver.apiserver.auditing.auditor import Auditor
from aio_apiserver.apiserver.filters.audit import with_audit
from aio_apiserver.apiserver.filters.deadlines import Deadlines
from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Filter, RequestContext
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.generic.audit.levels import Level
from aio_apiserver.registry.generic.audit.policy import Policy, Recording
from aio_apiserver.registry.generic.audit.trail import Event
from tests.apiserver.serving import LOOPBACK, ask, listening


class Kept:
    """Records events."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.is_complete = asyncio.Event()

    async def process(self, events: Sequence[Event]) -> bool:
        self.events += events
        if events[-1]["stage"] != "RequestReceived":
            self.is_complete.set()
        return True

    async def close(self) -> None:
        """Nothing has to be closed."""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def kept() -> Kept:
    return Kept()


def filters(kept: Kept, clock: ManualClock, *outside: Filter) -> list[Filter]:
    auditor = Auditor(Policy([], Recording(Level.METADATA)), kept, AuditMetrics(), clock)
    return [with_request_info, with_errors, *outside, partial(with_audit, auditor=auditor), with_errors]


async def test_a_mistake_of_ours_is_a_panic(kept: Kept, clock: ManualClock, caplog: pytest.LogCaptureFixture) -> None:
    async def handler(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
        raise ZeroDivisionError

    async with listening(handler, *filters(kept, clock), clock=clock) as listener:
        answer = await ask(listener.port, "/x")

    assert answer.status == 500
    assert [event["stage"] for event in kept.events] == ["RequestReceived", "Panic"]
    assert kept.events[-1]["responseStatus"]["reason"] == "InternalError"
    assert "ZeroDivisionError" in caplog.text


async def test_a_request_whose_time_is_up_is_recorded_as_that(kept: Kept, clock: ManualClock) -> None:
    begun = asyncio.Event()
    deadlines = Deadlines(clock, timeout=60)

    async def handler(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with listening(handler, *filters(kept, clock, deadlines.with_deadline), clock=clock) as listener:
        asking = asyncio.create_task(ask(listener.port, "/x"))
        await begun.wait()
        clock.advance(60)
        answer = await asking
    await deadlines.close()

    assert answer.status == 504
    assert kept.events[-1]["stage"] == "ResponseComplete"
    assert kept.events[-1]["responseStatus"]["code"] == 504


async def test_a_client_that_leaves_is_recorded_as_gone(kept: Kept, clock: ManualClock) -> None:
    begun = asyncio.Event()

    async def handler(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with listening(handler, *filters(kept, clock), clock=clock) as listener:
        _, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.wait()
        writer.close()
        await writer.wait_closed()
        await kept.is_complete.wait()

    assert kept.events[-1]["responseStatus"]["message"] == "Connection closed early"


async def test_an_answer_is_not_complete_before_it_has_begun(kept: Kept, clock: ManualClock) -> None:
    async def handler(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return responses.text(context, "ok")

    async with listening(handler, *filters(kept, clock), clock=clock) as listener:
        await ask(listener.port, "/api/v1/watch/pods", headers={"X-Real-Ip": "::ffff:10.0.0.1"})

    stages = [event["stage"] for event in kept.events]
    assert stages == ["RequestReceived", "ResponseStarted", "ResponseComplete"]
    assert kept.events[0]["sourceIPs"] == ["10.0.0.1", LOOPBACK]
