"""Get: GET with a name, one object."""

from aiohttp import web

from aio_apiserver.apiserver.handlers import output
from aio_apiserver.apiserver.handlers.rest_request import rest_request
from aio_apiserver.apiserver.wire import parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.generic.rest import Getter
from aio_apiserver.registry.generic.served import Served


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Getter]) -> web.StreamResponse:
    """The response is the object."""
    chosen = output.negotiated(context, served)
    if parameters.flag(context.query, "export"):
        raise BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
    version = parameters.parse_resource_version(parameters.text(context.query, "resourceVersion"))
    found = await served.storage.get(rest_request(context, served), context.info.name, resource_version=version)
    return await output.respond_object(request, context, served, found, chosen)
