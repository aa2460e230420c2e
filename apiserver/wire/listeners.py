"""Listeners: the listening sockets of the secure and the insecure port, with their connections.

Must hold: an unspecified address listens on all addresses of both families. `close` returns when all its connections
are closed, at the latest after its grace period.
"""

import logging
import socket
import ssl
from contextlib import AsyncExitStack
from typing import Self

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.wire import binding
from aio_apiserver.apiserver.wire.accepting import Acceptor
from aio_apiserver.apiserver.wire.connection_limits import ConnectionLimits
from aio_apiserver.apiserver.wire.connections import HEAD_SECONDS, Connections, RequestHandler
from aio_apiserver.apiserver.wire.head_memory import HeadMemory
from aio_apiserver.apiserver.wire.paced_writing import PacedWriters

logger = logging.getLogger(__name__)

_BACKLOG = 1024
_UNSENT_BYTES = 128 * 1024
"""The bytes that the kernel takes for a client whose receive window is full. Without this limit it takes megabytes for
each client that does not read. Accepted sockets inherit it.
"""
_has_limit_of_unsent = hasattr(socket, "TCP_NOTSENT_LOWAT")
_STREAM_GRACE = 0.25
"""Seconds for streams to end by themselves when the server stops."""
_TLS_SHUTDOWN_SECONDS = 0.5


class Listener:
    """One listening port."""

    def __init__(self, listening: socket.socket, acceptor: Acceptor, connections: Connections) -> None:
        self.port: int = listening.getsockname()[1]
        """The port number, also when port 0 was requested."""
        self._acceptor = acceptor
        self._connections = connections

    @classmethod
    async def open(
        cls,
        handler: RequestHandler,
        address: str,
        port: int,
        *,
        tls: ssl.SSLContext | None,
        is_shared: bool = False,
        inherited: int | None = None,
        head_seconds: float = HEAD_SECONDS,
        limits: ConnectionLimits | None = None,
        heads: HeadMemory | None = None,
        writers: PacedWriters | None = None,
    ) -> Self:
        """Bind and listen. Raises OSError when the port is not available.

        inherited: the descriptor of a bound socket to use instead. head_seconds: the time limit of a new connection for
        its TLS handshake, and then for the head of its first request.
        """
        connections = Connections(handler, limits=limits, heads=heads, writers=writers, head_seconds=head_seconds)
        if inherited is None:
            bound = binding.bind(address, port, is_shared=is_shared)
        else:
            bound = socket.socket(fileno=inherited)
        try:
            _listen(bound)
        except OSError:
            bound.close()
            raise
        return cls(bound, Acceptor(bound, connections, tls=tls, handshake_seconds=head_seconds), connections)

    @property
    def open_connections(self) -> int:
        return len(self._connections.connections)

    def refuse_new(self) -> None:
        """Refuse new connections, and serve the open ones on: clients use them until a response closes them."""
        self._acceptor.stop()

    async def wait_until_unused(self, seconds: float) -> None:
        """Return when all connections are closed, or after the time limit."""
        await self._connections.sockets.wait_until_closed(seconds)

    def stop_accepting(self) -> None:
        """Refuse new connections. Close idle connections now, and the others after their present request."""
        self._acceptor.stop()
        self._connections.close_when_idle()

    def abort(self) -> None:
        """Break every connection now."""
        self.stop_accepting()
        self._connections.abort()

    async def close(self, grace: float) -> None:
        """Give requests the grace period to end, then cancel them and close every connection."""
        self.stop_accepting()
        await self._acceptor.close()
        await self._connections.shutdown(grace)
        await self._connections.sockets.wait_until_closed(_TLS_SHUTDOWN_SECONDS)


def _listen(bound: socket.socket) -> None:
    if _has_limit_of_unsent:
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)
    bound.listen(_BACKLOG)


async def open_secure(
    settings: Settings,
    handler: RequestHandler,
    tls: ssl.SSLContext,
    stack: AsyncExitStack,
    *,
    inherited: int | None = None,
    limits: ConnectionLimits,
    heads: HeadMemory,
    writers: PacedWriters,
) -> Listener:
    """The listener of the secure port. Raises OSError when the port is not available."""
    address, port = settings.bind_address, settings.secure_port
    listener = await Listener.open(
        handler,
        address,
        port,
        tls=tls,
        is_shared=settings.permit_port_sharing,
        inherited=inherited,
        limits=limits,
        heads=heads,
        writers=writers,
    )
    stack.push_async_callback(listener.close, _STREAM_GRACE)
    logger.info("Serving securely on %s:%d", address, listener.port)
    return listener


async def open_insecure(
    settings: Settings,
    handler: RequestHandler,
    stack: AsyncExitStack,
    *,
    inherited: int | None = None,
    heads: HeadMemory,
    writers: PacedWriters,
) -> Listener | None:
    """The listener of --insecure-port on loopback; None without the flag. Raises OSError when the port is not
    available.
    """
    if not settings.insecure_port:
        return None
    listener = await Listener.open(
        handler, binding.LOOPBACK, settings.insecure_port, tls=None, inherited=inherited, heads=heads, writers=writers
    )
    stack.push_async_callback(listener.close, _STREAM_GRACE)
    logger.warning("Serving WITHOUT authentication or authorization on %s:%d", binding.LOOPBACK, listener.port)
    return listener
