"""Fan-out: many clients watch one namespace while objects are created in it, at the highest rate or at a given one.

A delivery is one event at one watcher. Its latency is the time since its create was sent, and is measured at a few of
the watchers, because reading events takes the CPU time of the machine that the server needs.
"""

import asyncio
import itertools
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, MutableSequence, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import cast

from benchmarks import load
from benchmarks.load import Client, Sample, Stopwatch
from benchmarks.processes import Serving

_WRITERS = 8
_TIMED = 10
"""The watchers that measure latencies, evenly among the others: a server may serve them in order."""
_NUMBER = re.compile(rb'"number":"(\d+)"')
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


class TimedWatcher(Watcher):
    """Also notes how long events took. sent: when the create of each number was sent."""

    def __init__(self, path: str, sent: Sequence[float], latencies: MutableSequence[float]) -> None:
        super().__init__(path)
        self._sent = sent
        self._latencies = latencies

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self._latencies += [now - self._sent[int(number)] for number in _NUMBER.findall(data)]
        super().data_received(data)


async def deliveries(serving: Serving, *, watchers: int, objects: int, per_second: float = 0) -> Sample:
    """The rate, the latencies and the CPU time of deliveries. per_second: creates; 0 is the highest rate."""
    sent, latencies = [0.0] * (1 + objects), list[float]()
    async with (
        _watching(serving, watchers, lambda path: TimedWatcher(path, sent, latencies)) as (path, watching),
        load.clients(serving, _WRITERS) as writing,
    ):
        latencies.clear()
        watch = Stopwatch(serving)
        numbers = iter(range(1, 1 + objects))
        creating = asyncio.gather(*(_write(client, path, numbers, sent, per_second) for client in writing))
        await asyncio.gather(*(watcher.wait_for(1 + objects) for watcher in watching))
        found = watch.sample(latencies, watchers * objects)
        await creating
    return found


@asynccontextmanager
async def _watching(
    serving: Serving, watchers: int, timed: Callable[[str], Watcher]
) -> AsyncIterator[tuple[str, Sequence[Watcher]]]:
    """A path with so many watchers, which have received its first object."""
    namespace = f"fan-out-{next(_numbers)}"
    await load.send_all(serving, [_namespace(namespace)], at_once=1)
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    makes = [timed if number % max(watchers // _TIMED, 1) == 0 else Watcher for number in range(watchers)]
    watching = [await load.connect(serving, partial(make, path)) for make in makes]
    try:
        await load.send_all(serving, [load.request("POST", path, _config_map(0))], at_once=1)
        await asyncio.gather(*(watcher.wait_for(1) for watcher in watching))
        yield path, watching
    finally:
        for watcher in watching:
            watcher.transport.close()


async def _write(
    client: Client, path: str, numbers: Iterator[int], sent: MutableSequence[float], per_second: float
) -> None:
    """Create objects one after the other, but none before its time."""
    begun = time.perf_counter()
    for number in numbers:
        if per_second:
            await asyncio.sleep(begun + number / per_second - time.perf_counter())
        sent[number] = time.perf_counter()
        await client.ask(load.request("POST", path, _config_map(number)))


def _namespace(name: str) -> bytes:
    body = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"%b"}}' % name.encode()
    return load.request("POST", "/api/v1/namespaces", body)


def _config_map(number: int) -> bytes:
    return b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"},"data":{"number":"%d"}}' % (number, number)
