"""Worker thread: pure work that may take long runs in one thread beside the event loop, users in turns.

One thread, because pure Python work holds the interpreter: a second one would only slow down the first and the event
loop. Parsing, decoding, CEL and protobuf all hold it; zlib lets go of it (`run_without_interpreter`).

    queued     admin: a1 a2 a3    kubelet: k1    (store): s1
    run        a1 k1 s1 a2 a3

Must hold: what the event loop does at once takes milliseconds; one piece of work runs at a time; a piece whose request
has ended (the client went away, the deadline has passed) never begins. A piece that runs cannot be stopped.
"""

import asyncio
import gc
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

_USUAL_SECONDS = sys.getswitchinterval()
_RIVAL_SECONDS = 0.0005
"""The loop asks for the interpreter several times in each request, and waits so long each time."""

LONG = 64 * 1024
"""Bytes of an object from which on work on it may take long."""
STORE = ""
"""The user for which the store itself works."""


class TakesLong(Exception):
    """Work that was begun at once has turned out to be long: nothing has come of it."""


class Run(Protocol):
    """How pure work is done: at once, or in the worker thread."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


async def at_once(work: Callable[[], T]) -> T:
    """The Run of what does not take long."""
    return work()


def runner(size: int, user: str) -> Run:
    """The Run of work on so many bytes."""
    return at_once if size < LONG else lambda work: run(work, user)


async def run_sized(work: Callable[[], T], size: int, user: str) -> T:
    """What pure work on so many bytes returns."""
    return work() if size < LONG else await run(work, user)


async def run(work: Callable[[], T], user: str) -> T:
    """What pure work returns that takes long, in the worker thread."""
    loop = asyncio.get_running_loop()
    worker = _workers.get(loop)
    if worker is None:
        worker = _workers[loop] = WorkerThread()
    return await worker.run(work, user)


async def run_without_interpreter(work: Callable[[], T]) -> T:
    """What work returns that lets go of the interpreter while it takes long, as zlib does: it needs no turn."""
    return await asyncio.to_thread(work)


class _Piece:
    """Work that waits, and what becomes of it."""

    __slots__ = ("outcome", "work")

    def __init__(self, work: Callable[[], Any], outcome: "asyncio.Future[Any]") -> None:
        self.work = work
        self.outcome = outcome


class WorkerThread:
    """Of one event loop: a process may run several servers."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[_Piece]] = {}
        """By user: the first one is next, and goes to the end then."""
        self._is_running = False

    async def run(self, work: Callable[[], T], user: str) -> T:
        """What work returns when its user's turn has come."""
        outcome: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(_Piece(work, outcome))
        self._start_next()
        return await outcome

    def statistics(self) -> dict[str, int]:
        """How many pieces wait, by user."""
        return {user: len(pieces) for user, pieces in self._waiting.items()}

    def _start_next(self) -> None:
        piece = self._next() if not self._is_running else None
        if piece is None:
            return
        self._is_running = True
        was_collecting = _make_way()
        running = asyncio.get_running_loop().run_in_executor(None, piece.work)

        def done(ended: "asyncio.Future[Any]") -> None:
            _end_making_way(was_collecting)
            self._is_running = False
            _hand_over(ended, piece.outcome)
            self._start_next()

        running.add_done_callback(done)

    def _next(self) -> _Piece | None:
        """The next piece whose request has not ended."""
        while self._waiting:
            user = next(iter(self._waiting))
            pieces = self._waiting.pop(user)
            piece = pieces.popleft()
            if pieces:
                self._waiting[user] = pieces
            if not piece.outcome.done():
                return piece
        return None


def _hand_over(ended: "asyncio.Future[Any]", outcome: "asyncio.Future[Any]") -> None:
    """Give the result or the failure of a piece to its request, if that still waits."""
    failure = asyncio.CancelledError() if ended.cancelled() else ended.exception()
    if outcome.done():
        return
    if isinstance(failure, asyncio.CancelledError):
        outcome.cancel()
    elif failure is not None:
        outcome.set_exception(failure)
    else:
        outcome.set_result(ended.result())


def _make_way() -> bool:
    """While the thread works: have it let go of the interpreter often, and spare the loop the long collections of
    garbage that its many objects would set off (they go by themselves when it is done). Returns whether there were any.
    """
    was_collecting = gc.isenabled()
    gc.disable()
    sys.setswitchinterval(_RIVAL_SECONDS)
    return was_collecting


def _end_making_way(was_collecting: bool) -> None:
    sys.setswitchinterval(_USUAL_SECONDS)
    if was_collecting:
        gc.enable()


_workers: WeakKeyDictionary[asyncio.AbstractEventLoop, WorkerThread] = WeakKeyDictionary()
