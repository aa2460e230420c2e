"""Key queues: writers of one process that contend for a key wait in line, first come, first served.

A writer that has lost a race joins the queue, and so does every later writer while the queue exists. Each leaves its
result for the next one, which then needs no read. A key without contention has no queue.

Must hold: no writer of this process starves. The queue of a key is removed with its last writer.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aio_apiserver.storage.stored_object import StoredObject


class KeyQueue:
    """The queue of one key. `latest`: the state that the previous writer has left."""

    __slots__ = ("_users", "latest", "lock")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.latest: StoredObject | None = None
        self._users = 0

    def join(self) -> None:
        self._users += 1

    def leave(self) -> bool:
        """Leave the queue. True for the last writer."""
        self._users -= 1
        return not self._users


class KeyQueues:
    """The queues of all contended keys."""

    def __init__(self) -> None:
        self._by_key: dict[str, KeyQueue] = {}

    def __contains__(self, key: str) -> bool:
        """Whether writers queue for the key."""
        return key in self._by_key

    def __len__(self) -> int:
        return len(self._by_key)

    @asynccontextmanager
    async def take(self, key: str) -> AsyncIterator[KeyQueue]:
        """Wait in the queue of the key, and hold its lock."""
        queue = self._by_key.setdefault(key, KeyQueue())
        queue.join()
        try:
            async with queue.lock:  # asyncio's locks are fair
                yield queue
        finally:
            if queue.leave():
                del self._by_key[key]
