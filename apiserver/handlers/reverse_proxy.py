"""Reverse proxy: requests that go on, and answers that come back, both as streams. Upgrades become tunnels.

Must hold: a client is never sent where the proxied side believes to be; redirects come back under the proxy's path,
those of an aggregated server not at all (CVE-2022-3172: a client would take its credentials there).
"""

from collections.abc import AsyncIterator, Sequence
from urllib.parse import urlsplit, urlunsplit

from aiohttp import hdrs, web

from aio_apiserver.apiserver.handlers import relaying, tunnels
from aio_apiserver.apiserver.outgoing import forwarding
from aio_apiserver.apiserver.outgoing.backends import Servers, Unreachable
from aio_apiserver.apiserver.outgoing.forwarding import Relay
from aio_apiserver.apiserver.wire import responses, urls
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base.errors import ServiceUnavailable
from aio_apiserver.registry.base.locations import Location

_READING = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_CHUNK = 64 * 1024
_REDIRECTS = range(300, 400)
_NOT_PERMITTED = b"the backend attempted to redirect this request, which is not permitted"


async def send(
    request: web.BaseRequest, context: RequestContext, location: Location, backends: Servers
) -> web.StreamResponse:
    """Pass a request on and its answer back. Raises ServiceUnavailable."""
    if forwarding.is_upgrade(request):
        return await tunnels.pass_on(request, context, location, backends)
    raw_path, _, query = urls.without_authority(request.raw_path).partition("?")
    if not location.path and request.method in _READING:
        return _redirected(context, raw_path, query)
    url = forwarding.url_of(location, query)
    headers = backends.forwarding.headers_of(request, Relay.PROXY, added=_added(request, location, raw_path))
    body = _body(request) if request.body_exists else None
    try:
        async with backends.request(location, request.method, url, headers=headers, body=body) as answer:
            if location.refuses_redirects and answer.status in _REDIRECTS and hdrs.LOCATION in answer.headers:
                return responses.raw(context, _NOT_PERMITTED, status=502, content_type=responses.TEXT)
            back = responses.headers(context, "")
            del back[hdrs.CONTENT_TYPE]
            back.extend(forwarding.headers_back(answer.headers))
            if hdrs.LOCATION in back:
                back[hdrs.LOCATION] = _under(back[hdrs.LOCATION], location, raw_path)
            response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=back)
            return await relaying.relay(request, context, answer, response)
    except Unreachable as exc:
        raise ServiceUnavailable(f"error trying to reach service: {exc}") from exc


def _redirected(context: RequestContext, path: str, query: str) -> web.StreamResponse:
    """Paths in answers are relative to what ends with a slash: the client is to begin with one."""
    response = responses.raw(context, b"", status=301)
    del response.headers[hdrs.CONTENT_TYPE]
    response.headers[hdrs.LOCATION] = f"{path}/?{query}" if query else f"{path}/"
    return response


def _added(request: web.BaseRequest, location: Location, path: str) -> Sequence[tuple[str, str]]:
    """What tells the backend how the client asked, and what the location brings."""
    return (
        ("X-Forwarded-Uri", path),
        ("X-Forwarded-Host", request.headers.get(hdrs.HOST, "")),
        ("X-Forwarded-Proto", "https" if request.secure else "http"),
        *location.headers,
    )


async def _body(request: web.BaseRequest) -> AsyncIterator[bytes]:
    async for chunk in request.content.iter_chunked(_CHUNK):
        yield chunk


def _under(target: str, location: Location, path: str) -> str:
    """Where a redirect leads, seen through the proxy; what leads elsewhere is left as it is."""
    parts = urlsplit(target)
    if parts.netloc and parts.netloc != location.authority:
        return target
    if not parts.netloc and not parts.path.startswith("/"):
        return target
    prefix = path.removesuffix(location.path.rstrip("/")) if location.path.strip("/") else path.rstrip("/")
    return urlunsplit(("", "", f"{prefix.rstrip('/')}{parts.path}", parts.query, parts.fragment))
