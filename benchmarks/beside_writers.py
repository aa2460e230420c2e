"""beside_writers: how long reads and watch events take while many clients write, on each API server in turns.

    KUBE_APISERVER=... ETCD_BIN=... scripts/bench server.beside_writers

The writers create config maps from a process of their own; `python -m benchmarks.beside_writers URL WRITERS` is it. The
lag is the time by which a watch event comes later than the response to its write. Writers and reader are two users, no
administrators, so that priority and fairness shares the server between them.

Must hold: every server gets the same load. Figures count as ratios of one run, as the clients share the machine.
"""

import asyncio
import itertools
import re
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
import uvloop

from benchmarks import contestants, load
from benchmarks.figures import MILLISECONDS, Figure, Reference, Target, at_most, share_of_at_most
from benchmarks.processes import READER, TOKEN, WRITER, Serving

WRITERS = (8, 32, 128)
_MAPS = "/api/v1/namespaces/default/configmaps"
_RBAC = "rbac.authorization.k8s.io"
_BINDINGS = f"/apis/{_RBAC}/v1/clusterrolebindings"
_RIGHTS = {
    "metadata": {"name": "everything"},
    "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": "system:authenticated"}],
}
_SECONDS = 2.0
_WARM_UP = 1.0
_PAUSE = 0.005
_READS = {
    "GET": f"{_MAPS}/probe",
    "LIST limit=1": f"{_MAPS}?limit=1",
    "GET rv=0": f"{_MAPS}/probe?resourceVersion=0",
}
_EVENT, _LAG = "watch event", "cache lag p99"
_REFERENCE = "kube-apiserver"
_NAME = re.compile(rb'"name":"seen-(\d+)"')
_BEGUN = b"writing\n"
"""What the process of the writers prints when each of them has written once."""
_OURS: Mapping[str, Target] = {_LAG: at_most(50)}


async def beside_writers() -> Sequence[Figure]:
    """The table: a row for each read and number of writers, for each server."""
    starts = {name: start for name, start in contestants.named().items() if name != "SQLite, all cores"}
    found: dict[tuple[int, str, str], float] = {}
    for name, start in starts.items():
        with contestants.started({name: start}) as (serving,):
            await _prepare(serving)
            for writers in WRITERS:
                for row, value in (await _measured(serving, writers)).items():
                    found[writers, row, name] = value
    return [_figure(key, value, found) for key, value in sorted(found.items())]


def _figure(key: tuple[int, str, str], value: float, found: Mapping[tuple[int, str, str], float]) -> Figure:
    writers, row, name = key
    reference = found.get((writers, row, _REFERENCE))
    title = f"beside {writers} writers: {row}, {name}"
    if reference is None or name == _REFERENCE or row in _OURS:
        return Figure(title, value, MILLISECONDS, target=_OURS.get(row) if name != _REFERENCE else None)
    return Figure(title, value, MILLISECONDS, Reference(_REFERENCE, reference), share_of_at_most(200))


async def _measured(serving: Serving, writers: int) -> Mapping[str, float]:
    """The medians, and the 99th percentile of the lag, in milliseconds."""
    async with _writing(serving, writers):
        await asyncio.sleep(_WARM_UP)
        rows = {row: await _read(serving, path) for row, path in _READS.items()}
        seen = await _watched(serving)
    latencies = [event - sent for sent, _, event in seen]
    lags = [max(0.0, event - answered) for _, answered, event in seen]
    rows[_EVENT] = 1e3 * statistics.median(latencies)
    rows[_LAG] = 1e3 * statistics.quantiles(lags, n=100, method="inclusive")[-1]
    return rows


@asynccontextmanager
async def _writing(serving: Serving, writers: int) -> AsyncIterator[None]:
    command = [sys.executable, "-m", __name__, serving.url, str(writers)]
    process = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if await process.stdout.readline() != _BEGUN:
            raise RuntimeError(f"{writers} writers do not begin")
        yield
    finally:
        process.stdin.close()
        await process.wait()


async def _read(serving: Serving, path: str) -> float:
    message, found, end = load.request("GET", path, token=READER), list[float](), time.perf_counter() + _SECONDS
    async with load.clients(serving, 1) as (client,):
        while time.perf_counter() < end:
            begun = time.perf_counter()
            await client.ask(message)
            found.append(time.perf_counter() - begun)
            await asyncio.sleep(_PAUSE)
    return 1e3 * statistics.median(found)


@dataclass
class _Watcher(asyncio.Protocol):
    """Notes when the event of each object arrives that this process has created."""

    arrived: dict[int, float] = field(default_factory=dict)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    _rest: bytes = b""
    _transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment] # uvloop's transport is not a subclass
        assert self._transport is not None
        self._transport.write(load.request("GET", f"{_MAPS}?watch=1&labelSelector=seen", token=READER))

    def data_received(self, data: bytes) -> None:
        now, data = time.perf_counter(), self._rest + data
        self.begun.set()
        for found in _NAME.finditer(data):
            self.arrived.setdefault(int(found[1]), now)
        self._rest = data[-40:]

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()


async def _watched(serving: Serving) -> Sequence[tuple[float, float, float]]:
    """When each write was sent, when it was answered, and when its event came."""
    watcher = await load.connect(serving, _Watcher)
    await watcher.begun.wait()
    sent: dict[int, tuple[float, float]] = {}
    end = time.perf_counter() + _SECONDS
    async with load.clients(serving, 1) as (client,):
        while time.perf_counter() < end:
            number, begun = next(_numbers), time.perf_counter()
            await client.ask(_creation(f"seen-{number}", READER, seen="yes"))
            sent[number] = begun, time.perf_counter()
            await asyncio.sleep(_PAUSE)
    async with asyncio.timeout(10 * _SECONDS):
        while not sent.keys() <= watcher.arrived.keys():  # noqa: ASYNC110 - the watcher reads in this loop
            await asyncio.sleep(_PAUSE)
    watcher.close()
    return [(begun, answered, watcher.arrived[number]) for number, (begun, answered) in sent.items()]


_numbers = itertools.count(time.time_ns())


def _creation(name: str, token: str, **labels: str) -> bytes:
    body = {"metadata": {"name": name, "labels": labels}, "data": {"a": "b"}}
    return load.request("POST", _MAPS, orjson.dumps(body), token=token)


async def _prepare(serving: Serving) -> None:
    """Create what is read, and the rights of the users."""
    async with load.clients(serving, 1) as (client,):
        await client.ask(_creation("probe", TOKEN))
        await client.ask(load.request("POST", _BINDINGS, orjson.dumps(_RIGHTS)))


async def _write(url: str, writers: int) -> None:
    """Create config maps until the standard input ends; a line on the standard output tells when that has begun."""
    serving = Serving("", url, 0, 0.0)

    has_ended = asyncio.Event()

    async def create(client: load.Client) -> None:
        await client.ask(_creation(f"written-{next(_numbers)}", WRITER))

    async def work(client: load.Client) -> None:
        while not has_ended.is_set():
            await create(client)

    async with load.clients(serving, writers) as clients:
        await asyncio.gather(*map(create, clients))
        sys.stdout.buffer.write(_BEGUN)
        sys.stdout.flush()
        working = [asyncio.create_task(work(client)) for client in clients]
        await asyncio.to_thread(sys.stdin.read)
        has_ended.set()
        await asyncio.gather(*working)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_write(sys.argv[1], int(sys.argv[2])))
