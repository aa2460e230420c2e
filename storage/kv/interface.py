"""Interface: the kv contract: ordered byte keys under one store-wide revision, as etcd defines it.

Every engine (memory, sqlite, etcd, unix) is a KV and passes tests/storage/kv/contract.py. Callers do not know which
engine they use. No Kubernetes and no encoding: bytes in, bytes out.

Must hold on every engine:

- One store-wide revision. It starts at 1 for an empty store and grows by one with each effective write. A lease's
  expiry is one write for all its keys. The revision does not decrease, not even after a crash.
- A write that returned is durable. A write that raised `Unavailable` had no effect. One that raised `DeadlineExceeded`
  may have had an effect, and the engine does not repeat it.
- A watch delivers every event of its range once, in order of revision. All events of one revision come in one batch.
- Reads without a revision are linearizable.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from aio_apiserver.storage.health import Health
from aio_apiserver.storage.record import Record

MAX_VALUE_BYTES = 1_572_864 - 4_096
"""The largest value on every engine, so that data can move between engines. A larger value is `TooLarge`.

etcd's --max-request-bytes default (1.5 MiB) limits a whole request, in which a compare-and-set names its key three
times. 4 KiB leave room for keys of up to 1,300 bytes, twice the length of the longest Kubernetes keys.
"""

MOST_COMPARED = 32
"""The keys that one call of `newest` may name: far fewer than the 128 of etcd's --max-txn-ops."""


class EventType(Enum):
    """The kind of a change."""

    PUT = "PUT"
    DELETE = "DELETE"


class Event(Struct, frozen=True, array_like=True):
    """One change of one key.

    For a DELETE, `record` has the key, an empty value and the deletion's mod_revision. `previous` is the record before
    the change; None for a created key, or when compaction has removed it.
    """

    type: EventType
    record: Record
    previous: Record | None = None

    @property
    def is_create(self) -> bool:
        return self.type is EventType.PUT and self.record.create_revision == self.record.mod_revision


class EventBatch(Struct, frozen=True, array_like=True):
    """A batch of a watch: events in order. Without events it is a progress notification: all up to `revision` have been
    delivered.
    """

    events: Sequence[Event]
    revision: int

    @property
    def is_progress(self) -> bool:
        return not self.events


class GetResult(Struct, frozen=True, array_like=True):
    """`revision` is the store's at the time of the read."""

    record: Record | None
    revision: int


class Newest(Struct, frozen=True, array_like=True):
    """The store's revision, and the mod_revisions of keys at it, in their order; 0 for a key that does not exist."""

    revision: int
    mod_revisions: Sequence[int]


class RangeResult(Struct, frozen=True, array_like=True):
    """Records in key order. `count` is the number of keys in the range at that revision, whatever the limit."""

    records: Sequence[Record]
    revision: int
    count: int
    more: bool


class WriteResult(Struct, frozen=True, array_like=True):
    """The outcome of a compare-and-set.

    succeeded: `revision` is the write's own, and there is no `record`, which etcd would have to read for it. Otherwise
    nothing was written; `record` is the present one (None when the key does not exist).
    """

    succeeded: bool
    revision: int
    record: Record | None = None


class KV(Protocol):
    """One ordered key space. Ranges are half open: start <= key < end."""

    @property
    def has_reliable_progress(self) -> bool:
        """Whether a progress notification guarantees that no older event follows (etcd: 3.4.25, 3.5.8 and later)."""
        ...

    def statistics(self) -> Mapping[str, Any]:
        """Counters and sizes, for metrics and for people. `bytes`: the size of the data, where that is known."""
        ...

    async def get(self, key: bytes, *, revision: int = 0) -> GetResult:
        """Read one key, now or as it was at `revision`. Raises Compacted, FutureRevision."""
        ...

    async def range(
        self,
        start: bytes,
        end: bytes,
        *,
        limit: int = 0,
        revision: int = 0,
        keys_only: bool = False,
        count_only: bool = False,
    ) -> RangeResult:
        """Read keys in order. `limit` 0 means all. With keys_only, values are empty; with count_only, no records come.

        Raises Compacted, FutureRevision.
        """
        ...

    async def put(self, key: bytes, value: bytes, *, expected_mod_revision: int, lease: int = 0) -> WriteResult:
        """Write if the key's mod_revision is the expected one; 0 expects that the key does not exist.

        Raises TooLarge, LeaseNotFound, NoSpace.
        """
        ...

    async def delete(self, key: bytes, *, expected_mod_revision: int) -> WriteResult:
        """Delete if the key's mod_revision is the expected one (which is not 0)."""
        ...

    async def grant_lease(self, ttl: int) -> int:
        """Create a lease of `ttl` whole seconds (>= 1) and return its id (> 0). Its expiry deletes its keys."""
        ...

    async def revoke_lease(self, lease: int) -> None:
        """End a lease now; its keys are deleted in one revision. Raises LeaseNotFound."""
        ...

    def watch(
        self, start: bytes, end: bytes, *, revision: int
    ) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """Events of the range from `revision` on (>= 1, that revision included), each with its previous record.

        A future revision is accepted: the watch starts there. Iterating raises Compacted when history is gone, and
        Closed when the engine is closed. A lost connection is not an error: the engine resumes after the last delivered
        revision. A cancelled wait for the next batch loses nothing, and iterating may go on. Leaving the context ends
        the iteration, also of a waiting task, and frees what the watch holds.
        """
        ...

    async def request_progress(self) -> None:
        """Ask for a progress notification on open watches, as soon as they are in step with the store."""
        ...

    async def current_revision(self) -> int:
        """The store's revision, linearizable: not older than any write that returned before this call."""
        ...

    def known_revision(self) -> int | None:
        """The same at once; None where the engine has to ask for it."""
        ...

    async def compact(self, revision: int) -> None:
        """Forget history before `revision`. Reads and watches below it raise Compacted from now on.

        Raises Compacted when that was done already, FutureRevision when the revision does not exist yet.
        """
        ...

    async def health(self) -> Health:
        """Whether reads and writes can be expected to work. It does not raise, and answers within a few seconds."""
        ...

    async def close(self) -> None:
        """End watches (they raise Closed), timers and connections. It may be called twice."""
        ...


@runtime_checkable
class ComparesKeys(Protocol):
    """An engine that has to ask for its revision, and may as well ask for those of keys. Embedded engines know it."""

    async def newest(self, keys: Sequence[bytes]) -> Newest:
        """The store's revision and those of at most MOST_COMPARED keys, linearizable as `current_revision`."""
        ...


def prefix_end(prefix: bytes) -> bytes:
    """The end of the range of all keys that start with `prefix`: its last byte below 0xff, raised by one.

    >>> prefix_end(b"/registry/pods/")
    b'/registry/pods0'
    """
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        raise ValueError("no key is greater than all keys with this prefix")
    return stripped[:-1] + bytes([stripped[-1] + 1])
