"""Worker thread: pure work that may take long runs in one thread beside the event loop, a fair share for each user.

One thread, because pure Python work holds the interpreter: a second one would only slow down the first and the event
loop. Parsing, decoding, CEL and protobuf all hold it; zlib lets go of it (`run_without_interpreter`).

Users who wait have equal shares of the thread's time (start-time fair queueing): next is the user whose last piece
ended first, on a scale that runs with the thread. The pieces of a request follow each other: each time, a turn of the
loop is waited for the next one, so that a user of many short pieces is not put behind a long one each time.

    queued     admin: 50 ms, 50 ms    kubelet: 1 ms, and 1 ms as soon as that is done
    runs       admin 50, kubelet 1, kubelet 1, admin 50

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
        """By user."""
        self._is_taken = False
        self._now = 0.0
        """Where on the scale of shares the piece began that began last."""
        self._ended: dict[str, float] = {}
        """Where on that scale the last piece of a user ended, if that is later."""

    async def run(self, work: Callable[[], T], user: str) -> T:
        """What work returns when its user's turn has come."""
        outcome: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(_Piece(work, outcome))
        if not self._is_taken:
            self._start_next()
        return await outcome

    def statistics(self) -> dict[str, int]:
        """How many pieces wait, by user."""
        return {user: len(pieces) for user, pieces in self._waiting.items()}

    def _start_next(self) -> None:
        self._is_taken = False
        while self._waiting:
            user = min(self._waiting, key=self._begin_of)
            piece = self._take(user)
            if not piece.outcome.done():  # its request has not ended
                self._start(user, piece)
                return

    def _begin_of(self, user: str) -> float:
        return max(self._now, self._ended.get(user, 0.0))

    def _take(self, user: str) -> _Piece:
        pieces = self._waiting[user]
        piece = pieces.popleft()
        if not pieces:
            del self._waiting[user]
        return piece

    def _start(self, user: str, piece: _Piece) -> None:
        loop = asyncio.get_running_loop()
        self._is_taken = True
        self._now, began = self._begin_of(user), loop.time()
        was_collecting = _make_way()
        running = loop.run_in_executor(None, piece.work)

        def done(ended: "asyncio.Future[Any]") -> None:
            _end_making_way(was_collecting)
            self._note_end(user, loop.time() - began)
            _hand_over(ended, piece.outcome)
            loop.call_soon(loop.call_soon, self._start_next)  # behind the next piece of the same request

        running.add_done_callback(done)

    def _note_end(self, user: str, seconds: float) -> None:
        ended = {one: at for one, at in self._ended.items() if at > self._now}
        self._ended = {**ended, user: self._now + seconds}


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
