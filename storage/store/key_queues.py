"""Turns: writers of one process that contend for a key go one after the other, first come, first served.

A writer that has lost a race queues here and so does everybody who comes to that key while there is a queue; a key
that nobody contends for costs nothing. Each leaves what it wrote for the next, who then needs no read.

Must hold: no writer starves behind others of this process; a key is forgotten with its last writer.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aio_apiserver.storage.stored_object import StoredObject


class Turn:
    """The queue of one key, seen by the one whose turn it is. `latest` is what the one before has written."""

    __slots__ = ("_users", "latest", "lock")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.latest: StoredObject | None = None
        self._users = 0

    def join(self) -> None:
        self._users += 1

    def leave(self) -> bool:
        """Whether nobody is left."""
        self._users -= 1
        return not self._users


class Turns:
    """The queues of all keys that are contended for."""

    def __init__(self) -> None:
        self._by_key: dict[str, Turn] = {}

    def __contains__(self, key: str) -> bool:
        """Whether writers queue for the key."""
        return key in self._by_key

    def __len__(self) -> int:
        return len(self._by_key)

    @asynccontextmanager
    async def take(self, key: str) -> AsyncIterator[Turn]:
        """Wait for one's turn at the key, and have it."""
        turn = self._by_key.setdefault(key, Turn())
        turn.join()
        try:
            async with turn.lock:  # asyncio's locks are fair
                yield turn
        finally:
            if turn.leave():
                del self._by_key[key]
