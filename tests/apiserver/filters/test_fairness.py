"""Fairness before a busy handler, over real sockets."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import pytest
from aiohttp import web
from msgspec.structs import replace

from aio_apiserver.apiserver.endpoints import flow_dumps
from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.filters.fairness import FairnessFilter
from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Filter, Handler, RequestContext
from aio_apiserver.apiserver.wire.long_bodies import CompressedBody, JoinedList
from aio_apiserver.apiserver.wire.paced_writing import PacedWriters
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.base.clock import ManualClock, SystemClock
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, MASTERS, UserInfo
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane
from aio_apiserver.registry.plugins.flowcontrol.occupancy import InFlight
from aio_apiserver.registry.plugins.flowcontrol.priority_level import LevelConfig
from aio_apiserver.registry.plugins.flowcontrol.queue_set import Queuing
from aio_apiserver.registry.plugins.flowcontrol.tickets import Ticket, work_of
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from tests.apiserver.serving import LOOPBACK, Answer, ask, listening
from tests.apiserver.wire.test_paced_writing import until_stalled
from tests.registry.plugins.flowcontrol.lines import some_turns

READ, WATCH = "/api/v1/pods", "/api/v1/pods?watch=1"
DUMP = "/debug/api_priority_and_fairness/dump_requests"
PATIENCE = 30
QUEUES = "/debug/api_priority_and_fairness/dump_queues"


class Busy:
    """A handler that holds its requests, behind fairness with one seat for each level.

    Only the mandatory levels exist: system:masters is exempt, and catch-all refuses all others.
    """

    def __init__(self, fairness: Fairness, clock: ManualClock) -> None:
        self.fairness = fairness
        self.in_flight = InFlight(clock.monotonic())
        self.refused: list[RequestContext] = []
        self.opened = asyncio.Event()
        self.begin_watches = asyncio.Event()
        self._entered = asyncio.Semaphore(0)
        self._dumps = flow_dumps.exact(fairness, clock)
        self._clock = clock

    async def handle(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if context.path in self._dumps:
            return await self._dumps[context.path](request, context)
        self._entered.release()
        if context.info.verb == "watch":
            await self.begin_watches.wait()
            await context.started(200)
        await self.opened.wait()
        return responses.text(context, "done")

    def filters(self, *groups: str) -> tuple[Filter, ...]:
        user = UserInfo(name="jane", groups=(*groups, ALL_AUTHENTICATED))
        fair = partial(
            FairnessFilter,
            fairness=self.fairness,
            in_flight=self.in_flight,
            clock=self._clock,
            draining=Draining(),
            request_seconds=60,
            on_refused=self.refused.append,
        )
        return with_request_info, with_errors, partial(as_user, user=user), fair

    @asynccontextmanager
    async def held(self, port: int, *targets: str) -> AsyncIterator[list["asyncio.Task[Answer]"]]:
        """So many requests run all the time."""
        asking = [asyncio.create_task(ask(port, target)) for target in targets]
        for _ in targets:
            await self._entered.acquire()
        yield asking
        self.opened.set()
        self.begin_watches.set()
        await asyncio.gather(*asking)


def as_user(handler: Handler, user: UserInfo) -> Handler:
    """A filter that sets the same user for every request."""

    async def known(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return await handler(request, replace(context, user=user))

    return known


@pytest.fixture
async def busy() -> AsyncIterator[Busy]:
    clock = ManualClock()
    async with StorageFactory(StorageConfig(), clock=clock) as factory:
        fairness = Fairness(factory.storage_for, clock, seats=2, sizes_of=lambda _group, _resource: None)
        yield Busy(fairness, clock)
        await fairness.close()


async def test_what_is_too_much_is_asked_to_come_again(busy: Busy) -> None:
    async with listening(busy.handle, *busy.filters()) as listener, busy.held(listener.port, READ, READ) as held:
        refused = await ask(listener.port, READ)
        assert busy.in_flight.reading.present == 2

    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    assert refused.text == "Too many requests, please try again later.\n"
    assert refused.headers["content-type"] == "text/plain; charset=utf-8"
    assert [task.result().status for task in held] == [200, 200]
    assert len(busy.refused) == 1
    assert busy.in_flight.reading.present == 0


async def test_masters_are_exempt(busy: Busy) -> None:
    async with (
        listening(busy.handle, *busy.filters(MASTERS)) as listener,
        busy.held(listener.port, *[READ] * 4) as held,
    ):
        pass

    assert [task.result().status for task in held] == [200] * 4


async def test_a_watch_has_a_seat_until_it_has_begun(busy: Busy) -> None:
    async with listening(busy.handle, *busy.filters()) as listener, busy.held(listener.port, WATCH, WATCH):
        refused = await ask(listener.port, READ)
        busy.begin_watches.set()
        await some_turns()
        async with busy.held(listener.port, READ, READ) as held:
            pass

    assert refused.status == 429
    assert [task.result().status for task in held] == [200, 200]


@pytest.mark.parametrize("target", ["/api/v1/namespaces/default/pods/web/log", "/api/v1/namespaces/d/pods/x/exec"])
async def test_what_else_runs_long_has_none(busy: Busy, target: str) -> None:
    async with listening(busy.handle, *busy.filters()) as listener, busy.held(listener.port, *[target] * 3) as held:
        pass

    assert [task.result().status for task in held] == [200] * 3


async def test_the_dump_shows_who_is_served(busy: Busy) -> None:
    async with (
        listening(busy.handle, *busy.filters(MASTERS)) as listener,
        busy.held(listener.port, "/api/v1/namespaces/default/pods/web"),
    ):
        dump = await ask(listener.port, f"{DUMP}?includeRequestDetails=1")

    rows = [[cell.strip() for cell in line.split(",")] for line in dump.text.splitlines()]
    (pod,) = (row for row in rows if "pods" in row)
    shown = dict(zip(rows[0], pod, strict=True))
    assert shown["PriorityLevelName"] == shown["FlowSchemaName"] == "exempt"
    assert (shown["UserName"], shown["Verb"], shown["Namespace"], shown["Name"]) == ("jane", "get", "default", "web")


async def test_the_dump_of_queues_shows_the_seats_of_waiting_requests(busy: Busy) -> None:
    levels = busy.fairness.levels
    queuing = Queuing(queues=1, hand_size=1, length_limit=10)
    levels.configure([LevelConfig(name="one", uid="u", shares=1, lendable_percent=0, queuing=queuing)])
    level = levels.by_name["one"]
    lane = Lane("schema", "", level, [level.queues.queue(0)], busy.fairness.metrics.of("one", "schema"), None, 0)
    for final in (0, 3, 4):
        assert busy.fairness.enter(Ticket(lane, work_of(level.queues.limit, final), 0.0))

    async with listening(busy.handle, *busy.filters(MASTERS)) as listener:
        dump = await ask(listener.port, QUEUES)

    header, *rows = [[cell.strip() for cell in line.split(",")] for line in dump.text.splitlines()]
    shown = next(dict(zip(header, row, strict=True)) for row in rows if row[0] == "one")
    assert (shown["PendingRequests"], shown["ExecutingRequests"], shown["MaxSeatsSum"]) == ("2", "1", "7")


async def test_a_list_gives_its_seats_back_when_the_client_stalls_even_if_work_is_left(busy: Busy) -> None:
    items = [os.urandom(1024 * 1024)] * 12  # more than the buffers of the kernel

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if context.path == DUMP:
            return await busy.handle(request, context)
        body = JoinedList(b"", b"", b"", items, content_type="application/json")
        is_plain = context.info.resource == "nodes"
        compressed = CompressedBody(body, content_type="application/json", user="jane")
        return responses.raw(context, body if is_plain else compressed)

    writers = PacedWriters(SystemClock())
    async with listening(handle, *busy.filters(MASTERS), writers=writers) as listener:
        with begun(listener.port, READ), begun(listener.port, "/api/v1/nodes"):
            await until_stalled(writers, 2)
            async with asyncio.timeout(PATIENCE):
                while await seats(listener.port):
                    pass


@contextmanager
def begun(port: int, target: str) -> Iterator[None]:
    """A request of a client that reads the beginning of its response, and no more."""
    with socket.create_connection((LOOPBACK, port)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        yield


async def seats(port: int) -> set[str]:
    """The resources of the requests with seats."""
    dump = await ask(port, f"{DUMP}?includeRequestDetails=1")
    header, *rows = [[cell.strip() for cell in line.split(",")] for line in dump.text.splitlines()]
    return {row[header.index("Resource")] for row in rows} - {""}
