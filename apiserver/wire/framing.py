"""Framing: requests that are refused for their method or transfer encoding, before anything else is looked at.

Go's net/http decides so for kube-apiserver. Must hold: a request whose end is not sure is answered once, and its
connection is closed, so that no byte of it is read as another request (the class of request smuggling).
"""

from aiohttp import hdrs, web

from aio_apiserver.apiserver.wire import responses, route_errors

_CHUNKED = "chunked"


def refusal(request: web.BaseRequest) -> web.Response | None:
    """The answer to a request that is not served; None for all others."""
    if request.method == hdrs.METH_CONNECT and request.raw_path.startswith("/"):
        # A 2xx would turn the connection into a tunnel, and the client would wait for its other end.
        body = responses.dump(route_errors.RouteMethodNotAllowed().status(), is_pretty=False)
        return _last(web.Response(body=body, status=405, content_type=responses.JSON))
    encodings = request.headers.getall(hdrs.TRANSFER_ENCODING, ())
    if encodings and (len(encodings) > 1 or encodings[0].lower() != _CHUNKED):
        return _last(web.Response(text="Unsupported transfer encoding", status=501))
    return None


def _last(response: web.Response) -> web.Response:
    response.force_close()
    return response
