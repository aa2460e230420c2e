"""Context: RequestContext, Handler and Filter, the types from which the filter chain is built.

A filter takes the next handler and returns a handler. It passes its findings on as a new context, not in context
variables.

Must hold: a context does not change, but for its warnings and the fields of its log line. A filter that is not in the
chain costs nothing.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from aiohttp import web
from msgspec import Struct

from aio_apiserver.apiserver.wire.client_warnings import Warnings
from aio_apiserver.apiserver.wire.heads import NO_HEAD, RequestHead
from aio_apiserver.apiserver.wire.request_info import UNRESOLVED, RequestInfo
from aio_apiserver.apiserver.wire.urls import NO_QUERY, Query
from aio_apiserver.registry.base.request_steps import NoteStep, ignore_step
from aio_apiserver.registry.generic.access.users import ANONYMOUS, UserInfo
from aio_apiserver.registry.generic.audit.annotations import Annotate, unnoted
from aio_apiserver.registry.generic.audit.trail import Trail
from aio_apiserver.registry.groups.flowcontrol.classification import Flow
from aio_apiserver.storage.interface import WatchSink

if TYPE_CHECKING:
    from aio_apiserver.apiserver.wire.watch_streams import WatchStream


NO_NOTES: Mapping[str, str] = MappingProxyType({})


class RequestContext(Struct, frozen=True):
    """The facts about one request. The filters add them in the order of app.py.

    received, deadline: on the clock's monotonic scale; a deadline of 0 means none.
    head: the facts in the header fields. path: decoded. user: ANONYMOUS until authentication has run.
    warnings: the one field that changes.
    flow: the flow schema and priority level; None before flow control, and without it.
    fault: the name of a fault that the test bench injects. sink_of: wraps the stream of a watch, for the test bench.
    notes: the first annotations of the audit event. trail: the audit record, after authentication; None when the audit
    policy does not record the request. note_step: takes steps of the request for the console's timeline. log_fields:
    what filters add to the log line of the request; None when requests are not logged. on_started: called when a
    handler begins to send its response itself.
    """

    audit_id: str
    received: float
    warnings: Warnings
    head: RequestHead = NO_HEAD
    path: str = ""
    query: Query = NO_QUERY
    info: RequestInfo = UNRESOLVED
    user: UserInfo = ANONYMOUS
    deadline: float = 0.0
    flow: Flow | None = None
    fault: str = ""
    sink_of: "SinkOf | None" = None
    trail: Trail | None = None
    notes: Mapping[str, str] = NO_NOTES
    note_step: NoteStep = ignore_step
    log_fields: dict[str, object] | None = None
    on_started: Callable[[], None] | None = None

    @property
    def annotate(self) -> Annotate:
        """The function that adds an annotation to the audit event, if there is one."""
        return unnoted if self.trail is None else self.trail.annotate

    def annotate_at_end(self, key: str, value: str) -> None:
        """Add an annotation to the last audit event, if there is one."""
        if self.trail is not None:
            self.trail.annotate_at_end(key, value)

    async def started(self, code: int) -> None:
        """Report that a handler begins to send its response itself."""
        if self.on_started is not None:
            self.on_started()
        if self.trail is not None:
            await self.trail.started(code)


SinkOf = Callable[["WatchStream", float], WatchSink]
"""From the stream of a watch and its duration in seconds to the sink that gets the events."""

Handler = Callable[[web.BaseRequest, RequestContext], Awaitable[web.StreamResponse]]
Filter = Callable[[Handler], Handler]


def compose(filters: Sequence[Filter], handler: Handler) -> Handler:
    """The handler with the filters around it, the first one outermost."""
    for wrap in reversed(filters):
        handler = wrap(handler)
    return handler
