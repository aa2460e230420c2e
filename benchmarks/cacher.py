"""Cacher: measures the Cacher; each function returns one number and prints nothing.

The changes are made before, and handed to the reflector as the store's watch would do. So the figures are those of the
cache, not of the store. Exceptions are in the docstrings.
"""

import asyncio
import gc
import os
import statistics
import time
import tracemalloc
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import orjson

from aio_apiserver.base.clock import SystemClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.cacher.window_memory import WindowMemory
from aio_apiserver.storage.codec import MSGPACK
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import (
    ListOptions,
    ListResult,
    Resource,
    Watch,
    WatchBatch,
    WatchEvent,
    WatchEventType,
    WatchOptions,
    WatchSink,
)
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.selection import Operator, Requirement, SelectionPredicate
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.records import reader_of
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.stored_object import StoredObject
from aio_apiserver.storage.transformers.transformer import IDENTITY


def _fields(obj: Object) -> dict[str, str]:
    spec, status = obj["spec"], obj["status"]
    return {
        "spec.nodeName": spec["nodeName"],
        "spec.restartPolicy": spec["restartPolicy"],
        "spec.schedulerName": spec["schedulerName"],
        "spec.serviceAccountName": spec["serviceAccountName"],
        "status.phase": status["phase"],
        "status.podIP": status["podIP"],
    }


PODS = Resource(group="", resource="pods", namespaced=True, fields=_fields, triggers=("spec.nodeName",))
_READER = reader_of(PODS)
_PREFIX = "/registry/pods/"
_FIRST_REVISION = 1_000
"""The revision of the first change, after all lists."""
_PATIENCE = 20.0
"""Seconds after which a missing event is a failure."""


def pod(number: int, *, namespaces: int = 50, nodes: int = 500) -> Object:
    """A pod of some 3.8 kB of JSON; one in ten has tier=backend."""
    name = f"web-{number:06}"
    environment = [{"name": f"SETTING_{index}", "value": f"value-{index}-of-{name}"} for index in range(49)]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": f"team-{number % namespaces}",
            "uid": f"5f0c7d1e-8f0a-4a53-9e5e-{number:012}",
            "resourceVersion": "",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {
                "app": f"web-{number % 200}",
                "tier": "backend" if number % 10 == 0 else "frontend",
                "pod-template-hash": f"{number % 200:010x}",
            },
            "annotations": {"example.com/checksum": f"{number:064x}"},
        },
        "spec": {
            "nodeName": f"node-{number % nodes}",
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "serviceAccountName": "default",
            "containers": [{"name": "web", "image": "registry.example.com/web:1.0", "env": environment}],
        },
        "status": {"phase": "Running", "podIP": f"10.0.{number // 250 % 250}.{number % 250}", "note": "x" * 500},
    }


class _InMemory(KVStore):
    """A store of pods on a kv engine of its own."""

    def __init__(self) -> None:
        kv, clock = MemoryKV(), SystemClock()
        leases = LeaseManager(kv, clock=clock)
        super().__init__(kv, PODS, prefix=_PREFIX, codec=MSGPACK, transformer=IDENTITY, leases=leases)
        self.kv = kv


class _Feed(_InMemory):
    """A store whose watch events come from the benchmark."""

    def __init__(self) -> None:
        super().__init__()
        self.watched = asyncio.Event()
        self.sink: WatchSink

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        self.sink = sink
        self.watched.set()
        return _Unwatched()


class _Past(_InMemory):
    """A store whose list is empty and old, so that the cache reads the whole history."""

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        return ListResult((), 1)


class _Unwatched:
    def stop(self) -> None:
        """Nothing is running."""


class _CountingSink:
    """Takes batches as a fast connection does: it encodes them."""

    backlog = 0
    backlog_limit = 1

    def __init__(self, expected: int) -> None:
        self.bytes = 0
        self.is_done = asyncio.Event()
        self._missing = expected

    def deliver(self, batch: WatchBatch) -> None:
        self.bytes += len(batch.encoded(_frame))
        self._missing -= len(batch.events)
        if not self._missing:
            self.is_done.set()

    def end(self, reason: StorageError | None) -> None:
        """The measurement has ended."""


def _frame(events: Sequence[WatchEvent]) -> bytes:
    return b"".join(
        b'{"type":"%s","object":%s}\n' % (event.type.value.encode(), event.object.json)
        for event in events
        if event.object is not None
    )


@asynccontextmanager
async def _cacher(objects: int) -> AsyncIterator[tuple[Cacher, _Feed]]:
    """A ready cacher with so many pods, which are not decoded."""
    store = _Feed()
    for number in range(objects):
        obj = pod(number)
        await store.create(_key_of(obj), _unversioned(obj))
    cacher = Cacher(store, PODS, WindowMemory(SystemClock()))
    await cacher.wait_until_ready()
    await store.watched.wait()
    try:
        yield cacher, store
    finally:
        await cacher.close()
        await store.kv.close()


def _key_of(obj: Object) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


def _unversioned(obj: Object) -> Object:
    del obj["metadata"]["resourceVersion"]
    return obj


def _changes(count: int, *, keys: int) -> Iterator[WatchBatch]:
    """Changes in the form of the store's watch: one revision a batch, not decoded."""
    for number in range(count):
        obj = pod(number % keys)
        stored = StoredObject(_key_of(obj), _FIRST_REVISION + number, MSGPACK.encode(obj), _READER)
        kind = WatchEventType.ADDED if number < keys else WatchEventType.MODIFIED
        yield WatchBatch((WatchEvent(kind, stored, stored.revision),))


async def events_applied_per_second(events: int = 50_000, keys: int = 5_000) -> float:
    """Changes that the reflector, the window and the state apply without a watcher: nothing is decoded."""
    async with _cacher(0) as (_, store):
        batches = list(_changes(events, keys=keys))
        sink = store.sink
        begun = time.perf_counter()
        for batch in batches:
            sink.deliver(batch)
        return events / (time.perf_counter() - begun)


async def events_read_per_second(events: int = 20_000, keys: int = 5_000) -> float:
    """Changes from the history of the memory engine through the store's watch into the cache."""
    store = _Past()
    last = await _write(store.kv, events, keys=keys)
    cacher = Cacher(store, PODS, WindowMemory(SystemClock()))
    try:
        begun = time.perf_counter()
        await cacher.wait_until_ready()
        async with asyncio.timeout(_PATIENCE):
            while cacher.statistics()["revision"] < last:  # noqa: ASYNC110 - waiting for it otherwise costs decoding
                await asyncio.sleep(0)
        return events / (time.perf_counter() - begun)
    finally:
        await cacher.close()
        await store.kv.close()


async def _write(kv: MemoryKV, events: int, *, keys: int) -> int:
    """Write pods repeatedly. Returns the last revision."""
    revisions: dict[bytes, int] = {}
    revision = 0
    for number in range(events):
        obj = pod(number % keys)
        key = f"{_PREFIX}{_key_of(obj)}".encode()
        result = await kv.put(key, MSGPACK.encode(obj), expected_mod_revision=revisions.get(key, 0))
        assert result.succeeded
        revision = revisions[key] = result.revision
    return revision


async def deliveries_per_second(sinks: int = 500, events: int = 5_000, events_per_turn: int = 5) -> float:
    """Events that reach sinks which all watch everything, with several changes in one iteration of the event loop.

    Each event is decoded and encoded once for all sinks.
    """
    async with _cacher(0) as (cacher, store):
        watching = [_CountingSink(events) for _ in range(sinks)]
        for sink in watching:
            await cacher.watch("", WatchOptions(resource_version=0), sink)
        batches = list(_changes(events, keys=1_000))
        begun = time.perf_counter()
        for start in range(0, events, events_per_turn):
            for batch in batches[start : start + events_per_turn]:
                store.sink.deliver(batch)
            await asyncio.sleep(0)
        for sink in watching:
            await sink.is_done.wait()
        return sinks * events / (time.perf_counter() - begun)


async def decodings_per_second(objects: int = 10_000) -> float:
    """Pods decoded from their stored bytes and encoded as JSON, and nothing else."""
    data = MSGPACK.encode(pod(0))
    begun = time.perf_counter()
    for _ in range(objects):
        orjson.dumps(MSGPACK.unpack(data[len(MSGPACK.magic) :]))
    return objects / (time.perf_counter() - begun)


async def filtered_list_seconds(objects: int = 18_000, lists: int = 21) -> float:
    """The median time of a list that selects one in ten objects by a label. All objects were decoded before."""
    predicate = SelectionPredicate(labels=(Requirement("tier", Operator.IN, frozenset({"backend"})),))
    async with _cacher(objects) as (cacher, _):
        await cacher.get_list("", ListOptions(resource_version=0))
        return statistics.median([await _seconds_of_list(cacher, predicate) for _ in range(lists)])


async def _seconds_of_list(cacher: Cacher, predicate: SelectionPredicate) -> float:
    begun = time.perf_counter()
    found = await cacher.get_list("", ListOptions(predicate=predicate))
    seconds = time.perf_counter() - begun
    assert found.items
    return seconds


async def first_list_longest_turn_seconds(objects: int = 18_000) -> float:
    """The longest time for which other tasks wait while a list decodes all objects for the first time."""
    async with _cacher(objects) as (cacher, _):
        listing = asyncio.ensure_future(cacher.get_list("", ListOptions()))
        longest = 0.0
        while not listing.done():
            begun = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - begun)
        return longest


async def get_seconds(objects: int = 1_000, gets: int = 20_000) -> float:
    """A consistent get of an object in the cache."""
    async with _cacher(objects) as (cacher, _):
        await cacher.get("team-7/web-000007")
        begun = time.perf_counter()
        for _ in range(gets):
            await cacher.get("team-7/web-000007")
        return (time.perf_counter() - begun) / gets


async def bytes_per_object(objects: int = 5_000) -> float:
    """Bytes that Python has allocated for each pod of about 3.8 kB after a list of all of them."""
    async with _cacher(0) as (cacher, store):
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        await _fill(cacher, store, objects)
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return (after - before) / objects


def resident_bytes_per_object(objects: int = 18_000) -> float:
    """The growth of the process for each pod, as the system measures it. It needs a process of its own."""
    return asyncio.run(_resident_bytes_per_object(objects))


async def _resident_bytes_per_object(objects: int) -> float:
    async with _cacher(0) as (cacher, store):
        gc.collect()
        before = _resident_bytes()
        await _fill(cacher, store, objects)
        return (_resident_bytes() - before) / objects


async def _fill(cacher: Cacher, store: _Feed, objects: int) -> None:
    for batch in _changes(objects, keys=objects):
        store.sink.deliver(batch)
    await cacher.get_list("", ListOptions(resource_version=0))
    gc.collect()


def _resident_bytes() -> int:
    """The resident memory of the process, from Linux."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
