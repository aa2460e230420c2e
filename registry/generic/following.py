"""Following: the present state of one resource, kept current by a watch, as an informer does.

It serves decisions in every request, such as flow schemas and roles, and loops that keep objects right. Each object is
read once per change. Must hold: the initial state of a new watch replaces `items` as a whole. `changed` is called after
`items` has changed, never in between. An unreadable object stops nothing.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Generic, Protocol, TypeVar

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.errors import RevisionExpired, StorageError
from aio_apiserver.storage.interface import Watch, WatchBatch, WatchEvent, WatchEventType, WatchOptions, WatchSink
from aio_apiserver.storage.stored_object import StoredObject

logger = logging.getLogger(__name__)

_PAUSE_SECONDS = 1.0
"""The pause between attempts to watch an unavailable storage."""

T = TypeVar("T")


class Watched(Protocol):
    """A Storage, or an object that finds one: it can be watched."""

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch: ...


Changed = Callable[[Collection[str]], None]
"""Called with the keys of new, changed and removed objects."""


def _ignore(_keys: Collection[str]) -> None:
    """The default of `changed`: does nothing."""


class Following(Generic[T]):
    """Reads a storage's objects with `read`, and calls `changed` after each change."""

    def __init__(self, storage: Watched, read: Callable[[StoredObject], T], changed: Changed = _ignore) -> None:
        self._storage = storage
        self._read = read
        self._changed = changed
        self._items: dict[str, T] = {}
        self._beginning: dict[str, T] | None = None
        self._is_current = asyncio.Event()
        self._has_ended = asyncio.Event()
        self._next_change: asyncio.Future[None] | None = None
        self._reason: StorageError | None = None

    @property
    def items(self) -> Mapping[str, T]:
        """The objects by key."""
        return self._items

    def next_change(self) -> "asyncio.Future[None]":
        """A future that is done as soon as `items` has changed, or may have."""
        if self._next_change is None:
            self._next_change = asyncio.get_running_loop().create_future()
        return self._next_change

    async def wait_until_current(self) -> None:
        """Return when `items` has held the whole state once."""
        await self._is_current.wait()

    async def run(self, clock: Clock) -> None:
        """Watch until cancelled."""
        while True:
            self._beginning = {}
            self._has_ended.clear()
            try:
                await self._watch_once()
            except RevisionExpired:
                continue  # nothing stands in the way of the next watch, which begins with what is there
            except StorageError as exc:
                logger.warning("cannot watch: %s", exc)
            await clock.sleep(_PAUSE_SECONDS)

    async def _watch_once(self) -> None:
        options = WatchOptions(send_initial_events=True, allow_bookmarks=True, skips_gaps=True)
        watch = await self._storage.watch("", options, self)
        try:
            await self._has_ended.wait()
        finally:
            watch.stop()
        if self._reason is not None:
            raise self._reason

    # The sink of the watch

    @property
    def backlog(self) -> int:
        return 0

    @property
    def backlog_limit(self) -> int:
        return 1

    def deliver(self, batch: WatchBatch) -> None:
        changed: set[str] = set()
        is_beginning = self._beginning is not None
        for event in batch.events:
            changed.update(self._apply(event))
        if self._beginning is None and (changed or is_beginning):
            self._changed(changed)
            if self._next_change is not None:
                self._next_change.set_result(None)
                self._next_change = None

    def end(self, reason: StorageError | None) -> None:
        self._reason = reason
        self._has_ended.set()

    def _apply(self, event: WatchEvent) -> Collection[str]:
        """The keys of the changes in `items` by the event."""
        if event.ends_initial_events and self._beginning is not None:
            before, self._items, self._beginning = self._items, self._beginning, None
            self._is_current.set()
            return before.keys() | self._items.keys()
        if event.object is None:
            return ()
        items = self._items if self._beginning is None else self._beginning
        if event.type is WatchEventType.DELETED:
            items.pop(event.object.key, None)
        else:
            self._put(items, event.object)
        return (event.object.key,)

    def _put(self, items: dict[str, T], stored: StoredObject) -> None:
        """Read an object; an unreadable one counts as absent."""
        try:
            items[stored.key] = self._read(stored)
        except Exception:
            logger.exception("cannot read %s", stored.key)
            items.pop(stored.key, None)
