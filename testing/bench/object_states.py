"""Object states: the states of one object as they happen, for tests that wait for something.

It reads the server's caches directly: that is no request, so it is not recorded and gets no faults. Must hold: the
first state is the present one. Then come all states that a watch would show, in order.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import Storage, WatchBatch, WatchEvent, WatchEventType, WatchOptions
from aio_apiserver.storage.stored_object import StoredObject
from aio_apiserver.testing.bench.request_selectors import ResourceNames

_PAUSE_SECONDS = 0.1
"""The pause between two watches. A restore or a fault may end one."""

Show = Callable[[Object | None], None]
"""Called with an object as a GET would return it; None when it does not exist."""


class ObjectStates:
    """The states of objects of one server."""

    def __init__(self, served: ServedPaths, patience: Clock) -> None:
        self._served = served
        self._patience = patience

    @asynccontextmanager
    async def watched(self, resource: str, namespace: str, name: str, *, show: Show) -> AsyncIterator[None]:
        """Show an object, and every change of it, while the context is open. Raises ValueError."""
        served = self._find(resource)
        key = f"{namespace}/{name}" if served.kind.is_namespaced else name
        sink = _Sink(key, lambda stored: show(_versioned(served, stored)))
        tasks = Tasks()
        tasks.spawn(self._follow(served.storage.storage, sink), name=f"show {resource} {key}")
        try:
            await sink.has_begun.wait()
            yield
        finally:
            await tasks.close()

    async def _follow(self, storage: Storage, sink: "_Sink") -> None:
        """Watch until cancelled."""
        options = WatchOptions(send_initial_events=True, allow_bookmarks=True)
        while True:
            sink.begin()
            with suppress(StorageError):
                watch = await storage.watch("", options, sink)
                try:
                    await sink.has_ended.wait()
                finally:
                    watch.stop()
            await self._patience.sleep(_PAUSE_SECONDS)

    def _find(self, resource: str) -> Served[Any]:
        """A resource by its plural and its group, in the preferred version."""
        plural, _, group = resource.partition(".")
        versions = self._served.told_groups.get(group, {}).values()
        found = next((paths[plural] for paths in versions if plural in paths), None)
        if found is None:
            ResourceNames(self._served).check([resource])
        if found is None or not isinstance(found.storage, Store):
            raise ValueError(f"there are no objects of {resource!r}: it is PLURAL.GROUP, as in `deployments.apps`")
        return found


class _Sink:
    """Selects the states of one object from a watch of all objects."""

    def __init__(self, key: str, show: Callable[[StoredObject | None], None]) -> None:
        self.has_begun = asyncio.Event()
        self.has_ended = asyncio.Event()
        self._key = key
        self._show = show
        self._first: StoredObject | None = None
        self._is_first = True

    def begin(self) -> None:
        """A watch begins, with its initial events."""
        self.has_ended.clear()
        self._first, self._is_first = None, True

    @property
    def backlog(self) -> int:
        return 0

    @property
    def backlog_limit(self) -> int:
        return 1

    def deliver(self, batch: WatchBatch) -> None:
        for event in batch.events:
            if event.ends_initial_events:
                self._is_first = False
                self._show(self._first)
                self.has_begun.set()
            elif event.object is not None and event.object.key == self._key:
                self._take(event)

    def end(self, _reason: StorageError | None) -> None:
        self.has_ended.set()

    def _take(self, event: WatchEvent) -> None:
        present = None if event.type is WatchEventType.DELETED else event.object
        if self._is_first:
            self._first = present
        else:
            self._show(present)


def _versioned(served: Served[Any], stored: StoredObject | None) -> Object | None:
    return served.view.versioned(stored.decode()) if stored is not None else None
