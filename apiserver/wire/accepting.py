"""Accepting: accepts connections, and does a few TLS handshakes at the same time.

A handshake takes a millisecond or two of CPU time. When thousands of clients connect at once, one turn of the event
loop with all of their handshakes would hold it for seconds.

Must hold: a handshake begins when the whole hello of the client is there, and its address has a turn
(pending_clients.py). A client that does not go on with its handshake soon makes room for the next one. A client that
sends nothing takes no memory for TLS. `close` ends handshakes that have not finished.
"""

import asyncio
import itertools
import logging
import socket
import ssl
from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.apiserver.wire import receiving
from aio_apiserver.apiserver.wire.pending_clients import PendingClient, PendingClients
from aio_apiserver.apiserver.wire.receiving import SharedBufferReceiver
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.base.tasks import Tasks

logger = logging.getLogger(__name__)

_TLS_SHUTDOWN_SECONDS = 0.5
_SLOW_SECONDS = 0.05
"""A handshake that takes longer waits for its client."""
_IN_ONE_TURN = 8
"""The connections that are accepted in one turn of the event loop."""
_UNREAD_BYTES = 32 * 1024
"""The bytes that the kernel takes from a client which the server does not read, about: the event loop and TLS read as
many at once, into buffers that a connection keeps. The kernel doubles the number for its own overhead.
"""
_FAILURE_SECONDS = 0.1
"""The pause after a failed accept, as when the process has no file left."""
_NO_ROOM_SECONDS = 0.01
"""The pause before another try to make room for a client."""
_RECORD_HEADER = 5
"""The bytes of a TLS record that say its length."""
_HANDSHAKE = b"\x16"
"""The type of the first record."""
_LONGEST_HELLO = 16 * 1024 + _RECORD_HEADER


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
        self._pending = PendingClients(SystemClock())
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

    def statistics(self) -> Mapping[str, int]:
        return self._pending.statistics()

    async def _accept(self) -> None:
        for number in itertools.count():
            if not number % _IN_ONE_TURN:
                await asyncio.sleep(0)
            try:
                accepted, address = await self._next()
            except OSError as exc:
                logger.warning("cannot accept a connection: %s", exc)
                await asyncio.sleep(_FAILURE_SECONDS)
                continue
            try:
                client = await self._admitted(accepted, address)
            except asyncio.CancelledError:
                accepted.close()
                raise
            task = self._tasks.spawn(self._connect(accepted, client), name="accept a connection")
            client.drop = task.cancel

    async def _next(self) -> tuple[socket.socket, Any]:
        """The next connection. None is lost when this is cancelled, as it would be with the loop's sock_accept."""
        while True:
            try:
                accepted, address = self._listening.accept()
            except BlockingIOError:
                await _readable(self._listening)
                continue
            accepted.setblocking(False)
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _UNREAD_BYTES)
            return accepted, address

    async def _admitted(self, accepted: socket.socket, address: Any) -> PendingClient:
        """The client, as soon as there is room for it."""
        host = str(address[0]) if isinstance(address, tuple) else ""
        while (client := self._pending.admit(host, accepted.close)) is None:  # noqa: ASYNC110 time makes room, too
            await asyncio.sleep(_NO_ROOM_SECONDS)
        return client

    async def _connect(self, accepted: socket.socket, client: PendingClient) -> None:
        is_begun = False
        try:
            if self._tls is not None:
                async with asyncio.timeout(self._handshake_seconds):
                    await _until_hello(accepted)
                    await self._pending.wait_for_turn(client)
            is_begun = True
            await self._begin(accepted, client)
        except OSError as exc:  # an ssl.SSLError too
            logger.debug("a connection has failed: %s", exc)
            accepted.close()
        finally:
            self._pending.leave(client)
            if not is_begun:
                accepted.close()

    async def _begin(self, accepted: socket.socket, client: PendingClient) -> None:
        """Serve a connection, after its TLS handshake. Raises OSError."""
        tls, loop = self._tls, asyncio.get_running_loop()
        slow = _Repeated(loop, lambda: self._pending.note_slow(client)) if tls is not None else None
        try:
            await loop.connect_accepted_socket(
                self._connection_of,
                accepted,
                ssl=tls,
                ssl_handshake_timeout=self._handshake_seconds if tls else None,
                ssl_shutdown_timeout=_TLS_SHUTDOWN_SECONDS if tls else None,
            )
        finally:
            if slow is not None:
                slow.cancel()


class _Repeated:
    """Calls a function each 50 ms, until it returns True."""

    def __init__(self, loop: asyncio.AbstractEventLoop, call: Callable[[], bool]) -> None:
        self._loop = loop
        self._call = call
        self._timer = loop.call_later(_SLOW_SECONDS, self._run)

    def cancel(self) -> None:
        self._timer.cancel()

    def _run(self) -> None:
        if not self._call():
            self._timer = self._loop.call_later(_SLOW_SECONDS, self._run)


async def _until_hello(accepted: socket.socket) -> None:
    """Return when the first TLS record of the client is there, or no more comes. TLS takes 35 KB for a client from then
    on. Raises OSError.
    """
    wanted, is_woken = _RECORD_HEADER, False
    while True:
        before, came = wanted, _peeked(accepted)
        if came is not None:
            wanted = _first_record(came)
            is_at_end = is_woken and wanted == before  # the kernel wakes for all that is wanted, or for the end
            if len(came) >= wanted or is_at_end or not came:
                break
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)
        await _readable(accepted)
        is_woken = True
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)


def _peeked(accepted: socket.socket) -> bytes | None:
    """What has come, and stays there; None for nothing."""
    try:
        return accepted.recv(_LONGEST_HELLO, socket.MSG_PEEK)
    except BlockingIOError:
        return None


def _first_record(came: bytes) -> int:
    """The bytes of the record that begins so. Bytes that are no handshake need no more: TLS refuses them."""
    if not came.startswith(_HANDSHAKE[: len(came)]):
        return 0
    if len(came) < _RECORD_HEADER:
        return _RECORD_HEADER
    return min(_RECORD_HEADER + int.from_bytes(came[3:5]), _LONGEST_HELLO)


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
