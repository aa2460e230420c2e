"""report_endpoint: the report of a running server as a file to download.

    GET /ui/api/report

It is registered behind `signed_in_reads`. Must hold: values of Secrets and tokens of administrators are hidden.
"""

from collections.abc import Sequence

from aiohttp import hdrs, web

from aio_apiserver.apiserver.console.reports.collected_report import collected
from aio_apiserver.apiserver.console.reports.report_page import report_page
from aio_apiserver.apiserver.console.timeline.history import HistoryMoment, ServerHistory
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext

REPORT = "/ui/api/report"
TITLE = "What happened lately"


class ReportEndpoint:
    """The endpoint of one server. secrets: values that are hidden, such as the administrator's token."""

    def __init__(self, history: ServerHistory, secrets: Sequence[str]) -> None:
        self._history = history
        self._secrets = secrets

    async def handle(self, _request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Send the report."""
        data = await collected(self._history, HistoryMoment(), title=TITLE, secrets=self._secrets)
        response = responses.raw(context, report_page(data), content_type="text/html; charset=utf-8")
        response.headers[hdrs.CONTENT_DISPOSITION] = 'attachment; filename="apiserver-report.html"'
        response.headers[responses.NOSNIFF] = "nosniff"
        return response
