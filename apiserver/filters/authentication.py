"""Authentication: finds the user of a request, by client certificate, then bearer token, then as anonymous.

Must hold: an invalid certificate or token is refused, also where anonymous requests are allowed, unless the other one
is valid. No token is logged or sent in a response. The insecure port has no users: its clients are administrators. So
it refuses requests that a browser may send for another site.
"""

import base64
import binascii
import logging
from collections.abc import Awaitable
from ipaddress import ip_address

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.access.assembly import Access
from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.outgoing.webhook_words import HIDDEN
from aio_apiserver.apiserver.tls.client_certificates import ClientCertificate, Untrusted
from aio_apiserver.apiserver.wire import websockets
from aio_apiserver.apiserver.wire.connections import HTTPConnection
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.authentication import Authenticated, BadToken, Tokens
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, ANONYMOUS, MASTERS, UserInfo

logger = logging.getLogger(__name__)

_SPACE_WARNING = "the provided Authorization header contains extra space before the bearer token, and is ignored"
_UNSECURED = UserInfo(name="system:unsecured", groups=(MASTERS, ALL_AUTHENTICATED))


def with_authentication(handler: Handler, *, access: Access, metrics: AccessMetrics, clock: Clock) -> Handler:
    """Set the user of a request, or answer 401."""

    def authenticated(request: web.BaseRequest, context: RequestContext) -> Awaitable[web.StreamResponse]:
        """A known token is found at once."""
        began = clock.monotonic()
        connection = request.protocol
        assert isinstance(connection, HTTPConnection)
        found = access.tokens.known.of(context.head.token) if connection.certificate is None else None
        if found is None:
            return _examined(request, context, connection.certificate, began)
        metrics.authenticated(found.user, found, clock.monotonic() - began)
        return handler(request, replace(context, user=found.user, notes=found.annotations))

    async def _examined(
        request: web.BaseRequest, context: RequestContext, certificate: ClientCertificate | None, began: float
    ) -> web.StreamResponse:
        """The other ways to authenticate."""
        user = None
        try:
            if certificate is None:
                found = await _token_user(request, context, access.tokens)
            else:
                metrics.certificate_seen(certificate.ends - clock.now())
                user, found = await _certified_user(request, context, certificate, access=access, now=clock.now())
        except errors.Unauthorized:
            metrics.unauthenticated(clock.monotonic() - began, is_error=True)
            raise
        notes = context.notes
        if found is not None:
            user, notes = found.user, found.annotations
        elif user is None and access.allows_anonymous(context.path):
            user = ANONYMOUS
        if user is None:
            metrics.unauthenticated(clock.monotonic() - began, is_error=False)
            raise errors.Unauthorized
        metrics.authenticated(user, found, clock.monotonic() - began)
        return await handler(request, replace(context, user=user, notes=notes))

    return authenticated


def with_unsecured_user(handler: Handler) -> Handler:
    """Accept every request from this machine, but none that a web page of another site may have caused."""

    async def trusted(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if hdrs.ORIGIN in request.headers or not _is_loopback(request.headers.get(hdrs.HOST, "")):
            raise errors.Forbidden(None, "", why="the insecure port serves clients on this machine only")
        return await handler(request, replace(context, user=_UNSECURED))

    return trusted


async def _certified_user(
    request: web.BaseRequest, context: RequestContext, certificate: ClientCertificate, *, access: Access, now: float
) -> tuple[UserInfo | None, Authenticated | None]:
    """The user of the client certificate, or of the token when the certificate is not trusted. Raises Unauthorized when
    neither is valid.
    """
    try:
        user = access.certified.user_of(certificate, request.headers.items(), now)
    except Untrusted as exc:
        found = await _token_user(request, context, access.tokens)
        if found is None:
            logger.info("unable to authenticate a request: %s", exc)
            raise errors.Unauthorized from None
        return None, found
    return user, await _token_user(request, context, access.tokens) if user is None else None


async def _token_user(request: web.BaseRequest, context: RequestContext, tokens: Tokens) -> Authenticated | None:
    head = context.head
    if head.is_misspelt:
        context.warnings.add(_SPACE_WARNING)
    token = head.token or _web_socket_token(request)
    if not token:
        return None
    try:
        found = await tokens.authenticate(token, tokens.own_audiences)
    except BadToken as exc:
        # A webhook may quote the token in its error.
        logger.info("unable to authenticate a request: %s", str(exc).replace(token, HIDDEN))
        raise errors.Unauthorized from None
    for warning in found.warnings:
        context.warnings.add(warning)
    return found


def _web_socket_token(request: web.BaseRequest) -> str:
    """The token that a browser sends as a WebSocket subprotocol, because it cannot set headers. Raises Unauthorized."""
    if request.headers.get(hdrs.UPGRADE, "").lower() != "websocket":
        return ""
    offered = websockets.offered(request)
    prefix = websockets.BEARER_PREFIX
    tokens = [one.removeprefix(prefix) for one in offered if one.startswith(prefix)]
    if not tokens:
        return ""
    # A subprotocol without a token must remain, for the handshake.
    if len(tokens) > 1 or len(offered) == 1:
        raise errors.Unauthorized
    try:
        padded = tokens[0] + "=" * (-len(tokens[0]) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise errors.Unauthorized from None


def _is_loopback(host: str) -> bool:
    """Whether a Host header names this machine. In a DNS rebinding attack, the header has the name of the attacker's
    site.
    """
    name = host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
    if name.lower() == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
