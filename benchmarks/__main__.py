"""python -m benchmarks [names...]: runs benchmarks and prints their figures in one table.

A name selects one benchmark ("storage.etcd") or all below it ("storage"); without names, all run.
"""

import asyncio
import os
import platform
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

import uvloop

from benchmarks import beside_writers, large_stores, managed_fields, server, storage, testing
from benchmarks.figures import Figure, table

Benchmark = Callable[[], Awaitable[Sequence[Figure]]]

BENCHMARKS: Mapping[str, Benchmark] = {
    "storage.sqlite": storage.sqlite,
    "storage.etcd": storage.etcd,
    "storage.cacher": storage.cacher,
    "registry.managed_fields": managed_fields.managed_fields,
    "server.start": server.start,
    "server.requests": server.requests,
    "server.renewals": server.renewals,
    "server.formats": server.formats,
    "server.pages": server.pages,
    "server.watch": server.watch,
    "server.beside_writers": beside_writers.beside_writers,
    "large_stores.pods": large_stores.pods,
    "large_stores.selections": large_stores.selections,
    "large_stores.lists": large_stores.lists,
    "testing.servers": testing.servers,
    "testing.states": testing.states,
}


def main(names: Sequence[str]) -> int:
    unknown = [name for name in names if not picked([name])]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    print(_machine(), flush=True)
    begun = time.monotonic()
    figures = [figure for name in picked(names) for figure in _run(name)]
    print(f"\n{table(figures)}\n\n{_summary(figures)} Took {time.monotonic() - begun:.0f} s.")
    return 0


def picked(names: Sequence[str]) -> list[str]:
    """The benchmarks that are called so, or stand below such a name; all without names."""
    return [
        benchmark
        for benchmark in BENCHMARKS
        if not names or any(benchmark == name or benchmark.startswith(f"{name}.") for name in names)
    ]


def _run(name: str) -> Sequence[Figure]:
    """Run one benchmark on an event loop of its own, of the kind that the server uses."""
    print(f"{name} ...", end="", flush=True)
    begun = time.monotonic()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(_awaited(BENCHMARKS[name]))
    print(f" {time.monotonic() - begun:.0f} s", flush=True)
    return figures


async def _awaited(benchmark: Benchmark) -> Sequence[Figure]:
    return await benchmark()


def _machine() -> str:
    """The machine and the Python version, on which the figures depend."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs{load}, {python}"


def _summary(figures: Sequence[Figure]) -> str:
    wanted = [figure for figure in figures if figure.target]
    missed = [figure.name for figure in wanted if figure.is_missed]
    text = f"{len(wanted) - len(missed)} of {len(wanted)} targets met."
    return f"{text} Missed: {'; '.join(missed)}." if missed else text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
