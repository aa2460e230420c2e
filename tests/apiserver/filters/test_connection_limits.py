"""Connection limits on a whole server: connections of one user and of one address, and starts of watches."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from aio_apiserver.apiserver.filters import request_info
from aio_apiserver.apiserver.filters.connection_limits import with_connection_limits
from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.plugins.flowcontrol.watch_starts import WatchStarts
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, listening, read_answer, running, trusting

TARGET = "/version"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("jane-token,jane,jane\njoe-token,joe,joe\n")
    flags = {"max_connections_per_user": 2, "max_connections_per_address": 5}
    async with running(tmp_path, token_auth_file=tokens, **flags) as server:
        yield server


class Client:
    """One connection that stays open."""

    def __init__(self, server: Server, stack: AsyncExitStack, tls: ssl.SSLContext | None = None) -> None:
        self._server, self._stack, self._tls = server, stack, tls or trusting(server)

    async def ask(self, token: str, target: str = TARGET) -> Answer:
        if not hasattr(self, "_reader"):
            self._reader, self._writer = await asyncio.open_connection(
                LOOPBACK, self._server.secure.port, ssl=self._tls
            )
            self._stack.callback(self._writer.close)
        authorized = f"Authorization: Bearer {token}\r\n" if token else ""
        self._writer.write(f"GET {target} HTTP/1.1\r\nHost: x\r\n{authorized}\r\n".encode())
        return await read_answer(self._reader)


async def refused(server: Server, limit: str) -> bool:
    """Whether the metrics count connections refused by a limit."""
    metrics = (await ask(server.secure.port, "/metrics", tls=as_admin(server))).text
    line = f'aio_apiserver_connections_refused_total{{limit="{limit}"}} '
    return any(found.startswith(line) and not found.endswith(" 0") for found in metrics.splitlines())


async def until_open(server: Server, count: int) -> None:
    """Wait for the ends of earlier connections."""
    while server.parts.limits.connections.statistics()["open"] != count:  # noqa: ASYNC110 the sockets decide when
        await asyncio.sleep(0)


async def test_a_user_with_too_many_connections_gets_429_and_others_do_not(server: Server) -> None:
    await until_open(server, 0)
    async with AsyncExitStack() as stack:
        clients = [Client(server, stack) for _ in range(3)]
        janes = [await client.ask("jane-token") for client in clients]
        joe = await Client(server, stack).ask("joe-token")
        again = await clients[0].ask("jane-token")

    assert [answer.status for answer in janes] == [200, 200, 429]
    assert (janes[2].headers["retry-after"], janes[2].headers["connection"]) == ("1", "close")
    assert (joe.status, again.status) == (200, 200)
    assert await refused(server, "user")


async def test_an_address_with_too_many_connections_gets_no_more(server: Server) -> None:
    await until_open(server, 0)
    async with AsyncExitStack() as stack:
        for _ in range(5):
            assert (await Client(server, stack, as_admin(server)).ask("")).status == 200
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await Client(server, stack, as_admin(server)).ask("")

    await until_open(server, 0)
    assert await refused(server, "address")


async def test_a_user_who_begins_watches_without_end_gets_429() -> None:
    starts = WatchStarts(ManualClock(), burst=1, per_second=1)

    async def handler(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return responses.text(context, "served")

    limited = partial(with_connection_limits, starts=starts)
    async with listening(handler, request_info.with_request_info, limited) as listener:
        answers = [
            await ask(listener.port, f"/api/v1/namespaces{query}") for query in ("?watch=1", "?watch=1", "?limit=1")
        ]

    assert [answer.status for answer in answers] == [200, 429, 200]
    assert (answers[1].headers["retry-after"], answers[1].headers["connection"]) == ("1", "close")
