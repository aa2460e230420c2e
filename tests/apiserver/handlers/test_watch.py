"""Watches over HTTP, on a memory server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import LOOPBACK, as_admin, ask, running

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path) as started:
        await send(started, "POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
        yield started


async def send(server: Server, method: str, path: str, body: Any = None) -> Any:
    data = orjson.dumps(body) if body is not None else b""
    headers = {"Content-Type": "application/json"}
    port = server.secure.port
    return (await ask(port, path, method=method, headers=headers, body=data, tls=as_admin(server))).json


async def create(server: Server, name: str) -> Any:
    return await send(server, "POST", MAPS, {"metadata": {"name": name}})


class Stream:
    """The events of a watch in order."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._lines: list[bytes] = []

    async def next(self) -> Any:
        """The next event; None at the end of the response."""
        while not self._lines:
            size = int(await self._reader.readline(), 16)
            self._lines = (await self._reader.readexactly(size)).splitlines()
            await self._reader.readline()
            if not size:
                return None
        return orjson.loads(self._lines.pop(0))


@asynccontextmanager
async def watching(server: Server, query: str) -> AsyncIterator[Stream]:
    reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
    try:
        writer.write(f"GET {MAPS}?watch=1&{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        yield Stream(reader)
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


def told(event: Any) -> tuple[str, str]:
    return event["type"], event["object"]["metadata"].get("name", "")


async def test_a_watch_begins_with_the_state_and_goes_on_with_changes(server: Server) -> None:
    await create(server, "a")

    async with watching(server, "") as stream:
        first = await stream.next()
        await create(server, "b")
        await send(server, "DELETE", f"{MAPS}/a")
        others = [await stream.next(), await stream.next()]

    assert [told(event) for event in (first, *others)] == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]
    assert first["object"]["kind"] == "ConfigMap"


async def test_a_watch_from_a_version_tells_what_came_behind_it(server: Server) -> None:
    version = (await create(server, "a"))["metadata"]["resourceVersion"]

    async with watching(server, f"resourceVersion={version}") as stream:
        await create(server, "b")

        assert told(await stream.next()) == ("ADDED", "b")


async def test_a_bookmark_ends_the_state_for_who_asks(server: Server) -> None:
    await create(server, "a")

    query = "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
    async with watching(server, query) as stream:
        first, second = await stream.next(), await stream.next()

    assert told(first) == ("ADDED", "a")
    assert second["type"] == "BOOKMARK"
    assert second["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_initial_events_are_timed_once_for_each_watch(server: Server) -> None:
    query = "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
    async with watching(server, query) as stream:
        await stream.next()
        await create(server, "a")
        await stream.next()
    async with watching(server, "resourceVersion=1"):
        pass
    found = await ask(server.secure.port, "/metrics", tls=as_admin(server))

    labels = 'group="",resource="configmaps",scope="namespace",version="v1"'
    assert f"apiserver_watch_list_duration_seconds_count{{{labels}}} 1\n" in found.text


async def test_a_watch_tells_only_what_is_selected(server: Server) -> None:
    async with watching(server, "fieldSelector=metadata.name=b") as stream:
        await create(server, "a")
        await create(server, "b")

        assert told(await stream.next()) == ("ADDED", "b")


async def test_a_watch_whose_time_is_up_ends_in_order(server: Server) -> None:
    async with watching(server, "timeoutSeconds=-1") as stream:
        assert await stream.next() is None


async def test_a_version_that_is_none_is_refused(server: Server) -> None:
    answer = await send(server, "GET", f"{MAPS}?watch=1&resourceVersion=x")

    assert answer["message"].endswith('strconv.ParseUint: parsing "x": invalid syntax')


async def test_a_server_that_drains_ends_its_watches_in_order(server: Server) -> None:
    async with watching(server, "") as stream:
        await create(server, "a")
        first = await stream.next()
        server.parts.draining.begin()

        assert told(first) == ("ADDED", "a")
        assert await stream.next() is None
