"""Reverse proxy: forwards a request to a node, pod, service or aggregated server, and streams the response back.

Upgrade requests become tunnels.

Must hold: a redirect of the backend leads back to the path of the proxy. A redirect of an aggregated server is not
passed on (CVE-2022-3172: the client would send its credentials to the new address).
"""

from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from aiohttp import hdrs, web

from aio_apiserver.apiserver.handlers import relaying, tunnels
from aio_apiserver.apiserver.outgoing import forwarded_headers
from aio_apiserver.apiserver.outgoing.forwarded_headers import Relay
from aio_apiserver.apiserver.outgoing.relay_client import RelayClient, Unreachable
from aio_apiserver.apiserver.wire import bodies, responses, urls
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base.errors import ServiceUnavailable
from aio_apiserver.registry.base.locations import Location

_READING = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_CHUNK = 64 * 1024
_REDIRECTS = range(300, 400)
_NOT_PERMITTED = b"the backend attempted to redirect this request, which is not permitted"


async def send(
    request: web.BaseRequest, context: RequestContext, location: Location, backends: RelayClient
) -> web.StreamResponse:
    """Forward a request, and stream the response back. Raises ServiceUnavailable."""
    if forwarded_headers.is_upgrade(request):
        return await tunnels.pass_on(request, context, location, backends)
    raw_path, _, query = urls.without_authority(request.raw_path).partition("?")
    if not location.path and request.method in _READING:
        return _redirected(context, raw_path, query)
    url = forwarded_headers.url_of(location, query)
    headers = backends.forwarding.headers_of(request, Relay.PROXY, added=_added(request, location, raw_path))
    body = bodies.stream(request, _CHUNK) if request.body_exists else None
    try:
        async with backends.request(location, request.method, url, headers=headers, body=body) as answer:
            if location.refuses_redirects and answer.status in _REDIRECTS and hdrs.LOCATION in answer.headers:
                return responses.raw(context, _NOT_PERMITTED, status=502, content_type=responses.TEXT)
            back = responses.headers(context, "")
            del back[hdrs.CONTENT_TYPE]
            back.extend(backends.forwarding.headers_back(answer.headers))
            if hdrs.LOCATION in back:
                back[hdrs.LOCATION] = _under(back[hdrs.LOCATION], location, raw_path)
            response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=back)
            return await relaying.relay(request, context, answer, response)
    except Unreachable as exc:
        raise ServiceUnavailable(f"error trying to reach service: {exc}") from exc


def _redirected(context: RequestContext, path: str, query: str) -> web.StreamResponse:
    """Redirect to the path with a slash, since relative links in pages of the backend need it."""
    response = responses.raw(context, b"", status=301)
    del response.headers[hdrs.CONTENT_TYPE]
    response.headers[hdrs.LOCATION] = f"{path}/?{query}" if query else f"{path}/"
    return response


def _added(request: web.BaseRequest, location: Location, path: str) -> Sequence[tuple[str, str]]:
    """The X-Forwarded headers, and the headers of the location."""
    return (
        ("X-Forwarded-Uri", path),
        ("X-Forwarded-Host", request.headers.get(hdrs.HOST, "")),
        ("X-Forwarded-Proto", "https" if request.secure else "http"),
        *location.headers,
    )


def _under(target: str, location: Location, path: str) -> str:
    """The target of a redirect as a path of the proxy. A target at another host, or that is no URL, stays unchanged."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return target
    if parts.netloc and parts.netloc != location.authority:
        return target
    if not parts.netloc and not parts.path.startswith("/"):
        return target
    prefix = path.removesuffix(location.path.rstrip("/")) if location.path.strip("/") else path.rstrip("/")
    return urlunsplit(("", "", f"{prefix.rstrip('/')}{parts.path}", parts.query, parts.fragment))
