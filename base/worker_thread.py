"""Worker thread: runs long pure work in one thread beside the event loop, with a fair share for each Kubernetes user.

There is one thread because pure Python work holds the interpreter: a second thread would slow down the first one and
the event loop. Parsing, decoding, CEL and protobuf hold it. zlib releases it, and has a thread of its own
(`run_without_interpreter`), with the same shares.

Waiting users have equal shares of the thread's time (start-time fair queueing). The next user is the one whose last
piece ended first, in virtual time. The thread waits one turn of the event loop for the next piece of the same request.
So a user with many short pieces does not wait behind a long piece each time. The next piece of a request comes before
other requests of its user: what its earlier pieces have made waits in memory.

    queued     admin: 50 ms, 50 ms    kubelet: 1 ms, and 1 ms as soon as that is done
    runs       admin 50, kubelet 1, kubelet 1, admin 50

Must hold: work that runs on the event loop takes milliseconds. One piece of work runs at a time. A piece whose request
has ended never begins: its client has left, or its deadline has passed. A running piece cannot be stopped.
"""

import asyncio
import gc
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from operator import itemgetter
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from aio_apiserver.base.short_texts import key_of

T = TypeVar("T")

_USUAL_SECONDS = sys.getswitchinterval()
_RIVAL_SECONDS = 0.0005
"""The event loop takes the interpreter several times in each request, and waits for this long each time."""

LONG = 64 * 1024
"""The size in bytes from which on work on an object may take long."""
_MOST_USERS = 1024
STORE = ""
"""The user of the store's own work."""


class TakesLong(Exception):
    """Work that began on the event loop turned out to be long; it had no effect."""


class Run(Protocol):
    """How pure work runs: at once, or in the worker thread."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


async def at_once(work: Callable[[], T]) -> T:
    """The Run of short work."""
    return work()


def runner(size: int, user: str) -> Run:
    """The Run of the work of one request on `size` bytes, which may have several pieces."""
    return at_once if size < LONG else lambda work: run(work, user)


async def run_sized(work: Callable[[], T], size: int, user: str) -> T:
    """The result of pure work on `size` bytes."""
    return work() if size < LONG else await run(work, user)


async def run(work: Callable[[], T], user: str) -> T:
    """The result of long pure work, which runs in the worker thread."""
    loop = asyncio.get_running_loop()
    worker = _workers.get(loop)
    if worker is None:
        worker = _workers[loop] = WorkerThread(loop.time)
    return await worker.run(work, user)


async def run_without_interpreter(work: Callable[[], T], user: str) -> T:
    """The result of long work that releases the interpreter, as zlib does. One piece runs at a time: more threads would
    take the processor from the event loop.
    """
    loop = asyncio.get_running_loop()
    worker = _without_interpreter.get(loop)
    if worker is None:
        worker = _without_interpreter[loop] = WorkerThread(loop.time, holds_interpreter=False)
    return await worker.run(work, user)


class _Piece:
    """Waiting work, and the future of its result."""

    __slots__ = ("outcome", "work")

    def __init__(self, work: Callable[[], Any], outcome: "asyncio.Future[Any]") -> None:
        self.work = work
        self.outcome = outcome


class WorkerThread:
    """The worker thread of one event loop: a process may run several servers. `now`: seconds of a clock, by which users
    have equal shares. `holds_interpreter`: whether the work keeps the event loop from running.
    """

    def __init__(self, now: Callable[[], float], *, holds_interpreter: bool = True) -> None:
        self._seconds = now
        self._holds_interpreter = holds_interpreter
        self._waiting: dict[str, deque[_Piece]] = {}
        """Waiting pieces by user."""
        self._is_taken = False
        self._now = 0.0
        """The virtual time at which the newest piece began."""
        self._ended: dict[str, float] = {}
        """The virtual time at which the last piece of a user ended, if that is later."""
        self._begun: WeakSet[asyncio.Task[Any]] = WeakSet()
        """The requests that had a piece here."""

    async def run(self, work: Callable[[], T], user: str) -> T:
        """The result of the work, once the scheduler has picked its user."""
        outcome: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        user = key_of(user)
        pieces = self._waiting.setdefault(user, deque())
        request = asyncio.current_task()
        assert request is not None
        (pieces.appendleft if request in self._begun else pieces.append)(_Piece(work, outcome))
        self._begun.add(request)
        if not self._is_taken:
            self._start_next()
        try:
            return await outcome
        finally:
            del outcome  # else a failure, this frame in its traceback, and the future are a cycle with all of the work

    def statistics(self) -> dict[str, int]:
        """How many pieces wait, by user or by the digest of a long name."""
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
        self._now, began = self._begin_of(user), self._seconds()
        was_collecting = _make_way() if self._holds_interpreter else False
        running = loop.run_in_executor(None, piece.work)

        def done(ended: "asyncio.Future[Any]") -> None:
            if self._holds_interpreter:
                _end_making_way(was_collecting)
            self._note_end(user, self._seconds() - began)
            _hand_over(ended, piece.outcome)
            loop.call_soon(loop.call_soon, self._start_next)  # behind the next piece of the same request

        running.add_done_callback(done)

    def _note_end(self, user: str, seconds: float) -> None:
        """Note when the last piece of a user has ended. Of too many users, those whose pieces ended last are kept."""
        ended = {one: at for one, at in self._ended.items() if at > self._now}
        if len(ended) >= _MOST_USERS:
            ended = dict(sorted(ended.items(), key=itemgetter(1))[_MOST_USERS // 2 :])
        self._ended = {**ended, user: self._now + seconds}


def _hand_over(ended: "asyncio.Future[Any]", outcome: "asyncio.Future[Any]") -> None:
    """Give the result or the failure of a piece to its request, if the request still waits."""
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
    """Prepare the interpreter for the thread: it switches often, and the garbage collector is off.

    The thread's many objects would set off long collections on the event loop; most of them are freed when the work
    ends. Returns whether the collector was on.
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
_without_interpreter: WeakKeyDictionary[asyncio.AbstractEventLoop, WorkerThread] = WeakKeyDictionary()
