"""reports: the report of a test: what happened on its server, as an HTML file and as lines for a summary page.

The modules of the console are loaded for the first report, so that a test without one does not load them.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aio_apiserver.apiserver.server import Server as Running
from aio_apiserver.base import private_files
from aio_apiserver.registry.base.deferred import Deferred

if TYPE_CHECKING:
    from aio_apiserver.apiserver.console.reports import collected_report, report_page, report_summary
    from aio_apiserver.apiserver.console.timeline import history
    from aio_apiserver.apiserver.console.timeline.history import HistoryMoment
else:
    collected_report = Deferred("aio_apiserver.apiserver.console.reports.collected_report")
    report_page = Deferred("aio_apiserver.apiserver.console.reports.report_page")
    report_summary = Deferred("aio_apiserver.apiserver.console.reports.report_summary")
    history = Deferred("aio_apiserver.apiserver.console.timeline.history")

_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable by which GitHub Actions names the file for Markdown of a job."""


async def contents(
    running: Running, since: "HistoryMoment | None", title: str, texts: Sequence[tuple[str, str]], by: str
) -> dict[str, Any]:
    """The contents of a report since a moment, or since the start. by: the user whose objects come first."""
    assert running.parts.console is not None
    order = collected_report.ReportOrder(
        title=title or "Report",
        texts=[collected_report.ReportText(*one) for one in texts],
        by=by,
        secrets=running.pki.admin_tokens,
    )
    return await collected_report.collected(running.parts.console.history, since or history.HistoryMoment(), order)


def write(path: Path, data: Mapping[str, Any]) -> None:
    """Write the file of a report, with its folder. Where GitHub Actions has a summary page, add some lines there."""
    private_files.put(path, report_page.report_page(dict(data)), is_durable=False)
    summary = os.environ.get(_SUMMARY)
    if summary:
        with Path(summary).open("a") as file:
            file.write(report_summary.report_summary(dict(data), path.name))
