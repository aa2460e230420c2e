"""growth: how start, memory and rates of this server grow with objects, watchers and CustomResourceDefinitions.

    scripts/bench growth [--objects=1000,10000] [--watchers=1,100] [--definitions=10,200] [--bounds=pods] [--seconds=2]

It measures on SQLite and writes docs/growth.md with a plot of each curve. With --results, several short runs make one
page. Must hold: each size has a server of its own. Times are CPU time of the server, which other programs of the
machine change less than rates.
"""

import argparse
import asyncio
import itertools
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import orjson
import uvloop

from benchmarks import engines, fan_out, filling, growth_page, large_stores, load, processes
from benchmarks.figures import Figure
from benchmarks.processes import Serving

T = TypeVar("T")

_MAPS = "/api/v1/namespaces/default/configmaps"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_GROUP = "growth.example.com"
_DATA = {"key": "value" * 190}
"""About 1 kB."""
_EVENTS, _SINGLE_EVENTS, _PER_SECOND = 100, 20, 4
_FIELDS = 40
"""The fields of a definition's schema, of the size that operators have."""
_numbers = itertools.count()

Measure = Callable[[int, float], Awaitable[Mapping[str, float]]]


async def objects(count: int, seconds: float) -> Mapping[str, float]:
    """A server with so many config maps, after a restart."""
    with engines.directory() as directory:
        await filling.fill(directory, _config_map("model"), "/registry/configmaps/default/model", count)
        with processes.server(directory) as server:
            start = server.cpu_seconds()
            await large_stores.size_of_first_list(server, _MAPS)
            listed, memory = server.cpu_seconds(), server.resident_megabytes()
            return {
                "restart to ready, s": start,
                "first list, s": listed - start,
                "memory, MB": memory,
                "GET, µs": 1e6 * await _cpu(server, _asking(f"{_MAPS}/{filling.name_of(0)}"), seconds, at_once=32),
                "page of 500, ms": 1e3 * await _cpu(server, _asking(f"{_MAPS}?limit=500"), seconds),
                "LIST of all, ms": 1e3 * await _cpu(server, _asking(_MAPS), seconds),
                "create, µs": 1e6 * await _cpu(server, _config_map, seconds, at_once=32),
            }


async def watchers(count: int, _seconds: float) -> Mapping[str, float]:
    """A server with so many watchers of one namespace."""
    with (
        engines.directory() as directory,
        processes.server(directory, max_connections_per_address="0") as server,  # all watchers are on one machine
    ):
        cpu = server.cpu_seconds()
        many = await fan_out.deliveries(server, watchers=count, objects=_EVENTS)
        cpu = server.cpu_seconds() - cpu - many.cpu * count * _EVENTS
        single = await fan_out.deliveries(server, watchers=count, objects=_SINGLE_EVENTS, per_second=_PER_SECOND)
        return {
            "begin and end of a watch, ms": cpu / count * 1e3,
            "delivery at the highest rate, µs": many.cpu * 1e6,
            f"delivery at {_PER_SECOND} events a second, µs": single.cpu * 1e6,
            "memory, MB": server.most_megabytes(),
        }


async def definitions(count: int, seconds: float) -> Mapping[str, float]:
    """A server with so many CustomResourceDefinitions, before and after a restart."""
    last = load.request("GET", f"/apis/{_GROUP}/v1/namespaces/default/things{count - 1}")
    with engines.directory() as directory:
        with processes.server(directory) as server:
            cpu = server.cpu_seconds()
            await load.send_all(server, [_definition(number) for number in range(count)], at_once=8)
            await load.send_all(server, [_config_map("first")], at_once=1)
            async with load.clients(server, 1) as (client,):
                await client.ask_until_served(last)
            cpu, memory = server.cpu_seconds() - cpu, server.resident_megabytes()
            get = await _cpu(server, _asking(f"{_MAPS}/first"), seconds, at_once=32)
        with processes.server(directory) as server:
            start = server.cpu_seconds()
            await load.send_all(server, [last], at_once=1)
            return {
                "create and serve each, ms": cpu / count * 1e3,
                "memory, MB": memory,
                "GET of a config map, µs": get * 1e6,
                "restart to ready, s": start,
                "memory after it, MB": server.resident_megabytes(),
            }


def _asking(path: str) -> Callable[[], bytes]:
    message = load.request("GET", path)
    return lambda: message


async def _cpu(server: Serving, make: Callable[[], bytes], seconds: float, *, at_once: int = 1) -> float:
    """The server's CPU time for each request, in seconds."""
    return (await load.sample(server, make, at_once=at_once, seconds=seconds)).cpu


def _config_map(name: str = "") -> bytes:
    metadata = {"name": name or f"stored-{next(_numbers):06}"}
    return load.request("POST", _MAPS, orjson.dumps({"metadata": metadata, "data": _DATA}))


def _definition(number: int) -> bytes:
    plural = f"things{number}"
    field = {"type": "string", "description": "A field. " * 10, "maxLength": 100}
    fields = {f"field{one}": field for one in range(_FIELDS)}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": plural, "singular": f"thing{number}", "kind": f"Thing{number}"}
    spec = {"group": _GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    return load.request("POST", _DEFINITIONS, orjson.dumps({"metadata": {"name": f"{plural}.{_GROUP}"}, "spec": spec}))


CURVES: Mapping[str, tuple[Measure, Sequence[int]]] = {
    "objects": (objects, (1_000, 10_000, 100_000, 300_000, 1_000_000)),
    "watchers": (watchers, (1, 100, 2_000, 10_000)),
    "definitions": (definitions, (10, 200, 1_000)),
}
"""The measure of each curve, and its usual sizes."""
BOUNDS: Mapping[str, Callable[[], Awaitable[Sequence[Figure]]]] = {
    "pods": large_stores.pods,
    "selections": large_stores.selections,
    "lists": large_stores.lists,
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench growth")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--results", type=Path, help="a file of earlier results, to which this run adds its own")
    for name, (_, sizes) in CURVES.items():
        parser.add_argument(f"--{name}", default=",".join(map(str, sizes)), help="sizes; empty: leave the curve out")
    parser.add_argument("--bounds", default=",".join(BOUNDS), help="names of bounds; empty: leave them out")
    chosen = parser.parse_args(arguments)
    results = growth_page.kept(chosen.results)
    for name, (measure, _) in CURVES.items():
        for size in filter(None, getattr(chosen, name).split(",")):
            _tell(f"{int(size):,} {name}")
            results.curves.setdefault(name, {})[int(size)] = _run(measure(int(size), chosen.seconds))
    for name in filter(None, chosen.bounds.split(",")):
        _tell(name)
        results.bounds[name] = list(_run(BOUNDS[name]()))
    print(growth_page.text(results))
    growth_page.write(results)
    if chosen.results is not None:
        growth_page.keep(results, chosen.results)
    return 0


def _run(measuring: Awaitable[T]) -> T:
    """The result of one measurement, on an event loop of the kind that the server uses."""

    async def measured() -> T:
        return await measuring

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(measured())


def _tell(what: str) -> None:
    print(f"{what} ...", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
