"""growth: how start, memory and rates of this server grow with objects, watchers and CustomResourceDefinitions.

    scripts/bench growth [--objects=1000,10000] [--watchers=1,100,2000,10000] [--definitions=10,200] [--seconds=2]

It measures on SQLite and writes docs/growth.md with a plot of each curve. Must hold: each size has a server of its own.
"""

import argparse
import asyncio
import itertools
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence

import orjson
import uvloop

from benchmarks import engines, fan_out, growth_page, load, processes
from benchmarks.growth_page import Curve
from benchmarks.processes import Serving

_MAPS = "/api/v1/namespaces/default/configmaps"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DATA = {"key": "value" * 190}
"""About 1 kB."""
_EVENTS = 100
_FIELDS = 40
"""The fields of a definition's schema, of the size that operators have."""
_numbers = itertools.count()

Measure = Callable[[int, float], Awaitable[Mapping[str, float]]]


async def objects(count: int, seconds: float) -> Mapping[str, float]:
    """A server with so many config maps."""
    with engines.directory() as directory:
        with processes.server(directory) as server:
            created = await load.send_all(server, [_config_map() for _ in range(count)], at_once=32)
        with processes.server(directory) as server:
            await load.send_all(server, [_config_map("first"), load.request("GET", f"{_MAPS}?limit=1")], at_once=1)
            return {
                "restart to ready, ms": server.seconds_to_ready * 1e3,
                "memory, MB": server.resident_megabytes(),
                "created, /s": created,
                "GET, /s": await _rate(server, f"{_MAPS}/first", seconds),
                "page of 500, /s": await _rate(server, f"{_MAPS}?limit=500", seconds),
            }


async def watchers(count: int, _seconds: float) -> Mapping[str, float]:
    """A server with so many watchers of one namespace."""
    with (
        engines.directory() as directory,
        processes.server(directory, max_connections_per_address="0") as server,  # all watchers are on one machine
    ):
        cpu = server.cpu_seconds()
        rate = await fan_out.deliveries_per_second(server, watchers=count, objects=_EVENTS)
        return {
            "deliveries, /s": rate,
            "CPU a delivery, µs": (server.cpu_seconds() - cpu) / (count * _EVENTS) * 1e6,
            "memory, MB": server.resident_megabytes(),
        }


async def definitions(count: int, seconds: float) -> Mapping[str, float]:
    """A server with so many CustomResourceDefinitions."""
    with engines.directory() as directory, processes.server(directory) as server:
        created = await load.send_all(server, [_definition(number) for number in range(count)], at_once=8)
        await load.send_all(server, [_config_map("first")], at_once=1)
        return {
            "created, /s": created,
            "memory, MB": server.resident_megabytes(),
            "GET of a config map, /s": await _rate(server, f"{_MAPS}/first", seconds),
        }


async def _rate(server: Serving, path: str, seconds: float) -> float:
    message = load.request("GET", path)
    return await load.rate(server, lambda: message, at_once=32, seconds=seconds)


def _config_map(name: str = "") -> bytes:
    metadata = {"name": name or f"stored-{next(_numbers):06}"}
    return load.request("POST", _MAPS, orjson.dumps({"metadata": metadata, "data": _DATA}))


def _definition(number: int) -> bytes:
    plural, group = f"things{number}", "growth.example.com"
    field = {"type": "string", "description": "A field. " * 10, "maxLength": 100}
    fields = {f"field{one}": field for one in range(_FIELDS)}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": plural, "singular": f"thing{number}", "kind": f"Thing{number}"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    return load.request("POST", _DEFINITIONS, orjson.dumps({"metadata": {"name": f"{plural}.{group}"}, "spec": spec}))


CURVES: Mapping[str, tuple[Measure, Sequence[int]]] = {
    "objects": (objects, (1_000, 10_000, 100_000)),
    "watchers": (watchers, (1, 100, 2_000, 10_000)),
    "definitions": (definitions, (10, 200)),
}
"""The measure of each curve, and its usual sizes."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench growth")
    parser.add_argument("--seconds", type=float, default=2.0)
    for name, (_, sizes) in CURVES.items():
        parser.add_argument(f"--{name}", default=",".join(map(str, sizes)), help="sizes; empty: leave the curve out")
    chosen = parser.parse_args(arguments)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        curves = [
            runner.run(_curve(name, measure, _sizes(getattr(chosen, name)), chosen.seconds))
            for name, (measure, _) in CURVES.items()
        ]
    shown = [curve for curve in curves if curve.points]
    print(growth_page.text(shown))
    growth_page.write(shown)
    return 0


async def _curve(name: str, measure: Measure, sizes: Sequence[int], seconds: float) -> Curve:
    points: dict[int, Mapping[str, float]] = {}
    for size in sizes:
        print(f"{size:,} {name} ...", file=sys.stderr, flush=True)
        points[size] = await measure(size, seconds)
    return Curve(name, points)


def _sizes(text: str) -> Sequence[int]:
    return [int(size) for size in text.split(",") if size]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
