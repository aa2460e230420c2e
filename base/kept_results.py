"""Kept results: the results of pure work by their key, bounded by bytes.

The results that were used last are kept. Several threads may use them.

Must hold: the sizes of all results together are at most the limit. A result that is larger than the limit is not kept.
"""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class KeptResults(Generic[K, T]):
    """Results in the order of their last use."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._results: OrderedDict[K, tuple[T, int]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: K) -> T | None:
        """The result with a key; None without one."""
        with self._lock:
            entry = self._results.get(key)
            if entry is None:
                return None
            self._results.move_to_end(key)
            return entry[0]

    def put(self, key: K, result: T, size: int) -> None:
        """Keep a result. `size`: the bytes of the key and the result."""
        with self._lock:
            _, size_before = self._results.pop(key, (None, 0))
            self._bytes -= size_before
            if size > self._limit:
                return
            self._results[key] = result, size
            self._bytes += size
            while self._bytes > self._limit:
                _, (_, dropped) = self._results.popitem(last=False)
                self._bytes -= dropped

    def statistics(self) -> dict[str, int]:
        """How many results are kept, and their bytes."""
        return {"results": len(self._results), "bytes": self._bytes}
