"""Connection limits: answers 429 to a user with too many connections, and to one that begins too many watches.

Members of system:masters have no limit, as in flow control. Must hold: a connection above the limit is closed after the
response.
"""

from collections.abc import Awaitable

from aiohttp import web

from aio_apiserver.apiserver.filters.fairness import too_many
from aio_apiserver.apiserver.wire.connections import HTTPConnection
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.generic.access.users import MASTERS
from aio_apiserver.registry.plugins.flowcontrol.watch_starts import WatchStarts

_RETRY_SECONDS = 1


def with_connection_limits(handler: Handler, *, starts: WatchStarts) -> Handler:
    """Refuse requests of users above their limits."""

    def limited(request: web.BaseRequest, context: RequestContext) -> Awaitable[web.StreamResponse]:
        user = context.user
        connection = request.protocol
        assert isinstance(connection, HTTPConnection)
        if connection.user is not user.name and MASTERS not in user.groups and not connection.count_for(user.name):
            return _refused(context, _RETRY_SECONDS)
        if context.info.verb == "watch" and MASTERS not in user.groups:
            seconds = starts.begin(user.name)
            if seconds:
                return _refused(context, seconds)
        return handler(request, context)

    return limited


async def _refused(context: RequestContext, seconds: int) -> web.StreamResponse:
    response = too_many(context, seconds)
    response.force_close()
    return response
