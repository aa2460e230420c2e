"""Entry: the outermost step of a request. It makes the RequestContext, with the Audit-ID of the client or a new one.

Must hold: every log line and response of a request can name its audit id.
"""

import random
from collections.abc import Awaitable, Callable

from aiohttp import web
from multidict import istr

from aio_apiserver.apiserver.wire.client_warnings import Warnings
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.storage.clock import Clock

HEADER = istr("Audit-ID")
_random = random.Random()  # noqa: S311 - ids are not secrets


def with_context(handler: Handler, clock: Clock) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    """The filter chain in the form that aiohttp's server calls."""

    def begin(request: web.BaseRequest) -> Awaitable[web.StreamResponse]:
        audit_id = request.headers.get(HEADER) or new_id()
        return handler(request, RequestContext(audit_id, clock.monotonic(), Warnings()))

    return begin


def new_id() -> str:
    """A random UUID of version 4. The uuid module takes several times as long."""
    text = _random.randbytes(16).hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"
