"""Workers: threads with a connection each, which run the event loop's blocking work in the order of its coming.

The event loop lends its turn. A busy loop lets go of the interpreter lock for moments only (around a poll, a send), too
short for a thread to wake up and take it; and since it lets go all the time, the interpreter never forces a switch.
Each call into SQLite releases the lock and has to win it back, so behind a saturated loop a commit takes seconds:
measured, 64 writers beside 32 busy connections fall from 12,000 writes/s to 20. Therefore the loop waits for a moment
when it hands work over, and again every few milliseconds while work is out. What memory can answer is answered in
that moment; what waits for the disk goes on without the loop. An idle loop gives the lock away anyway and loses
nothing.

Must hold: the loop never waits longer than its patience; each job is settled on the loop, once.
"""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from msgspec import Struct

from aio_apiserver.storage.kv.sqlite.schema import Connection

T = TypeVar("T")

Job = Callable[[Connection], T]

Settle = Callable[[Any, Exception | None], None]
"""Takes a job's result or what it raised, on the event loop."""


class Patience(Struct, frozen=True):
    """For how many seconds the loop waits: when it hands over a job, and after each pause while one is out."""

    first: float
    later: float
    pause: float


class Workers:
    """Up to `threads` threads, started as they are needed."""

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

    async def run(self, job: Job[T]) -> T:
        """What the job returns or raises."""
        future: asyncio.Future[T] = self._loop.create_future()
        self.submit(job, settling(future))
        return await future

    def submit(self, job: Job[Any], settle: Settle) -> None:
        """Hand a job over."""
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
        """Called by a job that goes to the disk: the loop need not wait any longer."""
        self._returned.set()

    async def stop(self) -> None:
        """End the threads behind the last job, and close their connections. Safe to call twice."""
        threads, self._threads = self._threads, []
        ended: list[asyncio.Future[None]] = [self._loop.create_future() for _ in threads]
        for future in ended:
            self._outstanding += 1
            self._jobs.put((None, settling(future)))
        await asyncio.gather(*ended)
        for thread in threads:
            thread.join()  # its last act has been seen already

    def _start_thread(self) -> None:
        # A daemon: a program that ends without `close` must not hang, and the file is safe at any moment.
        thread = threading.Thread(target=self._main, name=f"{self._name}-{len(self._threads)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _lend(self) -> None:
        self._timer = None
        if self._outstanding:
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
        except Exception as exc:  # noqa: BLE001 - whatever it is, it belongs to whoever waits for the job
            self._return(settle, None, exc)
        return connection

    def _return(self, settle: Settle, result: Any, failure: Exception | None) -> None:
        self._loop.call_soon_threadsafe(self._settle, settle, result, failure)
        self.give_back()

    def _settle(self, settle: Settle, result: Any, failure: Exception | None) -> None:
        self._outstanding -= 1
        settle(result, failure)


def settling(future: asyncio.Future[T]) -> Settle:
    """Settles a future that somebody waits for, if he still does."""

    def settle(result: T, failure: Exception | None) -> None:
        if future.done():
            return
        if failure is not None:
            future.set_exception(failure)
        else:
            future.set_result(result)

    return settle
