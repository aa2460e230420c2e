"""RequestContext, Handler and Filter: what a request carries on its way, and how the way is put together.

A filter takes the next handler and returns a handler; what it finds out it hands on as a new context. Nothing is
hidden in context variables or on the request. Must hold: a context never changes; a filter that is not there
costs nothing.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from aiohttp import web
from msgspec import Struct

from aio_apiserver.apiserver.wire.client_warnings import Warnings
from aio_apiserver.apiserver.wire.request_info import UNRESOLVED, RequestInfo
from aio_apiserver.apiserver.wire.urls import NO_QUERY, Query
from aio_apiserver.registry.generic.access.users import ANONYMOUS, UserInfo
from aio_apiserver.registry.generic.audit.annotations import Annotate, unnoted
from aio_apiserver.registry.generic.audit.trail import Trail
from aio_apiserver.registry.groups.flowcontrol.classification import Flow
from aio_apiserver.storage.interface import WatchSink

if TYPE_CHECKING:
    from aio_apiserver.apiserver.wire.watch_streams import WatchStream


NO_NOTES: Mapping[str, str] = MappingProxyType({})


class RequestContext(Struct, frozen=True):
    """What is known of a request. Filters fill it in the order of app.py.

    received, deadline: on the clock's monotonic scale; a deadline of 0 is none.
    path: decoded. user: ANONYMOUS until authentication has run. warnings: the one part that grows.
    flow: None until flow control has looked, and when there is nothing to know.
    fault: what goes wrong on purpose, for the answer to say. sink_of: what stands before the stream of a watch.
    notes: what the record of the request begins with. trail: that record, once it is known who asks; None if there
    is none. on_started: who wants to know when the answer begins that is sent from within its handler.
    """

    audit_id: str
    received: float
    warnings: Warnings
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
    on_started: Callable[[], None] | None = None

    @property
    def annotate(self) -> Annotate:
        """Notes something in the record of the request, if there is one."""
        return unnoted if self.trail is None else self.trail.annotate

    async def started(self, code: int) -> None:
        """An answer begins that is sent from within its handler: its record says so."""
        if self.on_started is not None:
            self.on_started()
        if self.trail is not None:
            await self.trail.started(code)


SinkOf = Callable[["WatchStream", float], WatchSink]
"""Takes the stream of a watch and the seconds that it lasts, and gives what the watch delivers to."""

Handler = Callable[[web.BaseRequest, RequestContext], Awaitable[web.StreamResponse]]
Filter = Callable[[Handler], Handler]


def compose(filters: Sequence[Filter], handler: Handler) -> Handler:
    """The handler with the filters around it, the first one outermost."""
    for wrap in reversed(filters):
        handler = wrap(handler)
    return handler
