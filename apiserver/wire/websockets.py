"""WebSockets: recognizes an upgrade request, and accepts and closes the WebSocket of a watch.

Must hold: a handshake needs an Origin header, which browsers send. The client may offer at most one subprotocol,
and the server selects it. Frames of the client are ignored (ignored_frames.py).
"""

import asyncio
from typing import Any

from aiohttp import hdrs, web
from aiohttp._websocket.reader import WebSocketDataQueue
from aiohttp.http import WebSocketWriter
from multidict import CIMultiDict

from aio_apiserver.apiserver.wire.ignored_frames import IgnoredFrames
from aio_apiserver.registry.base import errors

BEARER_PREFIX = "base64url.bearer.authorization.k8s.io."
"""The prefix of a subprotocol that carries a token: browsers cannot send an Authorization header with a WebSocket."""

_CLOSE_SECONDS = 1.0
_WAITING_BYTES = 4096
"""The pings that wait for their pongs, before the connection is paused."""


class WatchSocket(web.WebSocketResponse):
    """The WebSocket of a watch."""

    def _post_start(self, request: web.BaseRequest, protocol: str | None, writer: WebSocketWriter) -> None:
        """aiohttp calls this behind the handshake, to read with its own reader."""
        self._ws_protocol, self._writer = protocol, writer
        loop = asyncio.get_running_loop()
        self._reader = WebSocketDataQueue(request.protocol, _WAITING_BYTES, loop=loop)
        frames: Any = IgnoredFrames(self._reader, loop.time)
        request.protocol.set_parser(frames)
        request.protocol.keep_alive(False)  # its timer


def is_websocket(request: web.BaseRequest) -> bool:
    """Whether the client requests an upgrade to WebSocket."""
    connection = request.headers.get(hdrs.CONNECTION, "").lower()
    return "upgrade" in connection and request.headers.get(hdrs.UPGRADE, "").lower() == "websocket"


async def accept(request: web.BaseRequest, headers: CIMultiDict[str]) -> web.WebSocketResponse:
    """Do the handshake. Raises Forbidden and BadRequest."""
    if not request.headers.get(hdrs.ORIGIN):
        raise errors.Forbidden(None, "", why="a WebSocket needs an Origin header")
    protocols = subprotocols(request)
    if len(protocols) > 1:
        raise errors.BadRequest("the WebSocket of a watch has at most one subprotocol")
    socket = WatchSocket(protocols=protocols, compress=False, timeout=_CLOSE_SECONDS)
    socket.headers.extend(headers)
    await socket.prepare(request)
    return socket


async def wait_until_closed(socket: web.WebSocketResponse) -> None:
    """Answer pings, and return when the client closes the socket, disconnects or sends what is wrong."""
    await socket.receive()


def subprotocols(request: web.BaseRequest) -> tuple[str, ...]:
    """The subprotocols that the client offers, without tokens."""
    return tuple(name for name in offered(request) if name and not name.lower().startswith(BEARER_PREFIX))


def offered(request: web.BaseRequest) -> tuple[str, ...]:
    """All subprotocols that the client offers, in order, tokens included."""
    values = request.headers.getall(hdrs.SEC_WEBSOCKET_PROTOCOL, ())
    return tuple(name.strip() for value in values for name in value.split(","))
