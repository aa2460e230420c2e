"""Forwarded headers: decides which request headers go on to kubelets, pods, services and aggregated servers, and which
headers of their answers come back to the client.

Pure. Each header has a class, and each kind of relay forwards some classes:

    class        headers                                 stream  proxy  upgrade  reason
    CREDENTIAL   Authorization, Impersonate-*,           no      no     no       they identify the client to this
                 X-Remote-*, --requestheader-*,                                  server; a backend could use them here
                 cookies of the console
    CONNECTION   RFC 9110 7.6.1, and what Connection     no      no     no       they are about this one connection
                 names
    UPGRADE      Connection, Upgrade                     yes     no     yes      they ask for another protocol
    PROTOCOL     Sec-WebSocket-*, versions of streams    yes     yes    yes      the backend negotiates with the client;
                                                                                 tokens among the subprotocols stay here
    CLIENT       Host, Origin, User-Agent, ...           yes     yes    yes      where the request comes from
    APPLICATION  every other end-to-end header           no      yes    yes      programs behind a proxy define headers
                                                                                 of their own, cookies among them

A stream leads to a kubelet, which needs no application headers. Headers of answers have classes, too:

    class        headers of answers                      console  without  reason
    CONNECTION   RFC 9110 7.6.1, and what Connection     no       no       they are about this one connection
                 names
    OWN          Audit-Id                                no       no       this server has set it
    ORIGIN       Clear-Site-Data, HSTS, Alt-Svc, ...     no       no       they change how browsers treat all pages of
                                                                           this server, or of its host
    SESSION      Set-Cookie, WWW-Authenticate            no       yes      they change what browsers send to the console
    APPLICATION  every other header                      yes      yes

A server with the console adds a Content-Security-Policy to relayed answers: a page of a backend gets an origin of its
own. Otherwise its scripts could use the session of the user.

Must hold: a class that a relay does not list is not forwarded. The value of Connection is ours. Headers that this
server adds replace those of the client.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from urllib.parse import quote, urlencode

from aiohttp import hdrs, web
from msgspec import Struct
from multidict import CIMultiDict, MultiMapping

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.wire import websockets
from aio_apiserver.registry.base.locations import Location

_SAFE_IN_PATHS = "/!$&'()*+,;=:@"
_FORWARDED_FOR = "X-Forwarded-For"
CONSOLE_COOKIE = "__Host-console-"
"""The prefix of the names of the console's cookies, which hold the tokens of users."""


class Relay(Enum):
    """The kind of a forwarded request."""

    STREAM = auto()
    """A connection to a kubelet: exec, attach, port-forward."""
    PROXY = auto()
    """A request to a pod, a service, a node or an aggregated server."""
    UPGRADE = auto()
    """An upgraded connection to a pod, a service, a node or an aggregated server."""


class HeaderClass(Enum):
    """The class of a header."""

    CREDENTIAL = auto()
    CONNECTION = auto()
    UPGRADE = auto()
    PROTOCOL = auto()
    CLIENT = auto()
    APPLICATION = auto()


_GOES_ON: Mapping[Relay, frozenset[HeaderClass]] = {
    Relay.STREAM: frozenset({HeaderClass.UPGRADE, HeaderClass.PROTOCOL, HeaderClass.CLIENT}),
    Relay.PROXY: frozenset({HeaderClass.PROTOCOL, HeaderClass.CLIENT, HeaderClass.APPLICATION}),
    Relay.UPGRADE: frozenset({HeaderClass.UPGRADE, HeaderClass.PROTOCOL, HeaderClass.CLIENT, HeaderClass.APPLICATION}),
}
_CREDENTIALS = ("impersonate-", "x-remote-")
"""Prefixes of credential headers. Some backends treat an underscore as a hyphen, so both are the same here."""
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
_CLASSES: Mapping[str, HeaderClass] = {
    "authorization": HeaderClass.CREDENTIAL,
    **dict.fromkeys(_OF_CONNECTIONS, HeaderClass.CONNECTION),
    **dict.fromkeys(("connection", "upgrade"), HeaderClass.UPGRADE),
    **dict.fromkeys(
        (
            "sec-websocket-extensions",
            "sec-websocket-key",
            "sec-websocket-protocol",
            "sec-websocket-version",
            "x-stream-protocol-version",
        ),
        HeaderClass.PROTOCOL,
    ),
    **dict.fromkeys(("host", "origin", "user-agent", "x-forwarded-for"), HeaderClass.CLIENT),
}
"""A header without an entry is an APPLICATION header, unless it has a prefix of credentials."""


class AnswerHeaderClass(Enum):
    """The class of a header of an answer."""

    CONNECTION = auto()
    OWN = auto()
    ORIGIN = auto()
    SESSION = auto()


_ANSWER_CLASSES: Mapping[str, AnswerHeaderClass] = {
    **dict.fromkeys(_OF_CONNECTIONS, AnswerHeaderClass.CONNECTION),
    "audit-id": AnswerHeaderClass.OWN,
    **dict.fromkeys(("set-cookie", "set-cookie2", "www-authenticate"), AnswerHeaderClass.SESSION),
    **dict.fromkeys(
        (
            "accept-ch",
            "alt-svc",
            "clear-site-data",
            "critical-ch",
            "expect-ct",
            "nel",
            "origin-agent-cluster",
            "origin-trial",
            "public-key-pins",
            "public-key-pins-report-only",
            "report-to",
            "reporting-endpoints",
            "service-worker-allowed",
            "speculation-rules",
            "strict-transport-security",
            "use-as-dictionary",
        ),
        AnswerHeaderClass.ORIGIN,
    ),
}
"""A header of an answer without an entry is an application header."""
_STAYS = frozenset({AnswerHeaderClass.CONNECTION, AnswerHeaderClass.OWN, AnswerHeaderClass.ORIGIN})
_STAYS_BESIDE_CONSOLE = _STAYS | {AnswerHeaderClass.SESSION}
_POLICY = "Content-Security-Policy"
_OWN_ORIGIN = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts"


class Forwarding(Struct, frozen=True):
    """The rule of one server.

    fronting: the headers of the front proxy in the flags, in lower case; fronting_prefixes: the prefixes of its extra
    headers. has_console: whether pages of backends would share their origin with the console.
    """

    fronting: frozenset[str] = frozenset()
    fronting_prefixes: tuple[str, ...] = ()
    has_console: bool = False

    def headers_of(
        self, request: web.BaseRequest, relay: Relay, *, added: Sequence[tuple[str, str]] = ()
    ) -> CIMultiDict[str]:
        """The forwarded headers and the added ones."""
        named = _named(request.headers)
        headers = CIMultiDict(
            (name, value)
            for name, value in request.headers.items()
            if self._class_of(name.lower().replace("_", "-"), named) in _GOES_ON[relay]
        )
        if hdrs.CONNECTION in headers:
            headers[hdrs.CONNECTION] = "Upgrade"
        if hdrs.COOKIE in headers:
            _set(headers, hdrs.COOKIE, _without_sessions(headers.getall(hdrs.COOKIE)))
        if hdrs.SEC_WEBSOCKET_PROTOCOL in headers:
            _set(headers, hdrs.SEC_WEBSOCKET_PROTOCOL, ",".join(websockets.subprotocols(request)))
        _set(headers, _FORWARDED_FOR, ", ".join(filter(None, (headers.get(_FORWARDED_FOR), request.remote or ""))))
        return _replaced(headers, added)

    def headers_back(self, headers: MultiMapping[str]) -> CIMultiDict[str]:
        """The headers of a backend's answer for the client."""
        staying, named = _STAYS_BESIDE_CONSOLE if self.has_console else _STAYS, _named(headers)
        back = CIMultiDict(
            (name, value)
            for name, value in headers.items()
            if _ANSWER_CLASSES.get(name.lower()) not in staying and name.lower() not in named
        )
        if self.has_console:
            back.add(_POLICY, _OWN_ORIGIN)
        return back

    def _class_of(self, name: str, named: frozenset[str]) -> HeaderClass:
        if name.startswith(_CREDENTIALS) or name in self.fronting or name.startswith(self.fronting_prefixes):
            return HeaderClass.CREDENTIAL
        if name in named and name not in (hdrs.CONNECTION.lower(), hdrs.UPGRADE.lower()):
            return HeaderClass.CONNECTION
        return _CLASSES.get(name, HeaderClass.APPLICATION)


def of(settings: Settings) -> Forwarding:
    """The rule for these settings."""
    names = (
        *settings.requestheader_username_headers,
        *settings.requestheader_uid_headers,
        *settings.requestheader_group_headers,
    )
    prefixes = tuple(map(str.lower, filter(None, settings.requestheader_extra_headers_prefix)))
    return Forwarding(frozenset(map(str.lower, names)), prefixes, has_console=settings.has_console)


def url_of(location: Location, query: str) -> str:
    """The URL at the backend. The query of the location replaces the client's."""
    if location.query is not None:
        query = urlencode(location.query)
    path = quote(location.path, safe=_SAFE_IN_PATHS)
    return f"{location.scheme}://{location.authority}{path}" + (f"?{query}" if query else "")


def is_upgrade(request: web.BaseRequest) -> bool:
    """Whether the request asks for another protocol."""
    return any("upgrade" in value.lower() for value in request.headers.getall(hdrs.CONNECTION, ()))


def _named(headers: MultiMapping[str]) -> frozenset[str]:
    """The headers that a Connection header names."""
    values = headers.getall(hdrs.CONNECTION, ())
    return frozenset(word.strip().lower() for value in values for word in value.split(","))


def _without_sessions(values: Iterable[str]) -> str:
    """The cookies without those of the console."""
    cookies = (cookie.strip() for value in values for cookie in value.split(";"))
    return "; ".join(cookie for cookie in cookies if not cookie.startswith(CONSOLE_COOKIE))


def _set(headers: CIMultiDict[str], name: str, value: str) -> None:
    """Set a header to one value; remove it when the value is empty."""
    headers.popall(name, None)
    if value:
        headers[name] = value


def _replaced(headers: CIMultiDict[str], added: Iterable[tuple[str, str]]) -> CIMultiDict[str]:
    for name in {name.lower() for name, _ in added}:
        headers.popall(name, None)
    headers.extend(added)
    return headers
