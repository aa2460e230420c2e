"""Request memory: the memory for long heads, for bodies and for the objects in them, with a share for each user.

A request takes the memory for its whole body before the server reads it. So no two requests wait for each other with
half a body each. A request that gets none in time is refused: the bytes of its client stay in the client's machine. A
long head is in memory when its user becomes known, so it does not wait.

    each user 8 MiB     eve sends 100 bodies of 3 MiB, and never ends them: 2 are read, 98 wait
                        jane sends one of 3 MiB: it is read at once

Must hold: what was taken is given back once. Requests of one user get memory in the order in which they came. Users who
wait for the memory of all users get it in turns.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

TOTAL_BYTES = 32 * 1024 * 1024
USER_BYTES = 8 * 1024 * 1024
OBJECTS_TOTAL_BYTES = 64 * 1024 * 1024
OBJECTS_USER_BYTES = 48 * 1024 * 1024
"""The shares for objects. A larger object takes a whole share, so that no other large one is there meanwhile."""
MOST_WAITING = 64
"""The requests of one user that wait for memory. Each has the buffers of a connection, 0.2 MB. A further one is refused
at once.
"""
WAIT_SECONDS = 10.0
"""A request waits for its memory for so long."""


class _Waiting(NamedTuple):
    """A request that waits for memory."""

    size: int
    granted: "asyncio.Future[None]"


class RequestMemory:
    """One memory of one server, for all its users."""

    def __init__(self, total: int = TOTAL_BYTES, per_user: int = USER_BYTES, seconds: float = WAIT_SECONDS) -> None:
        self._left = self._total = total
        self.per_user = per_user
        """The share of a user."""
        self._seconds = seconds
        self._taken: dict[str, int] = {}
        """The bytes of each user."""
        self._waiting: dict[str, deque[_Waiting]] = {}
        self._refused = 0

    def take_at_once(self, user: str, size: int) -> bool:
        """Take memory for what is in memory already. Returns False when there is none."""
        if user not in self._waiting and self._fits(user, size):
            self._add(user, size)
            return True
        self._refused += 1
        return False

    async def take(self, user: str, size: int) -> bool:
        """Take memory, as soon as the user's share and the rest allow it. Returns False when the time is over, or when
        too many requests of the user wait.
        """
        if user not in self._waiting and self._fits(user, size):
            self._add(user, size)
            return True
        if len(self._waiting.get(user, ())) >= MOST_WAITING or not await self._wait(user, size):
            self._refused += 1
            return False
        return True

    def give_back(self, user: str, size: int) -> None:
        """The request that took this memory has ended."""
        self._add(user, -size)
        if not self._taken[user]:
            del self._taken[user]
        self._grant()

    def statistics(self) -> Mapping[str, int]:
        """The bytes in use, and how many requests wait and were refused."""
        waiting = sum(not one.granted.done() for requests in self._waiting.values() for one in requests)
        return {"bytes": self._total - self._left, "waiting": waiting, "refused": self._refused}

    async def _wait(self, user: str, size: int) -> bool:
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

    def _fits(self, user: str, size: int) -> bool:
        return size <= self._left and self._taken.get(user, 0) + size <= self.per_user

    def _add(self, user: str, size: int) -> None:
        self._taken[user] = self._taken.get(user, 0) + size
        self._left -= size

    def _give_up(self, user: str, waiting: _Waiting) -> None:
        if waiting.granted.done() and not waiting.granted.cancelled():  # in the last moment
            self.give_back(user, waiting.size)
            return
        waiting.granted.cancel()
        self._grant()

    def _grant(self) -> None:
        """Give the free memory to the requests that wait for it, a request of each user in turn."""
        users = deque(self._waiting)
        while users:
            user = users.popleft()
            requests = self._waiting[user]
            while requests and requests[0].granted.cancelled():  # of a client that has left
                requests.popleft()
            if requests and self._fits(user, requests[0].size):
                waiting = requests.popleft()
                self._add(user, waiting.size)
                waiting.granted.set_result(None)
                self._waiting[user] = self._waiting.pop(user)  # behind the others, also the next time
                users.append(user)
            elif not requests:
                del self._waiting[user]
