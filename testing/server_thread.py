"""Server thread: a thread with an event loop, which runs one server from start to stop.

The thread of a test may block, sleep or run loops: the server goes on. Must hold: when `ended` is done, the loop, its
sockets and its tasks are gone. `started` raises what fails in the start.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from typing import Any, TypeVar

from aio_apiserver.apiserver import server
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.process import loops
from aio_apiserver.apiserver.server import Server
from aio_apiserver.storage.snapshot import Snapshot
from aio_apiserver.testing.bench import garbage_collection
from aio_apiserver.testing.bench.clock import MovableClock

T = TypeVar("T")


class ServerThread:
    """Runs one server, which starts with the state of a snapshot, if one is given."""

    def __init__(self, settings: Settings, clock: MovableClock, beginning: Snapshot | None) -> None:
        self.started: Future[Server] = Future()
        """The server, when it is ready."""
        self.ended: Future[None] = Future()
        self._settings = settings
        self._clock = clock
        self._beginning = beginning
        self._shall_stop = threading.Event()
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._main, name="apiserver", daemon=True)

    def start(self) -> None:
        """Start, without waiting."""
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the server's loop and wait for its result. Not to be called on that loop."""
        if self._loop is None or threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError(
                "the server is not running"
                if self._loop is None
                else "the server's own thread cannot wait for its result"
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """Begin to stop, without waiting. It may be called twice, and before the loop exists."""
        self._shall_stop.set()
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # it ends by itself just now
                loop.call_soon_threadsafe(self._stopping.set)

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join()

    def _main(self) -> None:
        try:
            with asyncio.Runner(loop_factory=loops.factory()) as runner:
                self._loop = runner.get_loop()
                runner.run(self._serve())
        except BaseException as exc:  # noqa: BLE001 - raised where the end is waited for
            self._loop = None
            self.ended.set_exception(exc)
            if not self.started.done():
                self.started.set_exception(exc)
        else:
            self._loop = None
            self.ended.set_result(None)

    async def _serve(self) -> None:
        if self._shall_stop.is_set():
            self._stopping.set()
        with garbage_collection.held_off():
            running = await self._begin()
        if running is not None:
            try:
                await self._stopping.wait()
            finally:
                await _end(running)

    async def _begin(self) -> Server | None:
        """The server, when it is ready; None when it could not start."""
        try:
            async with AsyncExitStack() as undoing:
                running = await server.start(self._settings, clock=self._clock, beginning=self._beginning)
                undoing.push_async_callback(_end, running)
                await running.wait_until_ready()
                undoing.pop_all()
        except Exception as exc:  # noqa: BLE001 - raised where the start is waited for
            self.started.set_exception(exc)
            return None
        self.started.set_result(running)
        return running


async def _end(running: Server) -> None:
    running.secure.abort()
    await running.stop()
