"""Window: the recent changes from which a client's watch resumes, as many as the rate of change requires.

A watcher that comes back within about a minute finds the changes that it has missed. The capacity doubles when the
window is full of fresh changes. It halves when even the newest quarter is not fresh. WindowMemory bounds the bytes of
all windows, and lets go of changes that are not fresh any more.

    floor 7: | 8 PUT a | 9 PUT b | 9 DEL c | 12 PUT a |     a watch behind 7, 8, 9... can be served, one behind 6 not

Must hold: no change after the floor is missing. Changes lie in order of revision, those of one revision together.
"""

import bisect
import itertools
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from aio_apiserver.storage.cacher.window_memory import WindowMemory
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import RevisionExpired

SMALLEST = 100
LARGEST = 102_400

FRESH_SECONDS = 75.0
"""A bookmark comes about once a minute: the changes after the last one should be here when its client resumes."""

_SMALL_BYTES = 1 << 20
"""What a window keeps of changes that are not fresh any more, with SMALLEST changes at most."""

_REVISION = attrgetter("revision")


class Window:
    """A sliding window of changes."""

    def __init__(self, memory: WindowMemory) -> None:
        self.held_bytes = 0
        self._memory = memory
        self._changes: deque[Change] = deque()
        self._sizes: deque[int] = deque()
        """The bytes that each change has held when it came."""
        self._capacity = SMALLEST
        self._floor = 0
        self._has_slid = False
        self._increases = self._decreases = 0
        memory.join(self)

    def __len__(self) -> int:
        return len(self._changes)

    @property
    def first_list(self) -> int | None:
        """The revision of the list that history begins with; None when changes behind it were forgotten."""
        return None if self._has_slid else self._floor

    def restart(self, revision: int) -> None:
        """Forget everything: history begins after `revision`."""
        self._changes.clear()
        self._sizes.clear()
        self._count(-self.held_bytes)
        self._floor = revision
        self._has_slid = False

    def close(self) -> None:
        """Forget everything, for good."""
        self.restart(0)
        self._memory.leave(self)

    def extend_back(self, changes: Sequence[Change], revision: int) -> None:
        """Let history begin after an older `revision`. `changes`: all from there to the floor."""
        self._changes.extendleft(reversed(changes))
        sizes = [change.held_bytes for change in changes]
        self._sizes.extendleft(reversed(sizes))
        self._floor = revision
        while self._capacity < min(len(self._changes), LARGEST):
            self._capacity *= 2
        self._count(sum(sizes))

    def append(self, change: Change) -> None:
        """Add the newest change."""
        if len(self._changes) >= self._capacity:
            self._make_room(change.at)
        size = change.held_bytes
        self._changes.append(change)
        self._sizes.append(size)
        self._count(size)

    def shed(self, size: int) -> None:
        """Let go of the oldest changes, until so many bytes are freed."""
        least = max(self.held_bytes - size, 0)
        while self.held_bytes > least:
            self._drop()

    def shed_stale(self, now: float) -> None:
        """Let go of changes that are not fresh, but for a few."""
        while len(self._changes) > SMALLEST or self.held_bytes > _SMALL_BYTES:
            if now - self._changes[0].at < FRESH_SECONDS:
                return
            self._drop()

    def check(self, revision: int) -> None:
        """Raise RevisionExpired if changes after `revision` have been forgotten."""
        if revision < self._floor:
            raise RevisionExpired(f"too old resource version: {revision} ({self._floor})")

    def behind(self, revision: int) -> Iterator[Change]:
        """The changes after `revision`, to be read before the next `append`. Raises RevisionExpired."""
        self.check(revision)
        if not self._changes or self._changes[-1].revision <= revision:
            return iter(())
        first = bisect.bisect_right(self._changes, revision, key=_REVISION)
        return itertools.islice(self._changes, first, None)

    def newest(self, revision: int, most: int) -> list[Change]:
        """The changes after `revision` that are still here, at most so many of the newest."""
        first = bisect.bisect_right(self._changes, revision, key=_REVISION)
        return list(itertools.islice(self._changes, max(first, len(self._changes) - most), None))

    def statistics(self) -> Mapping[str, int]:
        return {
            "length": len(self._changes),
            "bytes": self.held_bytes,
            "capacity": self._capacity,
            "floor": self._floor,
            "increases": self._increases,
            "decreases": self._decreases,
        }

    def _make_room(self, now: float) -> None:
        changes, before = self._changes, self._capacity
        if now - changes[0].at < FRESH_SECONDS:
            self._capacity = min(2 * self._capacity, LARGEST)
        elif now - changes[-(self._capacity // 4)].at > FRESH_SECONDS:
            self._capacity = max(self._capacity // 2, SMALLEST)
        self._increases += self._capacity > before
        self._decreases += self._capacity < before
        while len(changes) >= self._capacity:
            self._drop()

    def _drop(self) -> None:
        self._has_slid = True
        self._floor = self._changes.popleft().revision
        size = self._sizes.popleft()
        self.held_bytes -= size
        self._memory.shrink(size)

    def _count(self, size: int) -> None:
        self.held_bytes += size
        if size > 0:
            self._memory.grow(size)
        else:
            self._memory.shrink(-size)
