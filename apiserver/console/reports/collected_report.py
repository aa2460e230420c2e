"""collected_report: a report as JSON: the timeline after a moment, and the Kubernetes objects that changed.

Must hold: no value of a Secret that can be read is in it. The values are replaced in all its texts. So a copy in a
config map, a message or the log is hidden, too. Values of less than six letters stay: they are parts of usual words.
What could not be searched for the values is left out, and the findings say so. Reading gives way to requests. An object
that cannot be read is named in the findings and left out.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from aio_apiserver.apiserver.console.reports.changed_objects import Writes, changed_objects
from aio_apiserver.apiserver.console.reports.findings import findings, withheld
from aio_apiserver.apiserver.console.reports.redaction import Redaction
from aio_apiserver.apiserver.console.reports.secret_texts import SecretTexts
from aio_apiserver.apiserver.console.reports.stored_secrets import secret_values
from aio_apiserver.apiserver.console.timeline.history import HistoryMoment, ServerHistory
from aio_apiserver.base import worker_thread
from aio_apiserver.base.budget import BudgetExceeded

ReportData = dict[str, Any]


class ReportText(Struct, frozen=True):
    """A text for a report: the failure of a test, its log."""

    title: str
    text: str


class ReportOrder(Struct, frozen=True, kw_only=True):
    """What is wanted of a report. by: the user whose objects come first; empty for none. secrets: further values to
    hide, such as tokens. user: who gets it.
    """

    title: str
    texts: Sequence[ReportText] = ()
    by: str = ""
    secrets: Sequence[str] = ()
    user: str = worker_thread.STORE


async def collected(history: ServerHistory, since: HistoryMoment, order: ReportOrder) -> ReportData:
    """The contents of a report."""
    unreadable: set[str] = set()
    timeline = await history.after(since, order.user)
    writes = Writes(timeline["requests"])
    objects = await changed_objects(
        history, since.revision, writes, by=order.by, user=order.user, unreadable=unreadable
    )
    hidden = await _secret_texts(history, order, unreadable)
    redaction = Redaction(hidden, order.user)
    outstanding = findings(timeline["requests"], timeline["changes"], timeline["events"], sorted(unreadable))
    parts: ReportData = {
        "title": await redaction.text(order.title),
        "findings": await redaction.each(outstanding),
        "texts": [
            {"title": await redaction.text(one.title), "text": await redaction.text(one.text)} for one in order.texts
        ],
        "objects": await redaction.each(objects),
    }
    timeline = {**timeline, **{name: await _newest(redaction, timeline[name]) for name in _LISTS}}
    return {**parts, "timeline": timeline, "findings": [*withheld(redaction.withheld), *parts["findings"]]}


_LISTS = ("changes", "requests", "events")


async def _newest(redaction: Redaction, entries: Sequence[Any]) -> list[Any]:
    """The entries, of which the oldest are the first to be left out."""
    return (await redaction.each(reversed(entries)))[::-1]


async def _secret_texts(history: ServerHistory, order: ReportOrder, unreadable: set[str]) -> SecretTexts | None:
    """What is to be hidden; None when there are too many values."""
    try:
        values = await secret_values(history, order.secrets, unreadable, order.user)
    except BudgetExceeded:
        return None
    return await worker_thread.run(partial(SecretTexts, values), order.user)
