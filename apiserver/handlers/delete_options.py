"""Delete options: reads the DeleteOptions of a deletion from its body, or without a body from its query."""

from typing import Any

from aiohttp import web

from aio_apiserver.apiserver.handlers import audit_objects
from aio_apiserver.apiserver.wire import bodies, parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.generic.bodies import delete_options
from aio_apiserver.registry.generic.options import DeleteOptions, delete_options_of
from aio_apiserver.registry.generic.served import Served


async def read(request: web.BaseRequest, context: RequestContext, served: Served[Any]) -> DeleteOptions:
    """The options, not validated. Raises BadRequest, UnsupportedMediaType."""
    body = await bodies.read_typed(request, context)
    if not body.text:
        return parameters.delete_options(context.query)
    decoded = await delete_options.decode(body, served.types)
    audit_objects.sent_options(context, served, decoded)
    return delete_options_of(decoded)
