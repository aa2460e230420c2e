"""statistics_endpoint: an hour of the server's metrics, for the plots of the console.

    GET /ui/api/statistics

Authorization has run before: a user needs the verb `get` on this path. Must hold: anonymous users are refused.
"""

from aiohttp import hdrs, web

from aio_apiserver.apiserver.console.statistics.metrics_history import MetricsHistory
from aio_apiserver.apiserver.wire import responses, route_errors
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.users import ANONYMOUS

STATISTICS = "/ui/api/statistics"


class StatisticsEndpoint:
    """The endpoint of one server."""

    def __init__(self, history: MetricsHistory) -> None:
        self._history = history

    async def handle(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Send the plots."""
        if context.user == ANONYMOUS:
            raise errors.Unauthorized
        if request.method != hdrs.METH_GET:
            raise route_errors.RouteMethodNotAllowed
        return responses.json(request, context, self._history.as_json())
