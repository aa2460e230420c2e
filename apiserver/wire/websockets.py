"""WebSockets: what makes a request one, and its beginning and end.

Must hold: only a page that says where it comes from is answered (a browser always does); at most one subprotocol is
offered, and it is the one that is used; messages are small, since nobody has much to say here.
"""

from aiohttp import WSMsgType, hdrs, web
from multidict import CIMultiDict

from aio_apiserver.registry.base import errors

BEARER_PREFIX = "base64url.bearer.authorization.k8s.io."
"""A subprotocol that is a token: browsers cannot send an Authorization header with a WebSocket."""

_MESSAGE_LIMIT = 64 * 1024
_CLOSE_SECONDS = 1.0


def is_websocket(request: web.BaseRequest) -> bool:
    """Whether a client wants to go on with WebSocket."""
    connection = request.headers.get(hdrs.CONNECTION, "").lower()
    return "upgrade" in connection and request.headers.get(hdrs.UPGRADE, "").lower() == "websocket"


async def accept(request: web.BaseRequest, headers: CIMultiDict[str]) -> web.WebSocketResponse:
    """Do the handshake. Raises Forbidden and BadRequest."""
    if not request.headers.get(hdrs.ORIGIN):
        raise errors.Forbidden(None, "", why="a WebSocket needs an Origin header")
    protocols = subprotocols(request)
    if len(protocols) > 1:
        raise errors.BadRequest("a WebSocket of a watch has one subprotocol at the most")
    socket = web.WebSocketResponse(
        protocols=protocols, max_msg_size=_MESSAGE_LIMIT, compress=False, timeout=_CLOSE_SECONDS
    )
    socket.headers.extend(headers)
    await socket.prepare(request)
    return socket


async def wait_until_closed(socket: web.WebSocketResponse) -> None:
    """Return when the client closes, or is gone."""
    while (await socket.receive()).type in (WSMsgType.TEXT, WSMsgType.BINARY):
        continue


def subprotocols(request: web.BaseRequest) -> tuple[str, ...]:
    """Those that the client offers, credentials excepted."""
    return tuple(name for name in offered(request) if name and not name.lower().startswith(BEARER_PREFIX))


def offered(request: web.BaseRequest) -> tuple[str, ...]:
    """The subprotocols that the client names, in order, credentials among them."""
    values = request.headers.getall(hdrs.SEC_WEBSOCKET_PROTOCOL, ())
    return tuple(name.strip() for value in values for name in value.split(","))
