"""Fan-out: many clients watch one namespace while objects are created in it at the highest rate."""

import asyncio
import itertools
import time
from typing import cast

from benchmarks import load
from benchmarks.processes import Serving

_WRITERS = 8
_EVENT = b'"type":"ADDED"'

_numbers = itertools.count()


class Watcher(asyncio.Protocol):
    """Counts events."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._tail = b""
        self._seen = 0
        self._wanted = 0
        self._arrived: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's transport is not a subclass
        self.transport.write(load.request("GET", f"{self._path}?watch=1"))

    def data_received(self, data: bytes) -> None:
        data = self._tail + data
        self._seen += data.count(_EVENT)
        self._tail = data[1 - len(_EVENT) :]
        if self._arrived is not None and self._seen >= self._wanted and not self._arrived.done():
            self._arrived.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_exception(exc or ConnectionResetError("closed by the server"))

    async def wait_for(self, count: int) -> None:
        """Return when so many events have arrived."""
        self._wanted = count
        if self._seen < count:
            self._arrived = asyncio.get_running_loop().create_future()
            await self._arrived


async def deliveries_per_second(serving: Serving, *, watchers: int, objects: int) -> float:
    """Events times watchers, divided by the time from the first create to the last delivery."""
    namespace = f"fan-out-{next(_numbers)}"
    await load.send_all(serving, [_namespace(namespace)], at_once=1)
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    watching = [await load.connect(serving, lambda: Watcher(path)) for _ in range(watchers)]
    try:
        await _create(serving, path, range(1))  # a watcher that has received it is registered
        await asyncio.gather(*(watcher.wait_for(1) for watcher in watching))
        begun = time.perf_counter()
        creating = asyncio.create_task(_create(serving, path, range(1, 1 + objects)))
        await asyncio.gather(*(watcher.wait_for(1 + objects) for watcher in watching))
        seconds = time.perf_counter() - begun
        await creating
    finally:
        for watcher in watching:
            watcher.transport.close()
    return watchers * objects / seconds


async def _create(serving: Serving, path: str, numbers: range) -> None:
    messages = [load.request("POST", path, _config_map(number)) for number in numbers]
    await load.send_all(serving, messages, at_once=min(_WRITERS, len(messages)))


def _namespace(name: str) -> bytes:
    body = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"%b"}}' % name.encode()
    return load.request("POST", "/api/v1/namespaces", body)


def _config_map(number: int) -> bytes:
    return b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"},"data":{"number":"%d"}}' % (number, number)
