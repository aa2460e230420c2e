"""Framing: refuses requests whose method, host or Transfer-Encoding Go's net/http does not accept, before any filter
runs. It says when a connection ends with a request whose body was not read.

Must hold: when the end of a request is not certain, its connection is closed after the response. No byte of its body is
read as the next request (request smuggling). A client whose connection is closed behind a response knows it from the
response.
"""

from aiohttp import HttpVersion11, hdrs, web
from aiohttp.streams import EMPTY_PAYLOAD

from aio_apiserver.apiserver.wire import responses, route_errors
from aio_apiserver.apiserver.wire.heads import RequestHead
from aio_apiserver.apiserver.wire.served_requests import ServedRequest

NO_BODY = EMPTY_PAYLOAD
"""The content of all requests without bodies."""
_CHUNKED = "chunked"
_MOST_UNREAD_BYTES = 256 * 1024
"""The rest of a body that a server reads for the next request on the connection, as in Go's net/http."""


def refusal(request: web.BaseRequest, head: RequestHead) -> web.Response | None:
    """The response to a request that is refused; None for all others."""
    if request.method == hdrs.METH_CONNECT and request.raw_path.startswith("/"):
        # A 2xx would turn the connection into a tunnel, and the client would wait for the other end.
        body = responses.dump(route_errors.RouteMethodNotAllowed().status(), is_pretty=False)
        return _last(web.Response(body=body, status=405, content_type=responses.JSON))
    if not head.has_valid_host:
        return _last(web.Response(text="400 Bad Request: malformed Host header", status=400))
    encodings = head.encodings
    if not encodings:
        return None
    if len(encodings) > 1 or encodings[0].lower() != _CHUNKED:
        return _last(web.Response(text="Unsupported transfer encoding", status=501))
    if request.version < HttpVersion11:
        return _last(web.Response(text="400 Bad Request", status=400))
    return None


def ends_with(request: web.BaseRequest) -> bool:
    """Whether the connection has to end with the response to this request, because the rest of its body is long or may
    not come.
    """
    content = request.content
    if content.is_eof():
        return False
    if request.content_length is None or (isinstance(request, ServedRequest) and request.has_long_head):
        return True
    is_invited = hdrs.EXPECT not in request.headers or content.total_bytes > 0
    return not is_invited or request.content_length - content.total_bytes > _MOST_UNREAD_BYTES


def _last(response: web.Response) -> web.Response:
    response.force_close()
    return response
