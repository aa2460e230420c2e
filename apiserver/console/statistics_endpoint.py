"""statistics_endpoint: an hour of the server's metrics, for the plots of the console.

    GET /ui/api/statistics

It is registered behind `signed_in_reads`, and knows no users.
"""

from aiohttp import web

from aio_apiserver.apiserver.console.statistics.metrics_history import MetricsHistory
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext

STATISTICS = "/ui/api/statistics"


class StatisticsEndpoint:
    """The endpoint of one server."""

    def __init__(self, history: MetricsHistory) -> None:
        self._history = history

    async def handle(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Send the plots."""
        return responses.json(request, context, self._history.as_json())
