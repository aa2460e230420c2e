"""Storage: the kv engines with a disk beside a bare etcd, and the Cacher beside its targets."""

import asyncio
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks import cacher as caching
from benchmarks import engines
from benchmarks.engines import Subject
from benchmarks.figures import (
    KILOBYTES,
    MICROSECONDS,
    MILLISECONDS,
    PER_SECOND,
    Figure,
    Reference,
    Target,
    at_least,
    at_most,
    share_of_at_least,
)
from benchmarks.rounds import Measure, median, medians

FEW = 5
"""The number of rounds for steady or long measures."""


async def sqlite() -> Sequence[Figure]:
    """The SQLite engine beside an etcd on loopback. Both wait for the disk at each create."""
    with engines.directory() as directory, engines.member(directory) as member:
        async with engines.sqlite(directory) as ours, engines.raw_etcd(member) as raw:
            return [
                Figure("disk: write and fsync of 2.5 kB", 1e3 * engines.seconds_of_sync(directory), MILLISECONDS),
                await _creates("sqlite: durable creates of 2.5 kB", ours, raw, at_once=64),
                await _gets("sqlite: gets of 2.5 kB", ours, raw, at_once=64),
            ]


async def etcd() -> Sequence[Figure]:
    """The etcd engine beside its gRPC stubs."""
    target = share_of_at_least(80)
    with engines.directory() as directory, engines.member(directory) as member:
        async with engines.etcd(member) as ours, engines.raw_etcd(member) as raw:
            return [
                await _creates("etcd engine: creates of 2.5 kB", ours, raw, at_once=32, target=target),
                await _gets("etcd engine: gets of 2.5 kB", ours, raw, at_once=32, target=target),
            ]


async def cacher() -> Sequence[Figure]:
    """The Cacher with pods of 3.8 kB. Changes are decoded at the first read, so both ways are measured."""
    return [*await _changes_of_cacher(), *await _reads_of_cacher(), *await _memory_of_cacher()]


async def _creates(name: str, ours: Subject, raw: Subject, *, at_once: int, target: Target | None = None) -> Figure:
    found = await medians(lambda: ours.creates(at_once=at_once), lambda: raw.creates(at_once=at_once))
    return _compared(f"{name}, {at_once} at once", found, target)


async def _gets(name: str, ours: Subject, raw: Subject, *, at_once: int, target: Target | None = None) -> Figure:
    found = await medians(lambda: ours.gets(at_once=at_once), lambda: raw.gets(at_once=at_once))
    return _compared(f"{name}, {at_once} at once", found, target)


def _compared(name: str, found: Sequence[float], target: Target | None) -> Figure:
    ours, raw = found
    return Figure(name, ours, PER_SECOND, Reference("raw etcd", raw), target)


async def _changes_of_cacher() -> Sequence[Figure]:
    applied, delivered = at_least(50_000), at_least(1_000_000)
    encoded, bare = await medians(
        lambda: caching.deliveries_per_second(1, 20_000), caching.decodings_per_second, rounds=FEW
    )
    return [
        await _rate("events applied, no watcher", caching.events_applied_per_second, applied),
        await _rate("events applied from the kv engine's watch", caching.events_read_per_second, applied),
        Figure(
            "cacher: events applied and encoded, 1 sink",
            encoded,
            PER_SECOND,
            Reference("msgpack+orjson", bare),
            applied,
        ),
        await _rate("deliveries to 500 sinks, 5 events a turn", caching.deliveries_per_second, delivered),
        await _rate(
            "deliveries to 500 sinks, 1 event a turn",
            lambda: caching.deliveries_per_second(events_per_turn=1),
            delivered,
        ),
    ]


async def _rate(name: str, measure: Measure, target: Target) -> Figure:
    return Figure(f"cacher: {name}", await median(measure, rounds=FEW), PER_SECOND, target=target)


async def _reads_of_cacher() -> Sequence[Figure]:
    listing = await caching.filtered_list_seconds()
    turn = await median(caching.first_list_longest_turn_seconds, rounds=FEW)
    return [
        Figure("cacher: list of 18,000 by label", 1e3 * listing, MILLISECONDS, target=at_most(10)),
        Figure("cacher: longest turn of a first list of 18,000", 1e3 * turn, MILLISECONDS, target=at_most(100)),
        Figure("cacher: consistent get", 1e6 * await median(caching.get_seconds, rounds=FEW), MICROSECONDS),
    ]


async def _memory_of_cacher() -> Sequence[Figure]:
    figures = [_memory("allocated", await caching.bytes_per_object())]
    if sys.platform == "linux":
        spawning = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawning) as processes:
            resident = processes.submit(caching.resident_bytes_per_object)
            figures.append(_memory("resident", await asyncio.wrap_future(resident)))
    return figures


def _memory(kind: str, size: float) -> Figure:
    return Figure(f"cacher: {kind} memory per object of 3.8 kB", size / 1e3, KILOBYTES, target=at_most(6))
