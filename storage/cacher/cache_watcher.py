"""CacheWatcher: one client's watch on the cache, and the revision that it has reached.

The feeder (catching_up.py) delivers to it until it has reached the fan-out's position. Then it is a member of a group
and gets the group's batches (fanout.py). A slow watcher goes back to the feeder.

Must hold: the sink has been given everything up to `revision`. While the watcher is in a group, the fan-out's position
holds instead.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from aio_apiserver.storage.interface import WatchEvent, WatchEventType, WatchOptions, WatchSink
from aio_apiserver.storage.stored_object import StoredObject

if TYPE_CHECKING:
    from aio_apiserver.storage.cacher.groups import Group


class CacheWatcher:
    """The Watch that a client holds.

    initial: the objects of the initial state that are not delivered yet; `revision` is that state's revision.
    marks_initial: a bookmark ends the initial events. skips_gaps: the watch goes on after lost history. bookmark_due,
    last_due: the times of the next bookmark and of the last one. group, feeding: the group or the feeder's task; both
    are None before the watch begins and after it ends.
    """

    __slots__ = (
        "_on_stop",
        "allows_bookmarks",
        "bookmark_due",
        "ends_in",
        "feeding",
        "group",
        "initial",
        "is_ended",
        "last_due",
        "marks_initial",
        "predicate",
        "revision",
        "scope",
        "sink",
        "skips_gaps",
    )

    def __init__(
        self, sink: WatchSink, on_stop: "Callable[[CacheWatcher], None]", *, scope: str, options: WatchOptions
    ) -> None:
        self.sink = sink
        self.scope = scope
        self.predicate = options.predicate
        self.allows_bookmarks = options.allow_bookmarks
        self.marks_initial = options.send_initial_events and options.allow_bookmarks
        self.skips_gaps = options.skips_gaps
        self.revision = options.resource_version or 0
        self.initial: Iterator[StoredObject] | None = None
        self.ends_in = options.ends_in
        self.bookmark_due = 0.0
        self.last_due = 0.0
        self.group: Group | None = None
        self.feeding: asyncio.Task[None] | None = None
        self.is_ended = False
        self._on_stop = on_stop

    def show_first(self, objects: Iterable[StoredObject], revision: int) -> None:
        """Begin with a state; the changes after its revision follow."""
        self.initial = iter(objects)
        self.revision = revision

    def is_slow(self) -> bool:
        """Whether the sink holds more undelivered data than its limit."""
        return self.sink.backlog > self.sink.backlog_limit

    def stop(self) -> None:
        self._on_stop(self)


def bookmark(revision: int, *, ends_initial_events: bool = False) -> WatchEvent:
    """The BOOKMARK event: everything up to `revision` has been delivered."""
    return WatchEvent(WatchEventType.BOOKMARK, None, revision, ends_initial_events)
