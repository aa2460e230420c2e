"""report_endpoint: the report of a running server as a file to download.

    GET /ui/api/report?user=jane     the objects that jane has changed come first; without it, those of the own user

It is registered behind `signed_in_reads`. Must hold: values of Secrets and tokens of administrators are hidden.
One report is made at a time.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from aiohttp import hdrs, web

from aio_apiserver.apiserver.console.reports.collected_report import ReportOrder, collected
from aio_apiserver.apiserver.console.reports.report_page import report_page
from aio_apiserver.apiserver.console.timeline.history import HistoryMoment, ServerHistory
from aio_apiserver.apiserver.wire import parameters, responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base import worker_thread

REPORT = "/ui/api/report"
TITLE = "What happened lately"


class ReportEndpoint:
    """The endpoint of one server. secrets: values that are hidden, such as the administrator's token."""

    def __init__(self, history: ServerHistory, secrets: Sequence[str]) -> None:
        self._history = history
        self._secrets = secrets
        self._making = asyncio.Lock()

    async def handle(self, _request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Send the report."""
        user = context.user.name
        by = parameters.text(context.query, "user") or user
        order = ReportOrder(title=TITLE, by=by, secrets=self._secrets, user=user)
        async with self._making:
            data = await collected(self._history, HistoryMoment(), order)
            page = await worker_thread.run(partial(report_page, data), user)
        response = responses.raw(context, page, content_type="text/html; charset=utf-8")
        response.headers[hdrs.CONTENT_DISPOSITION] = 'attachment; filename="apiserver-report.html"'
        response.headers[responses.NOSNIFF] = "nosniff"
        return response
