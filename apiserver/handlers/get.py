"""Get: GET with a name, one object."""

from aiohttp import web

from aio_apiserver.apiserver.handlers import output
from aio_apiserver.apiserver.handlers.rest_request import rest_request
from aio_apiserver.apiserver.wire import parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.urls import Query
from aio_apiserver.base import tracing
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.generic.rest import Getter
from aio_apiserver.registry.generic.served import Served


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Getter]) -> web.StreamResponse:
    """The response is the object."""
    chosen = output.negotiated(context, served)
    version = _version(context.query) if context.query else None
    found = await served.storage.get(rest_request(context, served), context.info.name, resource_version=version)
    tracing.current().step("About to write a response")
    return await output.respond_object(request, context, served, found, chosen)


def _version(query: Query) -> int | None:
    """The resource version that the client asks for."""
    if parameters.flag(query, "export"):
        raise BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
    return parameters.parse_resource_version(parameters.text(query, "resourceVersion"))
