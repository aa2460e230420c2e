"""Accepting: accepts connections one in each turn of the event loop, and does their TLS handshakes.

A handshake takes a millisecond or two of CPU time. When thousands of clients connect at once, one turn with all of
their handshakes would hold the event loop for seconds.

Must hold: connections wait in the kernel's backlog until their turn. A client that does not finish its handshake holds
up no other client. `stop` ends handshakes that have not finished.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable

from aio_apiserver.storage.tasks import Tasks

logger = logging.getLogger(__name__)

_TLS_SHUTDOWN_SECONDS = 0.5
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
        self._connection_of = connection_of
        self._tls = tls
        self._handshake_seconds = handshake_seconds
        self._tasks = Tasks()
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    def stop(self) -> None:
        """Accept no more connections."""
        self._accepting.cancel()
        self._listening.close()

    async def close(self) -> None:
        """End the handshakes that have not finished."""
        self.stop()
        await asyncio.gather(self._accepting, return_exceptions=True)
        await self._tasks.close()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._listening)
            except OSError as exc:
                logger.warning("cannot accept a connection: %s", exc)
                await asyncio.sleep(_FAILURE_SECONDS)
                continue
            self._tasks.spawn(self._connect(accepted), name="accept a connection")
            await asyncio.sleep(0)

    async def _connect(self, accepted: socket.socket) -> None:
        tls, seconds = self._tls, self._handshake_seconds
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._connection_of,
                accepted,
                ssl=tls,
                ssl_handshake_timeout=seconds if tls else None,
                ssl_shutdown_timeout=_TLS_SHUTDOWN_SECONDS if tls else None,
            )
        except OSError as exc:  # an ssl.SSLError too
            logger.debug("a connection has failed: %s", exc)
            accepted.close()
