"""Memory: a running watch keeps little of its request, and caches of a custom resource are freed after a change of its
definition.
"""

import asyncio
import gc
import time
from pathlib import Path

import orjson
import uvloop
from aiohttp import web

from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.connections import HTTPConnection
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.watch_responses import WatchResponse
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.storage.cacher.cacher import Cacher
from tests.apiserver.handlers.test_custom_resources import DEFINITIONS, WIDGETS, define, send
from tests.apiserver.serving import LOOPBACK, as_admin, ask, listening, running
from tests.registry.groups.apiextensions.definitions import definition

CHANGES = 4
_TURNS = 500


async def watch_once(server: Server) -> None:
    """Begin a watch, and close the connection."""
    reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
    writer.write(f"GET {WIDGETS}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    writer.close()
    await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def change(server: Server, category: str) -> None:
    """Give the definition another category, and return when discovery has it."""
    body = orjson.dumps({"spec": {"names": {"categories": [category]}}})
    headers = {"Content-Type": "application/merge-patch+json"}
    target = f"{DEFINITIONS}/widgets.example.com"
    answer = await ask(server.secure.port, target, method="PATCH", headers=headers, body=body, tls=as_admin(server))
    assert answer.status == 200, answer.text
    while category not in (await send(server, "GET", "/apis/example.com/v1")).text:
        pass


def contexts(since: float) -> int:
    """The number of contexts of watch requests that came since a moment. Other tests may have servers that run."""
    gc.collect()
    found = (one for one in gc.get_objects() if isinstance(one, RequestContext))
    return sum(one.info.verb == "watch" and one.received >= since for one in found)


async def test_a_running_watch_keeps_no_context_of_its_request(tmp_path: Path) -> None:
    """A server has thousands of watches. Each would keep a frame and a context of every filter."""
    async with running(tmp_path) as server:
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
        began = time.monotonic()

        writer.write(b"GET /api/v1/namespaces?watch=1&allowWatchBookmarks=1 HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"default")

        assert contexts(began) == 0
        writer.close()


def connections() -> int:
    """The number of connections in memory, closed ones too."""
    return sum(isinstance(one, HTTPConnection) for one in gc.get_objects())


def test_the_connection_of_a_watch_is_freed_when_its_client_disconnects(tmp_path: Path) -> None:
    """Not by a garbage collection, which may come much later. OpenSSL has 20 KB for each.

    The loop is the program's, without the watchdog of the tests, which keeps callbacks on Python 3.13.
    """
    with asyncio.Runner(loop_factory=uvloop.Loop) as runner:
        assert runner.run(left_behind_by_a_watch(tmp_path)) == 0


def test_the_connection_of_a_watch_is_freed_when_its_client_does_not_read() -> None:
    with asyncio.Runner(loop_factory=uvloop.Loop) as runner:
        assert runner.run(left_behind_by_a_broken_watch()) == 0


async def left_behind_by_a_broken_watch() -> int:
    """The connections that remain without a garbage collection behind a watch whose client has not read its end."""

    async def fail() -> None:
        raise ConnectionResetError

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        response = WatchResponse(responses.headers(context, responses.JSON), fail)
        await response.prepare(request)
        return response

    async with listening(handle) as listener:
        gc.collect()
        before = connections()
        gc.disable()
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.read()
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        gc.enable()
        writer.close()
        return connections() - before


async def left_behind_by_a_watch(directory: Path) -> int:
    """The connections that remain behind one watch without a garbage collection."""
    async with running(directory) as server:
        gc.collect()
        before = connections()
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
        writer.write(b"GET /api/v1/namespaces?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"default")

        gc.disable()
        writer.transport.abort()
        while server.secure.open_connections:  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0)
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        gc.enable()
        return connections() - before


def alive() -> tuple[int, int]:
    """The number of caches of widgets, and of objects that serve them."""
    gc.collect()
    found = gc.get_objects()
    caches = sum(isinstance(one, Cacher) and one._resource.resource == "widgets" for one in found)
    served = sum(isinstance(one, Served) and str(one.resource) == "widgets.example.com" for one in found)
    return caches, served


def test_a_watched_definition_that_changes_leaves_no_cache_behind(tmp_path: Path) -> None:
    with asyncio.Runner(loop_factory=uvloop.Loop) as runner:
        runner.run(leave_caches_behind(tmp_path))


async def leave_caches_behind(directory: Path) -> None:
    async with running(directory) as server:
        await define(server, definition(scope="Cluster"))
        await watch_once(server)
        at_first = alive()

        for number in range(CHANGES):
            await change(server, f"changed{number}")
            await watch_once(server)
        for _ in range(_TURNS):
            if alive() == at_first:
                break
            await asyncio.sleep(0)

        assert alive() == at_first
