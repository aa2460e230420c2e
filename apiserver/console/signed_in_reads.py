"""signed_in_reads: the rules of all endpoints below /ui/api/: GET alone, and no anonymous user.

Authorization has run before. A user needs the verb `get` on the path (nonResourceURLs), since the endpoints show
objects of all namespaces and requests of all clients. Must hold: anonymous users are refused, also when a role allows
the path.
"""

from aiohttp import hdrs, web

from aio_apiserver.apiserver.wire import route_errors
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.users import ANONYMOUS


def of_signed_in_users(handler: Handler) -> Handler:
    """The handler behind both rules. Raises Unauthorized, RouteMethodNotAllowed."""

    async def checked(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if context.user == ANONYMOUS:
            raise errors.Unauthorized
        if request.method != hdrs.METH_GET:
            raise route_errors.RouteMethodNotAllowed
        return await handler(request, context)

    return checked
