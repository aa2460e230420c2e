"""Kept items: a history that is bounded by bytes, and by age where it has a clock.

Whatever the server keeps for clients, and could do without, stands in one of these: traces, records, changes, results.
KeptItems has them in the order of their arrival, KeptByKey by a key.

Must hold: the sizes of all items together are at most the limit. The oldest items go first; of those with a key, the
ones that were put or used longest ago. An item that is larger than the limit is not kept.
"""

from collections import deque
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class KeptItems(Generic[T]):
    """Items in the order of their arrival."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._items: deque[tuple[T, int, float]] = deque()
        self._bytes = 0

    def append(self, item: T, size: int, at: float = 0.0) -> None:
        """Keep an item of so many bytes. `at`: the monotonic time of its arrival."""
        if size > self._limit:
            return
        self._items.append((item, size, at))
        self._bytes += size
        while self._bytes > self._limit:
            self._drop()

    def drop_before(self, at: float) -> None:
        """Drop the items that are older."""
        while self._items and self._items[0][2] < at:
            self._drop()

    def clear(self) -> None:
        self._items.clear()
        self._bytes = 0

    def __iter__(self) -> Iterator[T]:
        return (item for item, _, _ in self._items)

    def __reversed__(self) -> Iterator[T]:
        return (item for item, _, _ in reversed(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def statistics(self) -> dict[str, int]:
        """How many items are kept, and their bytes."""
        return {"items": len(self._items), "bytes": self._bytes}

    def _drop(self) -> None:
        _, size, _ = self._items.popleft()
        self._bytes -= size


class KeptByKey(Generic[K, T]):
    """Items by key, bounded by bytes, and by their number where `most` is positive."""

    def __init__(self, limit: int, most: int = 0) -> None:
        self._limit = limit
        self._most = most
        self._items: dict[K, tuple[T, int]] = {}
        """In the order in which they are to make room."""
        self._bytes = 0

    def put(self, key: K, item: T, size: int) -> None:
        """Keep an item of so many bytes, in the place of an earlier one with its key."""
        self.drop(key)
        if size > self._limit:
            return
        self._items[key] = item, size
        self._bytes += size
        while self._bytes > self._limit or 0 < self._most < len(self._items):
            self.drop(next(iter(self._items)))

    def get(self, key: K) -> T | None:
        """The item with a key, which is now the last one to make room."""
        pair = self._items.pop(key, None)
        if pair is None:
            return None
        self._items[key] = pair
        return pair[0]

    def drop(self, key: K) -> None:
        """Drop the item with a key, if there is one."""
        pair = self._items.pop(key, None)
        if pair is not None:
            self._bytes -= pair[1]

    def clear(self) -> None:
        self._items.clear()
        self._bytes = 0

    def __iter__(self) -> Iterator[T]:
        return (item for item, _ in self._items.values())

    def __reversed__(self) -> Iterator[T]:
        return (item for item, _ in reversed(self._items.values()))

    def __len__(self) -> int:
        return len(self._items)

    def statistics(self) -> dict[str, int]:
        """How many items are kept, and their bytes."""
        return {"items": len(self._items), "bytes": self._bytes}
