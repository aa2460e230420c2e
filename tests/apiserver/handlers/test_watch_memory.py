"""Memory: caches of a custom resource are freed after a change of its definition."""

import asyncio
import gc
from pathlib import Path

import orjson

from aio_apiserver.apiserver.server import Server
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.storage.cacher.cacher import Cacher
from tests.apiserver.handlers.test_custom_resources import DEFINITIONS, WIDGETS, define, send
from tests.apiserver.serving import LOOPBACK, as_admin, ask, running
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


def alive() -> tuple[int, int]:
    """The number of caches of widgets, and of objects that serve them."""
    gc.collect()
    found = gc.get_objects()
    caches = sum(isinstance(one, Cacher) and one._resource.resource == "widgets" for one in found)
    served = sum(isinstance(one, Served) and str(one.resource) == "widgets.example.com" for one in found)
    return caches, served


async def test_a_watched_definition_that_changes_leaves_no_cache_behind(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
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
