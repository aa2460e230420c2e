"""list: the objects of a resource, in a namespace or in all, that a client selects."""

from aiohttp import web

from apiserver import negotiation, parameters
from apiserver.context import RequestContext
from apiserver.handlers import output
from apiserver.handlers.rest_request import rest_request
from apiserver.handlers.served import Served
from registry.rest import Lister


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Lister]) -> web.StreamResponse:
    """Answer with the list."""
    chosen = output.negotiated(request, served, written=negotiation.OF_COLLECTIONS)
    selected = parameters.selection(context.query, served.kind, name=context.info.name)
    result = await served.storage.list(rest_request(context, served), selected.list_options())
    return await output.respond_list(request, context, served, result, chosen)
