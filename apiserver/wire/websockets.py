"""WebSockets: recognizes an upgrade request, and accepts and closes the WebSocket of a watch.

Must hold: a handshake needs an Origin header, which browsers send. The client may offer at most one subprotocol,
and the server selects it. Messages of the client have at most 64 KiB.
"""

from aiohttp import WSMsgType, hdrs, web
from multidict import CIMultiDict

from aio_apiserver.registry.base import errors

BEARER_PREFIX = "base64url.bearer.authorization.k8s.io."
"""The prefix of a subprotocol that carries a token: browsers cannot send an Authorization header with a WebSocket."""

_MESSAGE_LIMIT = 64 * 1024
_CLOSE_SECONDS = 1.0


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
    socket = web.WebSocketResponse(
        protocols=protocols, max_msg_size=_MESSAGE_LIMIT, compress=False, timeout=_CLOSE_SECONDS
    )
    socket.headers.extend(headers)
    await socket.prepare(request)
    return socket


async def wait_until_closed(socket: web.WebSocketResponse) -> None:
    """Return when the client closes the socket or disconnects."""
    while (await socket.receive()).type in (WSMsgType.TEXT, WSMsgType.BINARY):
        continue


def subprotocols(request: web.BaseRequest) -> tuple[str, ...]:
    """The subprotocols that the client offers, without tokens."""
    return tuple(name for name in offered(request) if name and not name.lower().startswith(BEARER_PREFIX))


def offered(request: web.BaseRequest) -> tuple[str, ...]:
    """All subprotocols that the client offers, in order, tokens included."""
    values = request.headers.getall(hdrs.SEC_WEBSOCKET_PROTOCOL, ())
    return tuple(name.strip() for value in values for name in value.split(","))
