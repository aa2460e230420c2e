"""Proxy: forwards a request to the server of an APIService, with the user in X-Remote headers.

The server trusts the headers because of this server's client certificate. Must hold: X-Remote headers and credentials
of the client are not forwarded. Failures are plain texts, as in kube-apiserver.
"""

import asyncio
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.aggregation.remote_servers import RemoteServers
from aio_apiserver.apiserver.handlers import reverse_proxy
from aio_apiserver.apiserver.outgoing import client_spans
from aio_apiserver.apiserver.outgoing.relay_client import InvalidAnswerStatus, RelayClient, Unreachable
from aio_apiserver.apiserver.tls.bundles import NoTrust
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.locations import Location
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.aggregated import RemoteAnswer
from aio_apiserver.registry.groups.apiregistration.registrations import Registration
from aio_apiserver.registry.groups.apiregistration.service_resolver import Unresolved

UNAVAILABLE = "service unavailable\n"
_DISCOVERY_SECONDS = 5.0
_DISCOVERY_PARTS = 3
_ASKING_SECONDS = 60.0
_JSON: Mapping[str, str] = {hdrs.ACCEPT: "application/json"}
_PLAIN_IN_KEYS = "!#$%&'*+-.^_`|~"
"""Characters that a header name may contain beside letters and digits, without `%`, which escapes others."""


async def pass_on(
    request: web.BaseRequest,
    context: RequestContext,
    registration: Registration,
    servers: RemoteServers,
    *,
    forwards_uid: bool,
) -> web.StreamResponse:
    """The response of the server behind a registration."""
    if not registration.is_available:
        return responses.text(context, UNAVAILABLE, status=503)
    try:
        server = servers.of(registration)
        headers = [*users_headers(context.user, forwards_uid=forwards_uid), ("Audit-Id", context.audit_id)]
        location = await servers.location(registration, context.path, headers)
    except NoTrust as exc:
        return responses.text(context, f"{exc}\n", status=500)
    except Unresolved:
        return responses.text(context, UNAVAILABLE, status=503)
    try:
        async with asyncio.timeout(_DISCOVERY_SECONDS if _is_discovery(context) else None):
            return await _sent(request, context, location, server)
    except InvalidAnswerStatus:
        raise
    except StatusError as exc:
        failure = exc
    except TimeoutError:
        failure = StatusError("error trying to reach service: context deadline exceeded")
    if request.writer.output_size:
        raise failure  # the response has begun: the connection is closed
    return responses.text(context, f"{failure.message}\n", status=503)


async def ask(
    user: UserInfo, registration: Registration, servers: RemoteServers, method: str, path: str, *, forwards_uid: bool
) -> RemoteAnswer:
    """The answer to a request of this process for a user. A server that does not answer counts as a 503."""
    if not registration.is_available:
        return RemoteAnswer(503, UNAVAILABLE.encode())
    headers = tuple(users_headers(user, forwards_uid=forwards_uid))
    try:
        answer = await servers.request(
            registration, path, method=method, headers=_JSON, user=headers, seconds=_ASKING_SECONDS
        )
    except Unreachable as exc:
        return RemoteAnswer(503, f"error trying to reach service: {exc}\n".encode())
    return RemoteAnswer(answer.status, answer.body)


async def _sent(
    request: web.BaseRequest, context: RequestContext, location: Location, server: RelayClient
) -> web.StreamResponse:
    """Forward the request as a part of this server's trace."""
    with client_spans.begun(request.method, f"{location.scheme}://{location.authority}{location.path}") as span:
        traced = replace(location, headers=(*location.headers, *span.headers.items()))
        response = await reverse_proxy.send(request, context, traced, server)
        client_spans.answered(span, response.status)
        return response


def users_headers(user: UserInfo, *, forwards_uid: bool) -> Iterator[tuple[str, str]]:
    """The X-Remote headers for a user."""
    yield "X-Remote-User", user.name
    if user.uid and forwards_uid:
        yield "X-Remote-Uid", user.uid
    yield from (("X-Remote-Group", group) for group in user.groups)
    for key, values in user.extra.items():
        yield from ((f"X-Remote-Extra-{quote(key.lower(), safe=_PLAIN_IN_KEYS)}", value) for value in values)


def _is_discovery(context: RequestContext) -> bool:
    return not context.info.is_resource and len(context.path.strip("/").split("/")) == _DISCOVERY_PARTS
