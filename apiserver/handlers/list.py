"""List: GET without a name, the objects that the query selects, in one namespace or in all."""

from aiohttp import web

from aio_apiserver.apiserver.handlers import output
from aio_apiserver.apiserver.handlers.rest_request import rest_request
from aio_apiserver.apiserver.wire import parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base import tracing
from aio_apiserver.registry.generic.rest import Lister
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery import media_types


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Lister]) -> web.StreamResponse:
    """The response is the list."""
    chosen = output.negotiated(context, served, written=media_types.OF_COLLECTIONS)
    selected = parameters.selection(context.query, served.kind, name=context.info.name)
    step = tracing.current().step
    step("About to List from storage")
    result = await served.storage.list(rest_request(context, served), selected.list_options())
    step("Listing from storage done")
    return await output.respond_list(request, context, served, result, chosen)
