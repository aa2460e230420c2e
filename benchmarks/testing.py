"""Testing: the start of test servers, and snapshots of their states.

testing.servers   one server, and ten in one process, with the memory of that process
testing.states    snapshot, restore, reset and fork of a state of 5,000 objects, from Python and over HTTP
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from aio_apiserver.testing import Server
from benchmarks.figures import MEGABYTES, MILLISECONDS, Figure, Target, at_most

_OBJECTS = 5_000
_ROUNDS = 7
_QUICK = at_most(20)
_SERVERS = 10
_CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


async def servers() -> Sequence[Figure]:
    """The servers of a test process."""
    child = await asyncio.create_subprocess_exec(sys.executable, "-m", __name__, stdout=asyncio.subprocess.PIPE)
    answer, _ = await child.communicate()
    found = json.loads(answer)
    return [
        Figure("a test server: start", found["start"], MILLISECONDS, target=at_most(300)),
        Figure("a test server: stop", found["stop"], MILLISECONDS, target=at_most(100)),
        Figure("ten test servers: start", found["ten"], MILLISECONDS, target=at_most(2_000)),
        Figure("ten test servers: memory of the process", found["megabytes"], MEGABYTES, target=at_most(150)),
    ]


async def states() -> Sequence[Figure]:
    return await asyncio.to_thread(_states)


def _states() -> Sequence[Figure]:
    with Server() as server, server.client() as client:
        server.apply(*map(_config_map, range(_OBJECTS)))
        client.request("GET", _CONFIG_MAPS)
        full = server.snapshot()

        def put_back() -> None:
            server.restore(full)

        def snapshot_and_restore() -> None:
            client.request("PUT", "/testing/snapshots/full")
            client.request("POST", "/testing/snapshots/full/restore")

        return [
            _figure("snapshot", server.snapshot),
            _figure("restore, when nothing has changed", put_back),
            _figure("reset, when all have to go", server.reset, before=put_back),
            _figure("restore, when all have to be written", put_back, before=server.reset),
            _figure("reset over HTTP, when all have to go", lambda: client.request("POST", "/testing/reset"), put_back),
            _figure("snapshot and restore over HTTP", snapshot_and_restore, put_back),
            _figure("fork", server.fork),
            _figure("start of a fork", lambda: server.fork().start().stop(), target=at_most(300)),
        ]


def _figure(
    name: str,
    work: Callable[[], object],
    before: Callable[[], object] = lambda: None,
    target: Target = _QUICK,
) -> Figure:
    taken = []
    for _ in range(_ROUNDS):
        before()
        taken.append(_milliseconds(work))
    return Figure(f"{_OBJECTS:,} objects: {name}", statistics.median(taken), MILLISECONDS, target=target)


def _config_map(number: int) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"one-{number}", "labels": {"app": f"app-{number % 10}"}},
        "data": {"text": "x" * 100},
    }


def _milliseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1_000


def _measure_servers() -> dict[str, float]:
    """Measure in a process that does nothing else."""
    Server().start().stop()  # imports and caches of the process
    starts, stops = [], []
    for _ in range(_ROUNDS):
        server = Server()
        starts.append(_milliseconds(server.start))
        stops.append(_milliseconds(server.stop))
    many = [Server() for _ in range(_SERVERS)]
    ten = _milliseconds(lambda: [server.start() for server in many])
    megabytes = _resident_megabytes()
    for server in many:
        server.stop()
    return {
        "start": statistics.median(starts),
        "stop": statistics.median(stops),
        "ten": ten,
        "megabytes": megabytes,
    }


def _resident_megabytes() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1_024
    raise OSError("/proc/self/status has no VmRSS")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_measure_servers()))
