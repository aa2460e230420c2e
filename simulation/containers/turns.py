"""Turns: shares a part of the event loop among all simulated processes of a server.

One process has its turn at a time. After a turn, the loop is left to others for three times as long. Groups, such as
namespaces, have their turns one after the other, so that a group with many processes does not hold up another one.

    waiting    team-a: p1 p2 p3, team-b: p4
    turns      p1 p4 p2 p3

Must hold: a turn that was given is used or passed on.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeVar

T = TypeVar("T")
_REST = 3.0
"""The time that the loop is left to others after a turn, as a multiple of its duration."""
_SHORTEST_REST = 0.002
"""Shorter rests are added up."""


class Turns:
    """The turns of one server."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """The waiting processes by group. The first group is the next one."""
        self._is_taken = False
        self._free_at = 0.0
        """The loop's time from which on a process may have a turn."""

    async def run(self, group: str, work: Callable[[], T]) -> T:
        """The result of short work, once it is the turn of the caller."""
        if self._is_taken:
            await self._wait(group)
        loop = asyncio.get_running_loop()
        self._is_taken = True
        began = loop.time()
        try:
            return work()
        finally:
            ended = loop.time()
            self._free_at = max(self._free_at, began) + _REST * (ended - began)
            rest = self._free_at - ended
            if rest > _SHORTEST_REST:
                loop.call_later(rest, self._pass_on)
            else:
                loop.call_soon(self._pass_on)

    def statistics(self) -> dict[str, int]:
        """How many processes wait, by group."""
        return {group: len(waiting) for group, waiting in self._waiting.items()}

    async def _wait(self, group: str) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(group, deque()).append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give the turn to the next process that still waits."""
        while self._waiting:
            group, waiting = next(iter(self._waiting.items()))
            waiter = waiting.popleft()
            del self._waiting[group]
            if waiting:
                self._waiting[group] = waiting
            if not waiter.done():
                waiter.set_result(None)
                return
        self._is_taken = False


class TurnShare(NamedTuple):
    """The turns of one group."""

    turns: Turns
    group: str

    async def run(self, work: Callable[[], T]) -> T:
        """The result of short work, once it is the turn of the caller."""
        return await self.turns.run(self.group, work)
