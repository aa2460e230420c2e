"""Aside: pure work that may take long is done where it holds up nobody.

Must hold: what the event loop does at once takes milliseconds; of what takes longer, one piece is done at a time, in a
thread, so that the loop never has more than one rival for the interpreter, who has to let go of it often.
"""

import asyncio
import contextlib
import gc
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

_USUAL_SECONDS = sys.getswitchinterval()
_RIVAL_SECONDS = 0.0005
"""The loop asks for the interpreter several times in each request, and waits so long each time."""

LONG = 64 * 1024
"""Bytes of an object from which on work on it may take long."""


class TakesLong(Exception):
    """Work that was begun at once has turned out to be long: nothing has come of it."""


class Run(Protocol):
    """How pure work is done: at once, or aside."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


async def at_once(work: Callable[[], T]) -> T:
    """The Run of what does not take long."""
    return work()


async def in_a_thread(work: Callable[[], T]) -> T:
    """The Run of what does."""
    loop = asyncio.get_running_loop()
    turn = _turns.get(loop)
    if turn is None:
        turn = _turns[loop] = asyncio.Lock()
    async with turn:
        with _considerate():
            return await asyncio.to_thread(work)


@contextlib.contextmanager
def _considerate() -> Iterator[None]:
    """While a thread works: have it let go of the interpreter often, and spare the loop the long collections of
    garbage that its many objects would set off (they go by themselves when it is done).
    """
    was_enabled = gc.isenabled()
    gc.disable()
    sys.setswitchinterval(_RIVAL_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(_USUAL_SECONDS)
        if was_enabled:
            gc.enable()


def of_size(size: int) -> Run:
    """The Run of work on so many bytes."""
    return at_once if size < LONG else in_a_thread


async def aside(work: Callable[[], T], size: int) -> T:
    """What pure work on so many bytes returns."""
    return work() if size < LONG else await in_a_thread(work)


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""Whose turn it is, by event loop: a process may run several servers."""
