"""Discovery: /api, /apis and what stands below them up to the resources of a version.

Must hold: documents are made once for what is served and sent as bytes; an aggregated document has an ETag, and a
client that has it already gets 304.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from aiohttp import hdrs, web

from apiserver import negotiation, responses
from apiserver.context import Handler, RequestContext
from apiserver.endpoints import discovery_documents as documents
from apiserver.endpoints.discovery_documents import Document, Group
from apiserver.handlers import output
from apiserver.handlers.served import Served, ServedPaths
from apiserver.negotiation import Target
from registry import errors
from registry.schema import builtin

_AGGREGATED = Target("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList")
_AGGREGATED_SUFFIX = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def handlers(served: ServedPaths) -> Mapping[str, Handler]:
    """The handlers of all discovery paths, each with and without a slash at its end."""
    groups = _groups(served)
    core = [group for group in groups if not group.name]
    others = [group for group in groups if group.name]
    paths = {
        "/api": _restful(_root(documents.api_versions, core)),
        "/apis": _root(lambda _address: documents.api_group_list(others), others),
    }
    for group in groups:
        if group.name:
            paths[f"/apis/{group.name}"] = _plain(partial(documents.api_group, group))
        root = f"/apis/{group.name}" if group.name else "/api"
        for version in group.versions:
            paths[f"{root}/{version}"] = _restful(_plain(partial(documents.api_resource_list, group, version)))
    return {**paths, **{f"{path}/": handler for path, handler in paths.items()}}


def _groups(served: ServedPaths) -> Sequence[Group]:
    found: dict[str, dict[str, dict[str, Served[Any]]]] = {}
    for (group, version, path), one in served.items():
        found.setdefault(group, {}).setdefault(version, {})[path] = one
    return [Group(name, versions) for name, versions in found.items()]


def _plain(make: Callable[[], Document]) -> Handler:
    made = cache(make)

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        chosen = _negotiated(request)
        return await output.respond_value(request, context, made(), chosen, types=builtin())

    return handle


def _root(make: Callable[[str], Document], groups: Sequence[Group]) -> Handler:
    plain, aggregated = cache(make), cache(lambda: documents.discovery_list(groups))

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        accept = request.headers.get(hdrs.ACCEPT, "")
        wanted = negotiation.negotiate_target(accept, negotiation.MEDIA_TYPES, _AGGREGATED)
        if wanted is not None:
            return await _aggregated(request, context, aggregated(), wanted)
        chosen = _negotiated(request)
        return await output.respond_value(request, context, plain(_address(request)), chosen, types=builtin())

    return handle


def _address(request: web.BaseRequest) -> str:
    """Where this request has found the server."""
    host, port = request.get_extra_info("sockname")[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _restful(handler: Handler) -> Handler:
    """The paths that also look at the method and, before anything else, at the types that are accepted at all."""

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if request.method != hdrs.METH_GET:
            raise errors.RouteMethodNotAllowed
        if not negotiation.is_served(request.headers.get(hdrs.ACCEPT, "")):
            raise errors.RouteNotAcceptable(negotiation.MEDIA_TYPES)
        return await handler(request, context)

    return handle


def _negotiated(request: web.BaseRequest) -> negotiation.Format:
    accept = request.headers.get(hdrs.ACCEPT, "")
    chosen = negotiation.negotiate(accept, negotiation.MEDIA_TYPES, negotiation.allows_nothing_else)
    if chosen is None:
        raise errors.NotAcceptable(negotiation.MEDIA_TYPES)
    return chosen


async def _aggregated(
    request: web.BaseRequest, context: RequestContext, document: Document, chosen: negotiation.Format
) -> web.StreamResponse:
    etag = f'"{hashlib.sha512(responses.dump(document, is_pretty=False)).hexdigest().upper()}"'
    if request.headers.get(hdrs.IF_NONE_MATCH) == etag:
        response: web.StreamResponse = web.Response(status=304, headers=responses.headers(context, responses.JSON))
        del response.headers[hdrs.CONTENT_TYPE]
    else:
        response = await output.respond_value(request, context, document, chosen, types=builtin())
        response.headers[hdrs.CONTENT_TYPE] = chosen.media_type + _AGGREGATED_SUFFIX
    response.headers[hdrs.VARY] = hdrs.ACCEPT
    response.headers[hdrs.ETAG] = etag
    response.headers[hdrs.CACHE_CONTROL] = "public"
    return response
