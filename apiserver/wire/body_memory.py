"""Body memory: the memory for long bodies of requests, with a share for each user.

A request takes the memory for its whole body before the server reads it. So no two requests wait for each other with
half a body each. A request that gets none in time is refused: the bytes of its client stay in the client's machine.

    each user 8 MiB     eve sends 100 bodies of 3 MiB, and never ends them: 2 are read, 98 wait
                        jane sends one of 3 MiB: it is read at once

Must hold: what was taken is given back once. Requests of one user get memory in the order in which they came.
"""

import asyncio
from collections import deque
from typing import NamedTuple

TOTAL_BYTES = 32 * 1024 * 1024
USER_BYTES = 8 * 1024 * 1024
MOST_WAITING = 64
"""The requests of one user that wait for memory. Each has the beginning of its body, and a connection's buffers: about
1 MB. A further one is refused at once.
"""
WAIT_SECONDS = 10.0
"""A request waits for its memory for so long."""


class _Waiting(NamedTuple):
    """A request that waits for memory."""

    size: int
    granted: "asyncio.Future[None]"


class BodyMemory:
    """The memory of one server for long bodies."""

    def __init__(self, total: int = TOTAL_BYTES, per_user: int = USER_BYTES, seconds: float = WAIT_SECONDS) -> None:
        self._left = total
        self._per_user = per_user
        self._seconds = seconds
        self._taken: dict[str, int] = {}
        """The bytes of each user."""
        self._waiting: dict[str, deque[_Waiting]] = {}

    async def take(self, user: str, size: int) -> bool:
        """Take memory for a body, as soon as the user's share and the rest allow it. Returns False when the time is
        over, or when too many requests of the user wait.
        """
        if user not in self._waiting and self._fits(user, size):
            self._add(user, size)
            return True
        if len(self._waiting.get(user, ())) >= MOST_WAITING:
            return False
        waiting = _Waiting(size, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(user, deque()).append(waiting)
        try:
            async with asyncio.timeout(self._seconds):
                await waiting.granted
        except TimeoutError:
            self._give_up(user, waiting)
            return False
        except BaseException:
            self._give_up(user, waiting)
            raise
        return True

    def give_back(self, user: str, size: int) -> None:
        """The request with this body has ended."""
        self._add(user, -size)
        if not self._taken[user]:
            del self._taken[user]
        self._grant()

    def _fits(self, user: str, size: int) -> bool:
        return size <= self._left and self._taken.get(user, 0) + size <= self._per_user

    def _add(self, user: str, size: int) -> None:
        self._taken[user] = self._taken.get(user, 0) + size
        self._left -= size

    def _give_up(self, user: str, waiting: _Waiting) -> None:
        if waiting.granted.done() and not waiting.granted.cancelled():  # in the last moment
            self.give_back(user, waiting.size)
            return
        self._waiting[user].remove(waiting)
        self._grant()

    def _grant(self) -> None:
        """Give the free memory to the requests that wait for it."""
        for user in list(self._waiting):
            requests = self._waiting[user]
            while requests and self._fits(user, requests[0].size):
                waiting = requests.popleft()
                self._add(user, waiting.size)
                waiting.granted.set_result(None)
            if not requests:
                del self._waiting[user]
