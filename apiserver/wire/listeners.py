"""Listeners: the sockets of the secure and the insecure port, and the connections that they bring.

Must hold: an unspecified address listens on every address of both families; `close` returns when no connection of it
is left, and takes no longer than its grace.
"""

import asyncio
import errno
import logging
import socket
import ssl
from contextlib import AsyncExitStack
from ipaddress import ip_address
from typing import Self

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.wire.connections import HEAD_SECONDS, Connections, RequestHandler

logger = logging.getLogger(__name__)

_LOOPBACK = "127.0.0.1"
_BACKLOG = 1024
_STREAM_GRACE = 0.25
"""Seconds that streams have to end by themselves when the server stops."""
_TLS_SHUTDOWN_SECONDS = 0.5
_NO_SUCH_FAMILY = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)


class Listener:
    """One port that is served."""

    def __init__(self, server: asyncio.Server, connections: Connections) -> None:
        self.port: int = server.sockets[0].getsockname()[1]
        """The port that it has got."""
        self._server = server
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
        head_seconds: float = HEAD_SECONDS,
    ) -> Self:
        """Bind and serve. Raises OSError when the port cannot be had.

        head_seconds: how long a new connection may take for its handshake, and then for the head of a request.
        """
        connections = Connections(handler, head_seconds=head_seconds)
        bound = _bind(address, port, is_shared=is_shared)
        server = await asyncio.get_running_loop().create_server(
            connections,
            sock=bound,
            backlog=_BACKLOG,
            ssl=tls,
            ssl_handshake_timeout=head_seconds if tls else None,
            ssl_shutdown_timeout=_TLS_SHUTDOWN_SECONDS if tls else None,
        )
        return cls(server, connections)

    @property
    def open_connections(self) -> int:
        return len(self._connections.connections)

    def stop_accepting(self) -> None:
        """Refuse new connections, and close those that have nothing to do; the others after their present request."""
        self._server.close()
        self._connections.close_when_idle()

    def abort(self) -> None:
        """Break every connection now, whatever it is doing."""
        self.stop_accepting()
        self._connections.abort()

    async def close(self, grace: float) -> None:
        """Give requests the grace to end, then end them, and close every connection."""
        self.stop_accepting()
        await self._connections.shutdown(grace)
        await self._connections.sockets.wait_until_closed(_TLS_SHUTDOWN_SECONDS)


def _bind(address: str, port: int, *, is_shared: bool) -> socket.socket:
    if address and not ip_address(address).is_unspecified:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return _listen(family, address, port, is_shared=is_shared)
    try:
        return _listen(socket.AF_INET6, "::", port, is_shared=is_shared)
    except OSError as exc:
        if exc.errno not in _NO_SUCH_FAMILY:
            raise
        return _listen(socket.AF_INET, "0.0.0.0", port, is_shared=is_shared)  # noqa: S104 asked for


def _listen(family: socket.AddressFamily, address: str, port: int, *, is_shared: bool) -> socket.socket:
    return socket.create_server(
        (address, port),
        family=family,
        backlog=_BACKLOG,
        reuse_port=is_shared,
        dualstack_ipv6=address == "::" and socket.has_dualstack_ipv6(),
    )


async def open_secure(
    settings: Settings, handler: RequestHandler, tls: ssl.SSLContext, stack: AsyncExitStack
) -> Listener:
    """The secure port. Raises OSError when it cannot be had."""
    address, port = settings.bind_address, settings.secure_port
    listener = await Listener.open(handler, address, port, tls=tls, is_shared=settings.permit_port_sharing)
    stack.push_async_callback(listener.close, _STREAM_GRACE)
    logger.info("Serving securely on %s:%d", address, listener.port)
    return listener


async def open_insecure(settings: Settings, handler: RequestHandler, stack: AsyncExitStack) -> Listener | None:
    """The port of --insecure-port on loopback; None without one. Raises OSError when it cannot be had."""
    if not settings.insecure_port:
        return None
    listener = await Listener.open(handler, _LOOPBACK, settings.insecure_port, tls=None)
    stack.push_async_callback(listener.close, _STREAM_GRACE)
    logger.warning("Serving WITHOUT authentication or authorization on %s:%d", _LOOPBACK, listener.port)
    return listener
