"""The Storage contract: the objects of one resource, by key, under the store-wide revision.

Store implements it on any kv engine, Cacher implements it on a Store. A Storage is bound to one resource: keys are
relative to it, "name" or "namespace/name", and a list's or watch's key is "" or "namespace/". Nothing here
knows what a kind means: an object is a dict with a `metadata` dict.

Must hold, on every implementation:
- What comes back from a write carries the revision of that write as metadata.resourceVersion.
- Reads without a resource version are linearizable; nothing read later is older than what was read or written before.
- list + watch from the list's revision leaves no gap and repeats nothing.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Protocol

from msgspec import Struct, field

from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.selection import EVERYTHING, SelectionPredicate
from aio_apiserver.storage.stored_object import Object, StoredObject


class Match(Enum):
    """resourceVersionMatch of a list."""

    UNSET = ""
    EXACT = "Exact"
    NOT_OLDER_THAN = "NotOlderThan"


class ListOptions(Struct, frozen=True, kw_only=True):
    """How to list.

    resource_version: None is unset (the newest state), 0 is any state at hand. With a limit and no match, N means
    Exact; without a limit, NotOlderThan. `recursive` False lists the one object of that very key, or nothing.
    """

    resource_version: int | None = None
    match: Match = Match.UNSET
    predicate: SelectionPredicate = EVERYTHING
    limit: int = 0
    continue_token: str = ""
    recursive: bool = True


class ListResult(Struct, frozen=True):
    """`remaining` is known only for lists that select everything and were cut by their limit.

    fetched, examined: how many objects were read from the store for it, and how many of them looked at.
    """

    items: Sequence[StoredObject]
    revision: int
    continue_token: str = ""
    remaining: int | None = None
    fetched: int = 0
    examined: int = 0


class WatchOptions(Struct, frozen=True, kw_only=True):
    """How to watch.

    resource_version: N starts behind N; None and 0 start with the present state as ADDED events. With
    send_initial_events the state comes first whatever N says (and is not older than it), then a bookmark that ends
    the initial events (if bookmarks are allowed). `recursive` False watches the one object of that very key.
    skips_gaps: only what is there counts, not all that happened: where changes were lost, a watch of a cache need not
    end, but goes on with the difference.
    """

    resource_version: int | None = None
    predicate: SelectionPredicate = EVERYTHING
    allow_bookmarks: bool = False
    send_initial_events: bool = False
    recursive: bool = True
    ends_in: float = 0.0
    skips_gaps: bool = False


class WatchEventType(Enum):
    """What a watch event says of its object."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"


class WatchEvent(Struct, frozen=True):
    """One step of a watch, as its predicate sees it: entering the selection is ADDED, leaving it is DELETED.

    A DELETED object is the last state that the watcher could see, under the revision at which it went.
    `object` is None for a BOOKMARK only.
    """

    type: WatchEventType
    object: StoredObject | None
    revision: int
    ends_initial_events: bool = False


Encoder = Callable[[Sequence[WatchEvent]], bytes]
"""Turns the events of a batch into wire bytes. Watchers that hand in the same encoder share the bytes."""


class WatchBatch:
    """Events in order, shared by all watchers with the same scope and predicate; encoded once per encoder."""

    __slots__ = ("_encoded", "events")

    def __init__(self, events: Sequence[WatchEvent]) -> None:
        self.events = events
        self._encoded: dict[Encoder, bytes] = {}

    def encoded(self, encoder: Encoder) -> bytes:
        """The bytes of this batch in one format."""
        frame = self._encoded.get(encoder)
        if frame is None:
            frame = self._encoded[encoder] = encoder(self.events)
        return frame


class WatchSink(Protocol):
    """Where a watch delivers. Calls come from the event loop, in order, never after `end`."""

    @property
    def backlog(self) -> int:
        """What was delivered and not yet taken, in the sink's own unit; 0 when it keeps up."""
        ...

    @property
    def backlog_limit(self) -> int:
        """The backlog above which the sink counts as slow; it is ended when it stays there for its time budget."""
        ...

    def deliver(self, batch: WatchBatch) -> None:
        """Take a batch. Must neither block nor raise."""
        ...

    def end(self, reason: StorageError | None) -> None:
        """No more comes: None when the watch was stopped or the sink was too slow, else what went wrong."""
        ...


class Watch(Protocol):
    """A running watch."""

    def stop(self) -> None:
        """End it; the sink's `end(None)` is called if it was not ended yet. Safe to call twice."""
        ...


class Preconditions(Struct, frozen=True):
    """What must be true of the current object; None does not care."""

    uid: str | None = None
    resource_version: str | None = None


class Update(Struct, frozen=True):
    """What an update function wants stored. `ttl` in whole seconds; 0 keeps the object until it is deleted."""

    obj: Object
    ttl: int = 0


TryUpdate = Callable[[StoredObject | None], Awaitable[Update]]
"""From the current object (None when it does not exist) to the wanted one; may be called again after a conflict.

It owns what `current.decode()` returns; whatever it raises ends the update and reaches the caller untouched.
"""

Validate = Callable[[StoredObject], Awaitable[None]]
"""Raises to refuse a deletion; may be called again after a conflict."""


async def accept(_current: StoredObject) -> None:
    """The Validate that refuses nothing."""


class Resource(Struct, frozen=True, kw_only=True):
    """What storage has to know about the objects that it keeps.

    type_meta: the apiVersion and kind that stored values carry; the objects themselves go without, here and above.
    fields: the selectable fields of an object beyond metadata.name and metadata.namespace.
    triggers: selectable fields by which many watchers select one value each (spec.nodeName): the Cacher indexes them.
    restore: turns a value as it was stored, with the type that it carries, into an object; without it the type is
    taken off and nothing else.
    reduced: takes off an object what is not kept of it, before it is written.
    view: of a custom resource, tells apart the forms in which the same stored values are used; translation: where that
    needs others.
    """

    group: str
    resource: str
    namespaced: bool
    type_meta: Mapping[str, str] = field(default_factory=dict)
    fields: Callable[[Object], Mapping[str, str]] = field(default=lambda _obj: {})
    triggers: Sequence[str] = ()
    restore: Callable[[Object], Object] | None = None
    reduced: Callable[[Object], Object] | None = None
    view: str = ""
    translation: "Translation | None" = None


class Translation(Protocol):
    """How objects are kept in another form than the one in which they are used. Either way may take its time.

    Both own what they are given. A stored value carries its type, an object does not. Raises Untranslatable.
    """

    async def from_stored(self, value: Object) -> Object:
        """The object of a stored value."""
        ...

    async def to_stored(self, obj: Object) -> Object:
        """The value to store of an object."""
        ...


class Storage(Protocol):
    """The objects of one resource."""

    async def create(self, key: str, obj: Object, *, ttl: int = 0) -> StoredObject:
        """Store a new object. Raises KeyExists; InvalidOptions when obj brings a resourceVersion."""
        ...

    async def get(self, key: str, *, resource_version: int | None = None) -> StoredObject:
        """Read one object: the newest (None), any (0) or one not older than N. Raises KeyNotFound, FutureRevision."""
        ...

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        """Read objects in key order. Raises Expired, FutureRevision, InvalidContinue, InvalidOptions."""
        ...

    async def guaranteed_update(
        self,
        key: str,
        try_update: TryUpdate,
        *,
        ignore_not_found: bool = False,
        preconditions: Preconditions | None = None,
        suggestion: StoredObject | None = None,
    ) -> StoredObject:
        """Read, change, compare-and-set, until it holds or the conflicts have been too many.

        `suggestion` is a state that is probably current: it saves the first read; a failure on it is checked against
        the store before it counts. An update that changes nothing writes nothing and returns the current object.
        With ignore_not_found, a missing object is handed over as None and created.
        Raises KeyNotFound, PreconditionFailed, Conflict, TooLarge.
        """
        ...

    async def delete(
        self,
        key: str,
        *,
        preconditions: Preconditions | None = None,
        validate: Validate = accept,
        suggestion: StoredObject | None = None,
    ) -> StoredObject:
        """Delete, and return the last state under the deletion's revision.

        Suggestions and conflicts are as in updates. Raises KeyNotFound, PreconditionFailed, Conflict.
        """
        ...

    async def preview(self, key: str, obj: Object) -> StoredObject:
        """An object, which is used up, as it would read back from the store, under the version that it carries.

        Raises NotStorable, Untranslatable.
        """
        ...

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        """Deliver changes to the sink until it is stopped or ended. What is wrong from the start is raised here.

        Raises Expired when the revision is too old, FutureRevision never: a watch from the future waits for it.
        """
        ...

    async def count(self) -> int:
        """How many objects the resource has, approximately now."""
        ...

    async def wait_until_ready(self) -> None:
        """Return when requests can be served. Raises Initializing when that takes too long."""
        ...

    def statistics(self) -> Mapping[str, Any]:
        """Counters and sizes, exact, for metrics and for people."""
        ...

    async def close(self) -> None:
        """End watches and background work. Safe to call twice."""
        ...


class Origin(Storage, Protocol):
    """A Storage that reads straight from the store: what a Cacher stands on.

    Its watch with bookmarks allowed delivers a BOOKMARK for each progress batch of the kv engine.
    """

    @property
    def has_reliable_progress(self) -> bool:
        """Whether a bookmark really means that nothing older is still to come."""
        ...

    async def current_revision(self) -> int:
        """The store's revision, linearizable."""
        ...

    async def request_progress(self) -> None:
        """Ask that open watches deliver a bookmark soon."""
        ...
