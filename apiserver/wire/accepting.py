"""Accepting: accepts connections, and does a few TLS handshakes at the same time.

A handshake takes a millisecond or two of CPU time. When thousands of clients connect at once, one turn of the event
loop with all of their handshakes would hold it for seconds.

Must hold: other connections wait in the kernel's backlog. A client that does not go on with its handshake soon makes
room for the next one. A client that sends nothing takes no memory for TLS. `close` ends handshakes that have not
finished.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable

from aio_apiserver.apiserver.wire import receiving
from aio_apiserver.apiserver.wire.receiving import SharedBufferReceiver
from aio_apiserver.base.tasks import Tasks

logger = logging.getLogger(__name__)

_TLS_SHUTDOWN_SECONDS = 0.5
_AT_ONCE = 16
"""The handshakes that run at the same time."""
_SLOW_SECONDS = 0.05
"""A handshake that takes longer waits for its client. It does not count any more."""
_FAILURE_SECONDS = 0.1
"""The pause after a failed accept, as when the process has no file left."""


class Acceptor:
    """Accepts the connections of one listening socket."""

    def __init__(
        self,
        listening: socket.socket,
        connection_of: Callable[[], asyncio.Protocol],
        *,
        tls: ssl.SSLContext | None,
        handshake_seconds: float,
    ) -> None:
        listening.setblocking(False)
        self._listening = listening
        buffer = receiving.new_buffer()
        self._connection_of = lambda: SharedBufferReceiver(connection_of(), buffer)
        self._tls = tls
        self._handshake_seconds = handshake_seconds
        self._tasks = Tasks()
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._accepting = asyncio.get_running_loop().create_task(self._accept())
        # Not sooner: the loop would still watch the descriptor, whose number the next socket gets.
        self._accepting.add_done_callback(lambda _: listening.close())

    def stop(self) -> None:
        """Accept no more connections."""
        self._accepting.cancel()

    async def close(self) -> None:
        """End the handshakes that have not finished."""
        self.stop()
        await asyncio.gather(self._accepting, return_exceptions=True)
        await self._tasks.close()

    async def _accept(self) -> None:
        while True:
            await self._slots.acquire()
            try:
                accepted = await self._next()
            except OSError as exc:
                logger.warning("cannot accept a connection: %s", exc)
                await asyncio.sleep(_FAILURE_SECONDS)
                self._slots.release()
                continue
            self._tasks.spawn(self._connect(accepted), name="accept a connection")

    async def _next(self) -> socket.socket:
        """The next connection. None is lost when this is cancelled, as it would be with the loop's sock_accept."""
        while True:
            try:
                accepted, _ = self._listening.accept()
            except BlockingIOError:
                await _readable(self._listening)
                continue
            accepted.setblocking(False)
            return accepted

    async def _connect(self, accepted: socket.socket) -> None:
        tls, seconds, loop = self._tls, self._handshake_seconds, asyncio.get_running_loop()
        slow = loop.call_later(_SLOW_SECONDS, self._slots.release)
        is_silent = True
        try:
            if tls is not None:
                await self._until_readable(accepted)
            is_silent = False
            await loop.connect_accepted_socket(
                self._connection_of,
                accepted,
                ssl=tls,
                ssl_handshake_timeout=seconds if tls else None,
                ssl_shutdown_timeout=_TLS_SHUTDOWN_SECONDS if tls else None,
            )
        except OSError as exc:  # an ssl.SSLError too
            logger.debug("a connection has failed: %s", exc)
            accepted.close()
        finally:
            if is_silent:
                accepted.close()
            if loop.time() < slow.when():
                slow.cancel()
                self._slots.release()

    async def _until_readable(self, accepted: socket.socket) -> None:
        """Return when the client has sent bytes. TLS takes 35 KB for a client from then on. Raises OSError."""
        try:
            accepted.recv(1, socket.MSG_PEEK)
            return
        except BlockingIOError:
            pass
        async with asyncio.timeout(self._handshake_seconds):
            await _readable(accepted)


async def _readable(watched: socket.socket) -> None:
    """Return when there is something to read or to accept."""
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    loop.add_reader(watched, _set, readable)
    try:
        await readable
    finally:
        loop.remove_reader(watched)


def _set(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
