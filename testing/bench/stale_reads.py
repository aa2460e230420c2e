"""Stale reads: gets and lists of an old resource version, as from a cache that lags.

Must hold: the response is the state at the resource version that it names. A watch from that version has no gap.
"""

from typing import Any

from aiohttp import web
from msgspec.structs import replace

from aio_apiserver.apiserver.handlers import output
from aio_apiserver.apiserver.handlers.rest_request import rest_request
from aio_apiserver.apiserver.wire import parameters, route_errors
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.storage.interface import ListOptions, ResourceVersionMatch
from aio_apiserver.storage.selection import Operator, Requirement, SelectionPredicate

_NEWEST = ("resourceVersion", "resourceVersionMatch")


def listing(context: RequestContext, version: int) -> RequestContext:
    """The context with another resource version to list. Further pages of a list keep their own version."""
    if parameters.text(context.query, "continue"):
        return context
    others = {name: values for name, values in context.query.items() if name not in _NEWEST}
    query = {**others, "resourceVersion": [str(version)], "resourceVersionMatch": [ResourceVersionMatch.EXACT.value]}
    return replace(context, query=query)


async def get(
    request: web.BaseRequest, context: RequestContext, *, served: ServedPaths, version: int
) -> web.StreamResponse:
    """Respond with an object at an old version."""
    info = context.info
    path = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    one = served.get((info.group, info.version, path))
    of_objects = served.get((info.group, info.version, info.resource))
    if one is None or of_objects is None:
        raise route_errors.RouteNotFound
    return await _respond(request, context, one, of_objects, version=version)


async def _respond(
    request: web.BaseRequest, context: RequestContext, one: Served[Any], of_objects: Served[Any], *, version: int
) -> web.StreamResponse:
    chosen = output.negotiated(context, one)
    named = SelectionPredicate((), (Requirement("metadata.name", Operator.IN, frozenset({context.info.name})),))
    options = ListOptions(resource_version=version, match=ResourceVersionMatch.EXACT, predicate=named)
    found = await of_objects.storage.list(rest_request(context, of_objects), options)
    if not found.items:
        raise errors.NotFound(one.resource, context.info.name)
    return await output.respond_object(request, context, one, found.items[0], chosen)
