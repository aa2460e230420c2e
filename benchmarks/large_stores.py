"""large_stores: servers with many or with large objects, beside the bounds that they keep.

    scripts/bench large_stores

Loop holds are CPU time of the server's thread, so that other programs of the machine change nothing.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from benchmarks import engines, filling, load, processes, readers, watched
from benchmarks.figures import MEGABYTES, MILLISECONDS, SECONDS, Figure, at_most
from benchmarks.processes import Serving

PODS, MAPS = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/configmaps"
MANY_PODS, MANY_MAPS, LARGE_MAPS = 150_000, 300_000, 10_000
_NODES, _APPS, _GROUPS = 5_000, 200, 100
_LARGE_BYTES = 100_000
_LISTS = 10
_FORMS = {
    "JSON": ("application/json", "identity"),
    "protobuf": ("application/vnd.kubernetes.protobuf", "identity"),
    "protobuf with gzip": ("application/vnd.kubernetes.protobuf", "gzip"),
}
"""Accept and Accept-Encoding; the last is what Go clients send."""
_SECONDS = 10.0
_PAUSE = 0.02
_MATCH_NOTHING = (
    f"{MAPS}?labelSelector=group%3Dnone",
    f"{MAPS}?labelSelector=none&limit=500",
    f"{MAPS}?labelSelector=group,%21group",
    f"{MAPS}?fieldSelector=metadata.namespace%3Dnone",
)


async def pods() -> Sequence[Figure]:
    """A restart with many pods, up to the end of the first list of all."""
    with engines.directory() as directory:
        await filling.fill(directory, _pod(), "/registry/pods/default/model", MANY_PODS, _vary_pod)
        begun = time.perf_counter()
        with processes.server(directory) as server:
            size = await size_of_first_list(server, PODS)
            seconds = time.perf_counter() - begun
            name = f"{MANY_PODS:,} pods of {size / MANY_PODS / 1e3:.1f} kB"
            return [
                Figure(f"{name}: restart to ready", 1e3 * server.seconds_to_ready, MILLISECONDS),
                Figure(f"{name}: restart to the end of the first list", seconds, SECONDS, target=at_most(30)),
                Figure(f"{name}: CPU time of that", server.cpu_seconds(), SECONDS),
                Figure(f"{name}: memory after it", server.resident_megabytes(), MEGABYTES, target=at_most(1_500)),
                Figure(f"{name}: most memory", server.most_megabytes(), MEGABYTES, target=at_most(1_500)),
            ]


async def selections() -> Sequence[Figure]:
    """The latency of GETs while a client lists 300,000 objects by a label that no object has, once a second."""
    with engines.directory() as directory:
        await filling.fill(directory, small_map(), "/registry/configmaps/default/model", MANY_MAPS, vary_map)
        holds = directory / "holds.json"
        with processes.server(directory, holds=holds) as server:
            await size_of_first_list(server, MAPS)
            async with _probing(server) as latencies:
                await _list_each_second(server)
        name = f"GETs beside lists that match none of {MANY_MAPS:,}"
        return [*_latencies(name, latencies, p99=2_000), _longest_hold(name, holds)]


async def lists() -> Sequence[Figure]:
    """Lists of large objects, all at once, in each format."""
    with engines.directory() as directory:
        await filling.fill(directory, _large_map(), "/registry/configmaps/default/model", LARGE_MAPS)
        return [figure for form in _FORMS for figure in await _lists_at_once(directory, form)]


async def _lists_at_once(directory: Path, form: str) -> Sequence[Figure]:
    accept, encoding = _FORMS[form]
    holds = directory / "holds.json"
    with processes.server(directory, holds=holds) as server:
        size = await size_of_first_list(server, MAPS)
        before = most = server.resident_megabytes()
        cpu = server.cpu_seconds()
        reading = readers.reading(server, MAPS, _LISTS, accept=accept, encoding=encoding)
        async with _probing(server) as latencies, reading as clients:
            while clients.returncode is None:
                most = max(most, server.resident_megabytes())
                await asyncio.sleep(_PAUSE)
        cpu = server.cpu_seconds() - cpu
    name = f"{_LISTS} lists of {size / 1e6:,.0f} MB at once, {form}"
    return [
        Figure(f"{name}: CPU time", cpu, SECONDS),
        Figure(f"{name}: growth of memory", most - before, MEGABYTES, target=at_most(200)),
        *_latencies(f"GETs beside {name}", latencies),
        _longest_hold(name, holds),
    ]


async def size_of_first_list(server: Serving, path: str) -> int:
    """Wait until the watch cache is filled, then list all. Returns the bytes."""
    async with load.clients(server, 1) as (client,):
        await client.ask_until_served(load.request("GET", f"{path}?limit=1"))
        await client.ask(load.request("GET", path))
        return client.body_bytes


@asynccontextmanager
async def _probing(server: Serving) -> AsyncIterator[list[float]]:
    """Another client's GETs; their seconds are in the list afterwards."""
    found: list[float] = []
    message = load.request("GET", "/api/v1/namespaces/default")

    async def probe(client: load.Client) -> None:
        while True:
            begun = time.perf_counter()
            await client.ask(message)
            found.append(time.perf_counter() - begun)
            await asyncio.sleep(_PAUSE)

    async with load.clients(server, 1) as (client,):
        probing = asyncio.create_task(probe(client))
        try:
            yield found
        finally:
            probing.cancel()


async def _list_each_second(server: Serving) -> None:
    async with load.clients(server, len(_MATCH_NOTHING)) as clients:
        for second in range(int(_SECONDS)):
            number = second % len(_MATCH_NOTHING)
            pause = asyncio.create_task(asyncio.sleep(1))
            await clients[number].ask(load.request("GET", _MATCH_NOTHING[number]))
            await pause


def _latencies(name: str, seconds: Sequence[float], *, p99: float | None = None) -> Sequence[Figure]:
    slow = 1e3 * statistics.quantiles(seconds, n=100)[-1]
    return [
        Figure(f"{name}: p99", slow, MILLISECONDS, target=None if p99 is None else at_most(p99)),
        Figure(f"{name}: slowest", 1e3 * max(seconds), MILLISECONDS),
    ]


def _longest_hold(name: str, file: Path) -> Figure:
    seconds = max((hold.seconds for hold in watched.holds(file)), default=0.0)
    return Figure(f"{name}: longest hold of the event loop", 1e3 * seconds, MILLISECONDS, target=at_most(100))


def _pod() -> bytes:
    variables = [{"name": f"SETTING_{number}", "value": f"value-{number}-of-something"} for number in range(30)]
    container = {"name": "main", "image": "registry.example.com/main:1.0", "env": variables}
    labels = {"app": "web", "tier": "backend", "pod-template-hash": "abcdef0123"}
    body = {
        "metadata": {"name": "model", "labels": labels},
        "spec": {"nodeName": "node-0", "containers": [container]},
    }
    return load.request("POST", PODS, orjson.dumps(body))


def _vary_pod(obj: dict[str, Any], number: int) -> None:
    obj["spec"]["nodeName"] = f"node-{number % _NODES}"
    obj["metadata"]["labels"]["app"] = f"web-{number % _APPS}"


def small_map() -> bytes:
    """The creation of a config map with a label."""
    body = {"metadata": {"name": "model", "labels": {"group": "0"}}, "data": {"key": "value" * 20}}
    return load.request("POST", MAPS, orjson.dumps(body))


def vary_map(obj: dict[str, Any], number: int) -> None:
    """One in a hundred has the same label."""
    obj["metadata"]["labels"]["group"] = str(number % _GROUPS)


def _large_map() -> bytes:
    return load.request(
        "POST", MAPS, orjson.dumps({"metadata": {"name": "model"}, "data": {"key": "v" * _LARGE_BYTES}})
    )
