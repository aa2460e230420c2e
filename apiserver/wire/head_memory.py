"""Head memory: the memory for long heads of requests, until their users are known.

A head may have 1 MiB, or 1,024 fields that take 400 bytes each. Connections with shorter heads do not count. When all
connections hold too much, the connection that has held a long head for the longest time is refused. A client that sends
its head at once is served so, whatever heads others do not end.

Must hold: the long heads of all connections together stay below the limit. When the user is known, the head counts for
the user, in request_memory.py.
"""

from collections.abc import Mapping
from typing import Protocol

LIMIT = 16 * 1024 * 1024


class HeadHolder(Protocol):
    """A connection."""

    def refuse_head(self) -> None:
        """Forget the head, and close the connection."""


class HeadMemory:
    """The long heads of one server."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._held: dict[HeadHolder, int] = {}
        """The bytes of each connection; the first has held a long head for the longest time."""
        self._bytes = 0
        self._refused = 0

    def change(self, holder: HeadHolder, change: int) -> None:
        """The connection holds so many bytes more, or less."""
        held = self._held.get(holder, 0) + change
        self._bytes += change
        if held:
            self._held[holder] = held
        else:
            self._held.pop(holder, None)
        while self._bytes > self._limit:
            oldest = next(iter(self._held))
            self.forget(oldest)
            self._refused += 1
            oldest.refuse_head()

    def forget(self, holder: HeadHolder) -> None:
        """The connection holds nothing."""
        self._bytes -= self._held.pop(holder, 0)

    def statistics(self) -> Mapping[str, int]:
        return {"connections": len(self._held), "bytes": self._bytes, "refused": self._refused}
