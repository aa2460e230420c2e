import asyncio
from functools import partial

import pytest
from aiohttp import web
from msgspec.structs import replace

from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.filters.max_in_flight import with_max_in_flight
from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Filter, Handler, RequestContext
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo
from aio_apiserver.registry.plugins.flowcontrol.occupancy import InFlight
from tests.apiserver.serving import ask, listening

READ = "/api/v1/pods"


def as_user(user: UserInfo) -> Filter:
    """A filter that sets the same user for every request."""

    def wrap(handler: Handler) -> Handler:
        async def known(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            return await handler(request, replace(context, user=user))

        return known

    return wrap


class Busy:
    """Holds requests until the test releases it."""

    def __init__(self) -> None:
        self.entered = asyncio.Semaphore(0)
        self.opened = asyncio.Event()

    async def handle(self, _request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        self.entered.release()
        await self.opened.wait()
        return responses.text(context, "done")


class Limits:
    """The filter with its limits and counts."""

    def __init__(self, *, max_reading: int, max_changing: int) -> None:
        clock = SystemClock()
        self.in_flight = InFlight(clock.monotonic())
        self.refused: list[RequestContext] = []
        self.filter = partial(
            with_max_in_flight,
            in_flight=self.in_flight,
            clock=clock,
            max_reading=max_reading,
            max_changing=max_changing,
            on_refused=self.refused.append,
        )


def filters(limits: Limits, *groups: str) -> tuple[Filter, ...]:
    return with_request_info, with_errors, as_user(UserInfo(name="u", groups=groups)), limits.filter


async def test_what_is_too_much_is_asked_to_come_again() -> None:
    busy, flow = Busy(), Limits(max_reading=2, max_changing=1)

    async with listening(busy.handle, *filters(flow)) as listener:
        asking = [asyncio.create_task(ask(listener.port, READ)) for _ in range(2)]
        for _ in asking:
            await busy.entered.acquire()
        refused = await ask(listener.port, READ)
        assert (flow.in_flight.reading.present, flow.in_flight.changing.present) == (2, 0)
        busy.opened.set()
        done = await asyncio.gather(*asking)
        again = await ask(listener.port, READ)

    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    assert refused.text == "Too many requests, please try again later.\n"
    assert len(flow.refused) == 1
    assert [answer.status for answer in (*done, again)] == [200, 200, 200]
    assert flow.in_flight.reading.present == 0


async def test_changes_are_counted_apart_from_reads() -> None:
    busy, flow = Busy(), Limits(max_reading=1, max_changing=1)

    async with listening(busy.handle, *filters(flow)) as listener:
        asking = [asyncio.create_task(ask(listener.port, READ, method=method)) for method in ("GET", "POST")]
        for _ in asking:
            await busy.entered.acquire()
        refused = await ask(listener.port, READ, method="DELETE")
        busy.opened.set()
        done = await asyncio.gather(*asking)

    assert refused.status == 429
    assert [answer.status for answer in done] == [200, 200]


@pytest.mark.parametrize(
    ("groups", "target"), [([MASTERS], READ), ([], f"{READ}?watch=1")], ids=["masters", "long-running"]
)
async def test_some_always_get_in(groups: list[str], target: str) -> None:
    busy, flow = Busy(), Limits(max_reading=1, max_changing=1)

    async with listening(busy.handle, *filters(flow, *groups)) as listener:
        asking = [asyncio.create_task(ask(listener.port, target)) for _ in range(3)]
        for _ in asking:
            await busy.entered.acquire()
        busy.opened.set()
        done = await asyncio.gather(*asking)

    assert [answer.status for answer in done] == [200, 200, 200]


async def test_zero_is_no_limit() -> None:
    busy, flow = Busy(), Limits(max_reading=0, max_changing=0)
    busy.opened.set()

    async with listening(busy.handle, *filters(flow)) as listener:
        answer = await ask(listener.port, READ)

    assert answer.status == 200
