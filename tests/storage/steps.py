"""Steps of storage tests: objects of one resource, updates, watches."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol, Self, TypeVar

from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import (
    ListOptions,
    Resource,
    Storage,
    Update,
    Watch,
    WatchBatch,
    WatchEvent,
    WatchEventType,
    WatchOptions,
    WatchSink,
)
from aio_apiserver.storage.selection import Operator, Requirement, SelectionPredicate
from aio_apiserver.storage.stored_object import StoredObject

PATIENCE = 60.0
"""Seconds until a missing result is a failure. Passing tests do not wait so long."""

Elapse = Callable[[float], Awaitable[None]]
"""Advances the time of the storage under test."""

T = TypeVar("T")


def fields_of(obj: Object) -> dict[str, str]:
    return {"spec.color": str(obj.get("spec", {}).get("color", ""))}


WIDGETS = Resource(group="example.com", resource="widgets", namespaced=True, fields=fields_of, triggers=("spec.color",))
"""The resource of all storage tests: namespaced, with one selectable field that triggers."""


def widget(name: str, *, namespace: str = "default", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    """An object as a client would send it, with the uid that a server would have given it."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"uid-of-{name}"}
    if labels is not None:
        metadata["labels"] = labels
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": spec}


async def create(storage: Storage, name: str, *, namespace: str = "default", **rest: Any) -> StoredObject:
    """Store a new widget under its usual key."""
    return await storage.create(f"{namespace}/{name}", widget(name, namespace=namespace, **rest))


def setting(**spec: Any) -> Callable[[StoredObject | None], Awaitable[Update]]:
    """The update function that sets fields of the spec."""

    async def try_update(current: StoredObject | None) -> Update:
        assert current is not None
        obj = current.decode()
        obj["spec"].update(spec)
        return Update(obj)

    return try_update


async def unchanged(current: StoredObject | None) -> Update:
    """The update function that changes nothing."""
    assert current is not None
    return Update(current.decode())


async def set_spec(storage: Storage, stored: StoredObject, **spec: Any) -> StoredObject:
    """Change the spec of a stored widget."""
    return await storage.guaranteed_update(stored.key, setting(**spec))


async def set_labels(storage: Storage, stored: StoredObject, **labels: str) -> StoredObject:
    """Replace the labels of a stored widget."""

    async def try_update(current: StoredObject | None) -> Update:
        assert current is not None
        obj = current.decode()
        obj["metadata"]["labels"] = labels
        return Update(obj)

    return await storage.guaranteed_update(stored.key, try_update)


def labelled(**labels: str) -> SelectionPredicate:
    """The predicate a=b for each label."""
    return SelectionPredicate(
        labels=tuple(Requirement(name, Operator.IN, frozenset([value])) for name, value in labels.items())
    )


def with_field(name: str, value: str) -> SelectionPredicate:
    """The predicate name=value for a selectable field."""
    return SelectionPredicate(fields=(Requirement(name, Operator.IN, frozenset([value])),))


async def keys(storage: Storage, key: str = "", **options: Any) -> list[str]:
    """The keys that a list shows."""
    return [item.key for item in (await storage.get_list(key, ListOptions(**options))).items]


async def in_time(work: Awaitable[T]) -> T:
    """The result, which must come soon."""
    async with asyncio.timeout(PATIENCE):
        return await work


async def while_time_goes_by(work: Coroutine[Any, Any, T], elapse: Elapse) -> T:
    """The result, which may need the storage's own clock."""
    task = asyncio.ensure_future(work)
    async with asyncio.timeout(PATIENCE):
        while not task.done():
            await asyncio.wait([task], timeout=0.01)
            await elapse(1.0)
    return await task


class Watchable(Protocol):
    """An object that can be watched: a Storage, or a wrapper of one."""

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch: ...


class Watcher:
    """A sink that tests read from. `limit` is its backlog limit."""

    def __init__(self, *, limit: int = 10_000) -> None:
        self.events: list[WatchEvent] = []
        self.ends: list[StorageError | None] = []
        self.delivered_after_end = 0
        self._taken = 0
        self._limit = limit
        self._changed = asyncio.Event()
        self._watch: Watch | None = None

    @classmethod
    async def on(cls, storage: Watchable, key: str = "", *, limit: int = 10_000, **options: Any) -> Self:
        """A watcher that has been started."""
        watcher = cls(limit=limit)
        watcher._watch = await storage.watch(key, WatchOptions(**options), watcher)
        return watcher

    @property
    def backlog(self) -> int:
        return len(self.events) - self._taken

    @property
    def backlog_limit(self) -> int:
        return self._limit

    def deliver(self, batch: WatchBatch) -> None:
        self.delivered_after_end += len(self.ends)
        self.events.extend(batch.events)
        self._changed.set()

    def end(self, reason: StorageError | None) -> None:
        self.ends.append(reason)
        self._changed.set()

    def stop(self) -> None:
        assert self._watch is not None
        self._watch.stop()

    async def take(self, count: int) -> list[WatchEvent]:
        """The next `count` events."""
        await self._wait_until(lambda: self.backlog >= count)
        taken = self.events[self._taken : self._taken + count]
        self._taken += count
        return taken

    async def take_until(self, revision: int) -> list[WatchEvent]:
        """All events that were not taken yet, up to the first one of this revision or a later one."""
        await self._wait_until(lambda: bool(self.events) and self.events[-1].revision >= revision)
        taken = self.events[self._taken :]
        self._taken = len(self.events)
        return taken

    async def ended(self) -> StorageError | None:
        """Wait for the end and return its reason."""
        await self._wait_until(lambda: bool(self.ends))
        return self.ends[0]

    async def _wait_until(self, is_true: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not is_true():
                self._changed.clear()
                await self._changed.wait()


def shape(event: WatchEvent) -> tuple[WatchEventType, str]:
    """The type and key of an event."""
    return event.type, event.object.key if event.object is not None else ""


def shapes(events: Sequence[WatchEvent]) -> list[tuple[WatchEventType, str]]:
    return [shape(event) for event in events]
