"""past_values: PastValues, the bytes of superseded values by the revision at which they were superseded.

Pure. A revision that is compacted frees the values that were superseded up to it.

    put a=xxx (2), put a=y (3), delete a (4)        3: 3 bytes    4: 1 byte        compact at 3 leaves 1 byte

Must hold: the bytes are those of all revisions after the newest compaction. Few entries stand for many revisions.
"""

from collections import deque
from collections.abc import Iterable

from aio_apiserver.storage.kv.interface import Event

_RECORD_BYTES = 200
"""The space of a record beside its value."""
_ENTRIES = 64
"""The parts into which the limit is divided: a compaction frees one part more than it has to."""


class PastValues:
    """The past values of one store. `limit`: the bytes from which on they are too many; 0 for no limit."""

    def __init__(self, limit: int) -> None:
        self.bytes = 0
        self._limit = limit
        self._entries: deque[tuple[int, int]] = deque()
        """Revisions and the bytes that their compaction frees."""

    def add(self, events: Iterable[Event]) -> None:
        """Count what these events supersede."""
        for event in events:
            if event.previous is not None:
                self._add(event.record.mod_revision, _RECORD_BYTES + len(event.previous.value))

    def compact(self, revision: int) -> None:
        """Forget what a compaction has freed."""
        while self._entries and self._entries[0][0] <= revision:
            self.bytes -= self._entries.popleft()[1]

    def excess(self) -> int:
        """The revision whose compaction leaves half of the limit, when there is more than the limit; else 0."""
        if not 0 < self._limit < self.bytes:
            return 0
        rest, target = self.bytes, 0
        for revision, size in self._entries:
            if rest <= self._limit // 2:
                break
            target, rest = revision, rest - size
        return target

    def _add(self, revision: int, size: int) -> None:
        self.bytes += size
        if self._entries and self._entries[-1][1] < self._limit // _ENTRIES:
            size += self._entries.pop()[1]
        self._entries.append((revision, size))
