"""Interface: the Storage contract: the objects of one resource, by key, under the revision of the whole store.

KVStore implements it on any kv engine, Cacher implements it on a KVStore. A Storage is bound to one resource. Keys are
relative to it: "name" or "namespace/name". A list's or watch's key is "" or "namespace/". The contract does not know
kinds: an object is a dict with a `metadata` dict.

Must hold, on every implementation:
- The result of a write has the revision of that write as metadata.resourceVersion.
- Reads without a resource version are linearizable. A later read shows no older state than an earlier read or write.
- A list and a watch from the list's revision leave no gap and repeat nothing.
"""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from enum import Enum
from typing import Any, Protocol, TypedDict, Unpack

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.selection import EVERYTHING, SelectionPredicate
from aio_apiserver.storage.stored_object import StoredObject


class ResourceVersionMatch(Enum):
    """The resourceVersionMatch of a list."""

    UNSET = ""
    EXACT = "Exact"
    NOT_OLDER_THAN = "NotOlderThan"


class ListOptions(Struct, frozen=True, kw_only=True):
    """The options of a list.

    resource_version: None for unset (the newest state), 0 for any state at hand. With a limit and no match, N means
    Exact; without a limit, NotOlderThan.
    recursive: False lists the single object with that key.
    """

    resource_version: int | None = None
    match: ResourceVersionMatch = ResourceVersionMatch.UNSET
    predicate: SelectionPredicate = EVERYTHING
    limit: int = 0
    continue_token: str = ""
    recursive: bool = True


class ListResult(Struct, frozen=True):
    """The result of a list. `remaining` is known for lists without selector that were cut by their limit.

    fetched, examined: the number of objects read from the store, and of those compared with the predicate.
    """

    items: Sequence[StoredObject]
    revision: int
    continue_token: str = ""
    remaining: int | None = None
    fetched: int = 0
    examined: int = 0


class WatchOptions(Struct, frozen=True, kw_only=True):
    """The options of a watch.

    resource_version: N starts after N; None and 0 start with the present state as ADDED events.
    send_initial_events: the present state comes first for any N (not older than N), then a bookmark that ends the
    initial events, if bookmarks are allowed.
    recursive: False watches the single object with that key.
    skips_gaps: the watcher wants the present state, not every change. When a cache loses changes, its watch need not
    end, but continues with the difference.
    """

    resource_version: int | None = None
    predicate: SelectionPredicate = EVERYTHING
    allow_bookmarks: bool = False
    send_initial_events: bool = False
    recursive: bool = True
    ends_in: float = 0.0
    skips_gaps: bool = False


class WatchEventType(Enum):
    """The type of a watch event."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"


class WatchEvent(Struct, frozen=True):
    """One event of a watch, as its predicate sees it: an object that enters the selection is ADDED, one that leaves it
    DELETED.

    A DELETED object is the last state that the watcher could see, under the revision of the deletion. `object` is None
    for BOOKMARK.
    """

    type: WatchEventType
    object: StoredObject | None
    revision: int
    ends_initial_events: bool = False


Encoder = Callable[[Sequence[WatchEvent]], bytes]
"""Encodes the events of a batch. Watchers with the same encoder share the bytes."""


Frames = MutableMapping[tuple[Encoder, tuple[WatchEvent, ...]], bytes]
"""Encoded batches by their encoder and their events."""


class WatchBatch:
    """Events in order, shared by all watchers with the same scope and predicate; encoded once for each encoder.

    `shared` has the frames of other batches: those with the same events share their bytes.
    """

    __slots__ = ("_shared", "events", "frames")

    def __init__(self, events: Sequence[WatchEvent], shared: Frames | None = None) -> None:
        self.events = events
        self._shared = shared
        self.frames: dict[Encoder, bytes] = {}
        """What has been encoded."""

    def encoded(self, encoder: Encoder) -> bytes:
        """The batch in one format."""
        frame = self.frames.get(encoder)
        if frame is None:
            frame = self.frames[encoder] = encoder(self.events) if self._shared is None else self._share(encoder)
        return frame

    def _share(self, encoder: Encoder) -> bytes:
        assert self._shared is not None
        key = encoder, tuple(self.events)
        frame = self._shared.get(key)
        if frame is None:
            frame = self._shared[key] = encoder(self.events)
        return frame


class WatchSink(Protocol):
    """The receiver of a watch. The event loop calls it in order, and not after `end`."""

    @property
    def backlog(self) -> int:
        """The delivered events that are not consumed yet, in the sink's own unit; 0 when it keeps up."""
        ...

    @property
    def backlog_limit(self) -> int:
        """The backlog above which the sink is slow. When it stays there for its time budget, its watch ends."""
        ...

    def deliver(self, batch: WatchBatch) -> None:
        """Take a batch. Must neither block nor raise."""
        ...

    def end(self, reason: StorageError | None) -> None:
        """The watch has ended: None when it was stopped or the sink was too slow, else the reason."""
        ...


class Watch(Protocol):
    """A running watch."""

    def stop(self) -> None:
        """End the watch. Calls `end(None)` of the sink, unless it has ended. Safe to call twice."""
        ...


class Preconditions(Struct, frozen=True):
    """Conditions on the current object; None sets no condition."""

    uid: str | None = None
    resource_version: str | None = None


class Update(Struct, frozen=True):
    """The result of an update function. `ttl`: whole seconds; 0 keeps the object until it is deleted."""

    obj: Object
    ttl: int = 0


TryUpdate = Callable[[StoredObject | None], Awaitable[Update]]
"""From the current object (None when it does not exist) to the wanted one. It may be called again after a conflict.
It owns the result of `current.decode()`. Its exceptions end the update and reach the caller unchanged.
"""

Validate = Callable[[StoredObject], Awaitable[None]]
"""Raises to refuse a deletion. It may be called again after a conflict."""


async def accept(_current: StoredObject) -> None:
    """Accepts every deletion."""


class UpdateCall(TypedDict, total=False):
    """How an update is made, beside its key and its function; what passes it on need not name the parts."""

    ignore_not_found: bool
    preconditions: Preconditions | None
    suggestion: StoredObject | None


class DeleteCall(TypedDict, total=False):
    """The same of a deletion."""

    preconditions: Preconditions | None
    validate: Validate
    suggestion: StoredObject | None


class Resource(Struct, frozen=True, kw_only=True):
    """The facts about a resource that storage needs.

    type_meta: the apiVersion and kind of stored values; the objects themselves have none in memory.
    fields: the selectable fields of an object beyond metadata.name and metadata.namespace.
    triggers: selectable fields that many watchers select by one value each (spec.nodeName); the Cacher indexes them.
    restore: makes an object from a stored value with its type. Without it, the type is removed and nothing else.
    default: sets the defaults of a value that kube-apiserver has stored in protobuf, as it does when it reads one.
    reduced: removes the parts of an object that are not stored, before a write.
    place: the part of the keys between the server's prefix and the object; without it, the name of the resource.
    is_cached: whether the factory puts a Cacher before the store; events have none, as in kube-apiserver: they are
    written often and read by people.
    drop_unknown: drops, in place, fields that servers of other versions have stored, and tells whether there were any.
    is_json: whether kube-apiserver stores its objects as JSON though they have a protobuf message.
    view: for a custom resource, names the form in which the stored values are used.
    translation: converts between this form and the stored one, if they differ.
    """

    group: str
    resource: str
    namespaced: bool
    type_meta: Mapping[str, str] = field(default_factory=dict)
    fields: Callable[[Object], Mapping[str, str]] = field(default=lambda _obj: {})
    triggers: Sequence[str] = ()
    restore: Callable[[Object], Object] | None = None
    default: Callable[[Object], None] | None = None
    reduced: Callable[[Object], Object] | None = None
    drop_unknown: Callable[[Object], bool] | None = None
    is_json: bool = False
    view: str = ""
    place: str = ""
    is_cached: bool = True
    translation: "Translation | None" = None

    @property
    def name(self) -> str:
        """Its name for people: pods, deployments.apps."""
        return f"{self.resource}.{self.group}".rstrip(".")


class Translation(Protocol):
    """Converts between stored values and objects, by conversion webhook. Both conversions may take long.

    Both own their argument. A stored value has a type, an object has none. Raises Untranslatable.
    """

    @property
    def advice(self) -> str:
        """What an administrator can do when values cannot be converted, for the log."""
        ...

    async def from_stored(self, value: Object) -> Object:
        """The object of a stored value."""
        ...

    async def to_stored(self, obj: Object) -> Object:
        """The stored value of an object."""
        ...


class Reader(Protocol):
    """Reads and watches the objects of one resource."""

    async def get(self, key: str, *, resource_version: int | None = None) -> StoredObject:
        """Read one object: the newest (None), any (0) or not older than N. Raises KeyNotFound and FutureRevision."""
        ...

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        """Read objects in key order. Raises RevisionExpired, FutureRevision, InvalidContinue and InvalidOptions."""
        ...

    def at_hand(self, key: str) -> Sequence[StoredObject] | None:
        """What `get` or `get_list` would return for version 0, where that needs no wait and no decoding; else None.

        The key is that of one object or of a list. None says nothing: the caller reads.
        """
        ...

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        """Deliver changes to the sink until the watch is stopped or ends. Raises the errors that are known at the
        start.

        Raises RevisionExpired when the revision is too old. A watch from a future revision waits for it.
        """
        ...

    async def count(self) -> int:
        """The approximate number of objects now."""
        ...

    async def wait_until_ready(self) -> None:
        """Wait until requests can be served. Raises Initializing when that takes too long."""
        ...

    def statistics(self) -> Mapping[str, Any]:
        """Counters and sizes for metrics and for operators."""
        ...


class Storage(Reader, Protocol):
    """Reads and writes the objects of one resource."""

    async def create(self, key: str, obj: Object, *, ttl: int = 0) -> StoredObject:
        """Store a new object. Raises KeyExists, and InvalidOptions when it has a resourceVersion."""
        ...

    async def guaranteed_update(self, key: str, try_update: TryUpdate, **call: Unpack[UpdateCall]) -> StoredObject:
        """Read, change, compare-and-set, until it succeeds or too many conflicts occur.

        `suggestion` is a state that is probably current. It saves the first read; a failure on it is checked against
        the store. An update without change writes nothing and returns the current object. With ignore_not_found,
        try_update gets None for a missing object, which is then created.

        Raises KeyNotFound, PreconditionFailed, TooManyConflicts and TooLarge.
        """
        ...

    async def delete(self, key: str, **call: Unpack[DeleteCall]) -> StoredObject:
        """Delete the object, and return its last state under the revision of the deletion.

        Suggestions and conflicts are as in updates. Raises KeyNotFound, PreconditionFailed and TooManyConflicts.
        """
        ...

    async def preview(self, key: str, obj: Object) -> StoredObject:
        """The object as it would read back from the store, under its own resourceVersion. The argument is changed.

        Raises NotStorable and Untranslatable.
        """
        ...

    async def close(self) -> None:
        """End watches and background tasks. Safe to call twice."""
        ...


class PastChange(Struct, frozen=True):
    """One change of the store's history. `previous` and `current` are the objects before and after; None: no object."""

    key: str
    revision: int
    previous: StoredObject | None
    current: StoredObject | None


NewestRevisions = tuple[int, Sequence[int]]
"""The revision of the store, and those that objects have at it, in the order of their keys; 0 for no object.

The second part is empty where objects were not compared.
"""


class Origin(Storage, Protocol):
    """A Storage that reads from the store itself; a Cacher wraps it.

    A watch with bookmarks delivers a BOOKMARK for each progress batch of the kv engine.
    """

    @property
    def has_reliable_progress(self) -> bool:
        """Whether a bookmark guarantees that no older event will follow."""
        ...

    async def newest(self, keys: Sequence[str]) -> NewestRevisions:
        """The revision of the store, linearizable, and those of at most MOST_COMPARED objects.

        Where the engine knows its revision, objects are not compared.
        """
        ...

    def known_revision(self) -> int | None:
        """The revision of the store at once, linearizable; None where the engine has to ask for it."""
        ...

    async def request_progress(self) -> None:
        """Ask for a bookmark on the open watches soon."""
        ...

    async def past_changes(self, after: int, until: int) -> Sequence[PastChange]:
        """All changes of the resource after one revision up to another one, in order.

        Raises Compacted, and RevisionExpired when the changes are too many. Needs reliable progress.
        """
        ...
