"""Memory: what is left of requests.

A running watch keeps little of its request. Connections are freed without a garbage collection. Caches of a custom
resource are freed after a change of its definition.

Each part counts the objects of a whole process, and so runs in one of its own.
"""

import asyncio
import gc
from pathlib import Path

import orjson
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
from tests.own_process import run_alone
from tests.registry.groups.apiextensions.example_definitions import definition

CHANGES = 4
MAPS = "/api/v1/namespaces/default/configmaps"
LARGE_OBJECTS = 30
PATIENCE = 30
STALLED = "aio_apiserver_watches_stalled 1"
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


async def keep_no_context(directory: Path) -> None:
    async with running(directory) as server:
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
        writer.write(b"GET /api/v1/namespaces?watch=1&allowWatchBookmarks=1 HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"default")

        gc.collect()
        contexts = [one for one in gc.get_objects() if isinstance(one, RequestContext)]
        assert not [one for one in contexts if one.info.verb == "watch"]
        writer.close()


def connections() -> int:
    """The number of connections in memory, closed ones too."""
    return sum(isinstance(one, HTTPConnection) for one in gc.get_objects())


async def settle(server: Server) -> None:
    """Return when all connections are closed."""
    while server.secure.open_connections:  # noqa: ASYNC110 - the server tells nobody
        await asyncio.sleep(0)
    for _ in range(_TURNS):
        await asyncio.sleep(0)


async def free_the_connection_of_a_broken_watch() -> None:
    """The client of the watch has not read its end."""

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
        assert connections() == before
        writer.close()


async def free_the_connection_of_a_watch(directory: Path) -> None:
    async with running(directory) as server:
        gc.collect()
        before = connections()
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
        writer.write(b"GET /api/v1/namespaces?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"default")

        gc.disable()
        writer.transport.abort()
        await settle(server)
        async with asyncio.timeout(PATIENCE):
            while connections() > before:  # noqa: ASYNC110 - a timer of some milliseconds may still have it
                await asyncio.sleep(0)


async def free_the_connection_of_a_list(directory: Path) -> None:
    """The client has read nothing of a list that is longer than all buffers, and leaves."""
    async with running(directory) as server:
        for number in range(LARGE_OBJECTS):
            body = {"metadata": {"name": f"large-{number}"}, "data": {"text": "a" * 900_000}}
            made = await send(server, "POST", MAPS, body)
            assert made.status == 201, made.text
        await settle(server)
        gc.collect()
        before = connections()
        gc.disable()
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
        writer.write(f"GET {MAPS} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        while STALLED not in (await send(server, "GET", "/metrics")).text:
            pass

        writer.transport.abort()
        await settle(server)
        async with asyncio.timeout(PATIENCE):
            while connections() > before:  # noqa: ASYNC110 - a timer of some milliseconds may still have it
                await asyncio.sleep(0)


def alive() -> tuple[int, int]:
    """The number of caches of widgets, and of objects that serve them."""
    gc.collect()
    found = gc.get_objects()
    caches = sum(isinstance(one, Cacher) and one._resource.resource == "widgets" for one in found)
    served = sum(isinstance(one, Served) and str(one.resource) == "widgets.example.com" for one in found)
    return caches, served


async def leave_no_cache_behind(directory: Path) -> None:
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


async def test_a_running_watch_keeps_no_context_of_its_request(tmp_path: Path) -> None:
    """A server has thousands of watches. Each would keep a frame and a context of every filter."""
    await run_alone(keep_no_context, tmp_path)


async def test_the_connection_of_a_watch_is_freed_when_its_client_disconnects(tmp_path: Path) -> None:
    """Not by a garbage collection, which may come much later. OpenSSL has 20 KB for each."""
    await run_alone(free_the_connection_of_a_watch, tmp_path)


async def test_the_connection_of_a_watch_is_freed_when_its_client_does_not_read() -> None:
    await run_alone(free_the_connection_of_a_broken_watch)


async def test_the_connection_of_a_list_is_freed_when_its_client_leaves_without_reading(tmp_path: Path) -> None:
    await run_alone(free_the_connection_of_a_list, tmp_path)


async def test_a_watched_definition_that_changes_leaves_no_cache_behind(tmp_path: Path) -> None:
    await run_alone(leave_no_cache_behind, tmp_path)
