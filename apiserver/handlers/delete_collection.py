"""Delete collection: DELETE without a name, all objects that the query selects."""

from aiohttp import web

from aio_apiserver.apiserver.handlers import delete_options, output
from aio_apiserver.apiserver.handlers.rest_request import rest_request
from aio_apiserver.apiserver.wire import parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base import tracing
from aio_apiserver.registry.generic.options import check_delete
from aio_apiserver.registry.generic.rest import Deleter
from aio_apiserver.registry.generic.served import Served


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Deleter]) -> web.StreamResponse:
    """Delete the selected objects. The response is their list."""
    chosen = output.negotiated(context, served)
    selected = parameters.selection(context.query, served.kind)
    options = await delete_options.read(request, context, served)
    check_delete(options)
    result = await served.storage.delete_collection(rest_request(context, served), options, selected.list_options())
    tracing.current().step("About to write a response")
    return await output.respond_list(request, context, served, result, chosen)
