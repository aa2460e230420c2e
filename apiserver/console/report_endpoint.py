"""report_endpoint: the report of a running server as a file to download.

    GET /ui/api/report

Authorization has run before: a user needs the verb `get` on this path. Must hold: anonymous users are refused.
"""

from collections.abc import Sequence

from aiohttp import hdrs, web

from aio_apiserver.apiserver.console.reports.collected_report import collected
from aio_apiserver.apiserver.console.reports.report_page import report_page
from aio_apiserver.apiserver.console.timeline.history import HistoryMoment, ServerHistory
from aio_apiserver.apiserver.wire import responses, route_errors
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.users import ANONYMOUS

REPORT = "/ui/api/report"
TITLE = "What happened lately"


class ReportEndpoint:
    """The endpoint of one server. secrets: values that are hidden, such as the administrator's token."""

    def __init__(self, history: ServerHistory, secrets: Sequence[str]) -> None:
        self._history = history
        self._secrets = secrets

    async def handle(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Send the report."""
        if context.user == ANONYMOUS:
            raise errors.Unauthorized
        if request.method != hdrs.METH_GET:
            raise route_errors.RouteMethodNotAllowed
        data = await collected(self._history, HistoryMoment(), title=TITLE, secrets=self._secrets)
        response = responses.raw(context, report_page(data), content_type="text/html; charset=utf-8")
        response.headers[hdrs.CONTENT_DISPOSITION] = 'attachment; filename="apiserver-report.html"'
        response.headers[responses.NOSNIFF] = "nosniff"
        return response
