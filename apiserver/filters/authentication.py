"""Authentication: who makes a request, by client certificate, then bearer token, then not at all.

Must hold: a certificate or a token that is no good is refused even where anonymous requests are allowed, unless the
other one is good; no token is ever logged or answered. The insecure port knows no users: whoever reaches it from this
machine is an administrator, so that what a browser might send there on a stranger's behalf is refused.
"""

import base64
import binascii
import logging
from ipaddress import ip_address

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.access.assembly import Access
from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.outgoing.webhook_words import HIDDEN
from aio_apiserver.apiserver.tls.client_certificates import ClientCertificate, Untrusted
from aio_apiserver.apiserver.wire import websockets
from aio_apiserver.apiserver.wire.connections import Connection
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.authentication import Authenticated, BadToken, Tokens
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, ANONYMOUS, MASTERS, UserInfo
from aio_apiserver.storage.clock import Clock

logger = logging.getLogger(__name__)

_SPACE_WARNING = "the provided Authorization header contains extra space before the bearer token, and is ignored"
_UNSECURED = UserInfo(name="system:unsecured", groups=(MASTERS, ALL_AUTHENTICATED))


def with_authentication(handler: Handler, *, access: Access, metrics: AccessMetrics, clock: Clock) -> Handler:
    """Find the user of a request, or answer 401."""

    async def authenticated(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        began = clock.monotonic()
        connection = request.protocol
        assert isinstance(connection, Connection)
        certificate, user = connection.certificate, None
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
            metrics.token_accepted(found)
        elif user is None and access.allows_anonymous(context.path):
            user = ANONYMOUS
        if user is None:
            metrics.unauthenticated(clock.monotonic() - began, is_error=False)
            raise errors.Unauthorized
        metrics.authenticated(user, clock.monotonic() - began)
        return await handler(request, replace(context, user=user, notes=notes))

    return authenticated


def with_unsecured_user(handler: Handler) -> Handler:
    """Let everybody in, except for browsers that are made to ask by a page from elsewhere."""

    async def trusted(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if hdrs.ORIGIN in request.headers or not _is_loopback(request.headers.get(hdrs.HOST, "")):
            raise errors.Forbidden(None, "", why="the insecure port serves clients on this machine only")
        return await handler(request, replace(context, user=_UNSECURED))

    return trusted


async def _certified_user(
    request: web.BaseRequest, context: RequestContext, certificate: ClientCertificate, *, access: Access, now: float
) -> tuple[UserInfo | None, Authenticated | None]:
    """Whom a certificate makes somebody, or else whose token there is. Raises Unauthorized when neither is good."""
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
    token = _header_token(request, context) or _web_socket_token(request)
    if not token:
        return None
    try:
        found = await tokens.authenticate(token, tokens.own_audiences)
    except BadToken as exc:
        # A webhook may quote what it was sent.
        logger.info("unable to authenticate a request: %s", str(exc).replace(token, HIDDEN))
        raise errors.Unauthorized from None
    for warning in found.warnings:
        context.warnings.add(warning)
    return found


def _header_token(request: web.BaseRequest, context: RequestContext) -> str:
    header = request.headers.get(hdrs.AUTHORIZATION)
    if not header:
        return ""
    scheme, _, credentials = header.strip().partition(" ")
    if not credentials or scheme.lower() != "bearer":
        return ""
    token, has_more, _ = credentials.partition(" ")
    if not token and has_more:
        context.warnings.add(_SPACE_WARNING)
    return token


def _web_socket_token(request: web.BaseRequest) -> str:
    """The token that a browser sends as a protocol of a web socket, for want of a header. Raises Unauthorized."""
    if request.headers.get(hdrs.UPGRADE, "").lower() != "websocket":
        return ""
    offered = websockets.offered(request)
    prefix = websockets.BEARER_PREFIX
    tokens = [one.removeprefix(prefix) for one in offered if one.startswith(prefix)]
    if not tokens:
        return ""
    # One protocol has to be left that can be agreed on.
    if len(tokens) > 1 or len(offered) == 1:
        raise errors.Unauthorized
    try:
        padded = tokens[0] + "=" * (-len(tokens[0]) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise errors.Unauthorized from None


def _is_loopback(host: str) -> bool:
    """Whether a Host header names this machine: a page that was led here by DNS brings a name of its own."""
    name = host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
    if name.lower() == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
