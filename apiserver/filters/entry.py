"""Entry: the outermost step of a request. It makes the RequestContext, with the Audit-ID of the client or a new one.

Must hold: every log line and response of a request can name its audit id. No request waits here: its user is not known
yet, nor its priority.
"""

import itertools
from collections.abc import Awaitable, Callable

from aiohttp import web

from aio_apiserver.apiserver.wire.client_warnings import Warnings
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.served_requests import ServedRequest
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.jitter import chance

_LAST = (1 << 48) - 1
_PROCESS = "{:08x}-{:04x}-4{:03x}-a{:03x}".format(*map(chance.getrandbits, (32, 16, 12, 12)))
_count = itertools.count(chance.getrandbits(48))


def with_context(handler: Handler, clock: Clock) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    """The filter chain in the form that aiohttp's server calls."""

    def begin(request: web.BaseRequest) -> Awaitable[web.StreamResponse]:
        assert isinstance(request, ServedRequest)
        head = request.head
        return handler(request, RequestContext(head.audit_id or new_id(), clock.monotonic(), Warnings(), head))

    return begin


def new_id() -> str:
    """A UUID in the form of version 4: random for this process, then counted. The uuid module takes many times as
    long.
    """
    return f"{_PROCESS}-{next(_count) & _LAST:012x}"
