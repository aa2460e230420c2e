"""CacheWatcher: one watch of a client on the cache, and how far it has come.

It is fed at its own pace (feeding.py) until it is in step with the fan-out; then it is a member of a group and gets the
group's batches (fanout.py); a slow one falls back to being fed.

Must hold: `revision` is what the sink has been given everything up to, unless the watcher is in a group, which knows.
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

    initial: what is left of the state that comes before any change; the watcher's `revision` is the state's.
    marks_initial: a bookmark ends the initial events. skips_gaps: it goes on where changes were lost.
    bookmark_due, last_due: when the next bookmark is, and the last.
    group, feeding: where it is; neither before it has begun and after it has ended.
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
        """Begin with a state, and go on behind its revision."""
        self.initial = iter(objects)
        self.revision = revision

    def is_slow(self) -> bool:
        """Whether the sink has more now than it can take."""
        return self.sink.backlog > self.sink.backlog_limit

    def stop(self) -> None:
        self._on_stop(self)


def bookmark(revision: int, *, ends_initial_events: bool = False) -> WatchEvent:
    """The event that says: everything up to `revision` has been delivered."""
    return WatchEvent(WatchEventType.BOOKMARK, None, revision, ends_initial_events)
