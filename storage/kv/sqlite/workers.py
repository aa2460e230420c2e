"""Workers: threads with a connection each, which run blocking SQLite calls for the event loop, in order.

The event loop waits for short moments, so that the threads get the interpreter lock. A busy loop releases the lock for
moments (around a poll, a send), too short for a thread to take it. Because it releases the lock all the time, the
interpreter does not force a switch. Each SQLite call releases the lock and has to get it back. So beside a saturated
loop a commit takes seconds: measured, 64 writers beside 32 busy connections fall from 12,000 writes/s to 20. Therefore
the loop waits for a moment when it submits a job, and again every few milliseconds while a job runs. Reads from memory
finish in that moment. While a job waits for the disk, the loop goes on, for most of the time that the disk usually
takes. An idle loop releases the lock anyway and loses nothing.

Must hold: the loop waits no longer than its patience. Each job is settled on the loop, once.
"""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic
from typing import Any, TypeVar

from msgspec import Struct

from aio_apiserver.storage.kv.sqlite.schema import Connection

_EARLY = 0.75
"""The part of the usual time on the disk in which the loop does not wait for a job."""
_NEWEST = 0.1
"""The weight of the latest job in the usual time."""

T = TypeVar("T")

Job = Callable[[Connection], T]

Settle = Callable[[Any, Exception | None], None]
"""Called on the event loop with a job's result or its exception."""


class Patience(Struct, frozen=True):
    """The seconds that the loop waits: when it submits a job, and after each pause while one runs."""

    first: float
    later: float
    pause: float


class Workers:
    """Up to `threads` threads, started when they are needed."""

    def __init__(self, name: str, connect: Callable[[], Connection], *, patience: Patience, threads: int = 1) -> None:
        self._name = name
        self._connect = connect
        self._patience = patience
        self._limit = threads
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[tuple[Job[Any] | None, Settle]] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._outstanding = 0
        self._returned = threading.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._left_at = 0.0
        """When the present job has begun to wait for the disk; 0 when it does not."""
        self._disk_seconds = 0.0
        """How long jobs wait for the disk, smoothed."""

    async def run(self, job: Job[T]) -> T:
        """Run a job. Returns its result or raises its exception."""
        future: asyncio.Future[T] = self._loop.create_future()
        self.submit(job, settling(future))
        return await future

    def submit(self, job: Job[Any], settle: Settle) -> None:
        """Submit a job."""
        self._outstanding += 1
        if len(self._threads) < min(self._outstanding, self._limit):
            self._start_thread()
        self._returned.clear()
        self._jobs.put((job, settle))
        if self._outstanding <= self._limit:  # else it has to queue behind others
            self._returned.wait(self._patience.first)
        if self._timer is None:
            self._timer = self._loop.call_later(self._patience.pause, self._lend)

    def give_back(self) -> None:
        """Called by a job: the loop need not wait any longer."""
        self._returned.set()

    def wait_for_disk(self) -> None:
        """Called by a job before its last step, which waits for the disk."""
        self._left_at = monotonic()
        self.give_back()

    async def stop(self) -> None:
        """End the threads after the last job, and close their connections. It may be called twice."""
        threads, self._threads = self._threads, []
        ended: list[asyncio.Future[None]] = [self._loop.create_future() for _ in threads]
        for future in ended:
            self._outstanding += 1
            self._jobs.put((None, settling(future)))
        await asyncio.gather(*ended)
        for thread in threads:
            thread.join()  # its last act has been seen already

    def _start_thread(self) -> None:
        # # A daemon thread: a program that ends without `close` must not hang, and the file is safe at any moment.
        thread = threading.Thread(target=self._main, name=f"{self._name}-{len(self._threads)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _lend(self) -> None:
        self._timer = None
        if self._outstanding:
            left_at = self._left_at
            if not left_at or monotonic() - left_at > _EARLY * self._disk_seconds:
                self._returned.clear()
                self._returned.wait(self._patience.later)
            self._timer = self._loop.call_later(self._patience.pause, self._lend)

    def _main(self) -> None:
        connection: Connection | None = None
        while True:
            job, settle = self._jobs.get()
            if job is None:
                break
            connection = self._do(job, settle, connection)
            del job, settle  # or they and what they hold would live until the next ones come
        if connection is not None:
            connection.close()
        self._return(settle, None, None)

    def _do(self, job: Job[Any], settle: Settle, connection: Connection | None) -> Connection | None:
        try:
            connection = connection or self._connect()
            self._return(settle, job(connection), None)
        except Exception as exc:  # noqa: BLE001 - any error belongs to the caller of the job
            self._return(settle, None, exc)
        return connection

    def _return(self, settle: Settle, result: Any, failure: Exception | None) -> None:
        if self._left_at:
            self._note_disk(monotonic() - self._left_at)
            self._left_at = 0.0
        self._loop.call_soon_threadsafe(self._settle, settle, result, failure)
        self.give_back()

    def _note_disk(self, seconds: float) -> None:
        """One slow step does not count for more than the double of the usual time."""
        usual = self._disk_seconds
        self._disk_seconds += _NEWEST * (min(seconds, 2 * usual + self._patience.pause) - usual)

    def _settle(self, settle: Settle, result: Any, failure: Exception | None) -> None:
        self._outstanding -= 1
        settle(result, failure)


def settling(future: asyncio.Future[T]) -> Settle:
    """Settles a future, unless it was cancelled."""

    def settle(result: T, failure: Exception | None) -> None:
        if future.done():
            return
        if failure is not None:
            future.set_exception(failure)
        else:
            future.set_result(result)

    return settle
