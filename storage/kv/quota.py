"""Quota: the space of an embedded store, as etcd's --quota-backend-bytes bounds its.

    used  ...... 15/16 ........ quota ........ 17/16
          alarm ends here   alarm begins    no write but deletions

In a small store, two of the largest values are below the quota, and ten above it.

Pure. The engine tells the quota how many bytes are in use, and asks before each write. Between two measures the quota
adds what is written.

Must hold: while the alarm is on, a write that needs space is refused, and deletions are not. The marks of a deletion
(deletionTimestamp, a finalizer less, a condition more) and the renewal of a lease need no space.
"""

from aio_apiserver.storage.errors import NoSpace
from aio_apiserver.storage.kv.interface import MAX_VALUE_BYTES
from aio_apiserver.storage.record import Record

_MARK_BYTES = 4 << 10
"""How much longer a value may become while the alarm is on."""
_SHARE = 16
_DOUBTFUL_BYTES = 4 << 20


class Quota:
    """The bytes that one store uses, and its alarm. A limit of 0 is none.

    disk_problem: why the disk takes no more, while it is full.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used_bytes = 0
        self.disk_problem = ""
        self._unmeasured = 0
        self._enough = max(limit - max(limit // _SHARE, 2 * MAX_VALUE_BYTES), limit // 2)
        """The used bytes below which the alarm ends."""
        self._most = limit + max(limit // _SHARE, 10 * MAX_VALUE_BYTES)
        self.is_exceeded = False

    @property
    def has_alarm(self) -> bool:
        """Whether writes that need space are refused."""
        return self.is_exceeded or bool(self.disk_problem)

    @property
    def is_doubtful(self) -> bool:
        """Whether the bytes should be measured."""
        return self.has_alarm or self._unmeasured >= _DOUBTFUL_BYTES

    def note(self, used: int) -> None:
        """The bytes in use have been measured."""
        self.used_bytes = used
        self._unmeasured = 0
        if self.limit and used >= self.limit:
            self.is_exceeded = True
        elif used < self._enough:
            self.is_exceeded = False

    def charge(self, value: bytes, previous: Record | None) -> None:
        """Count a write. Raises NoSpace when the alarm is on or begins with it: with etcd's message for the quota."""
        if self.limit and self.used_bytes + len(value) > self.limit:
            self.is_exceeded = True
        if self.has_alarm and not self._may_mark(value, previous):
            raise NoSpace(self.disk_problem or "etcdserver: mvcc: database space exceeded")
        self.used_bytes += len(value)
        self._unmeasured += len(value)

    def _may_mark(self, value: bytes, previous: Record | None) -> bool:
        has_reserve = not self.limit or self.used_bytes < self._most
        return has_reserve and previous is not None and len(value) <= len(previous.value) + _MARK_BYTES
