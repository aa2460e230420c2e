"""Forwarding: what of a request's headers goes on to somewhere else, and what of an answer's comes back. Pure.

Must hold: credentials stay here, and whatever is about this one connection only.
"""

from urllib.parse import quote, urlencode

from aiohttp import hdrs, web
from multidict import CIMultiDict, CIMultiDictProxy

from aio_apiserver.registry.base.locations import Location

_OF_CONNECTIONS = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_OF_USERS = ("authorization", "impersonate-", "x-remote-")
_SAFE_IN_PATHS = "/!$&'()*+,;=:@"
_FORWARDED_FOR = "X-Forwarded-For"


def url_of(location: Location, query: str) -> str:
    """Where a request goes on, with the client's own query unless the location has one."""
    if location.query is not None:
        query = urlencode(location.query)
    path = quote(location.path, safe=_SAFE_IN_PATHS)
    return f"{location.scheme}://{location.authority}{path}" + (f"?{query}" if query else "")


def headers_of(request: web.BaseRequest, *, keeps_upgrade: bool = False) -> CIMultiDict[str]:
    """The headers that go on."""
    kept = {"connection", "upgrade"} if keeps_upgrade else set()
    dropped = (_OF_CONNECTIONS | _named(request.headers)) - kept
    headers = CIMultiDict(
        (name, value)
        for name, value in request.headers.items()
        if name.lower() not in dropped and not name.lower().startswith(_OF_USERS)
    )
    before = headers.get(_FORWARDED_FOR)
    client = request.remote or ""
    headers[_FORWARDED_FOR] = f"{before}, {client}" if before else client
    return headers


def headers_back(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """The headers that come back."""
    dropped = _OF_CONNECTIONS | _named(headers)
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in dropped)


def _named(headers: CIMultiDictProxy[str]) -> set[str]:
    """What a Connection header says is about this connection."""
    return {word.strip().lower() for value in headers.getall(hdrs.CONNECTION, ()) for word in value.split(",")}


def is_upgrade(request: web.BaseRequest) -> bool:
    """Whether the connection is to become something else."""
    return any("upgrade" in value.lower() for value in request.headers.getall(hdrs.CONNECTION, ()))
