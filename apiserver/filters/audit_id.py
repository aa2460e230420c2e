"""Audit ids: every request has one, its client's or a new one. This is where a request's context begins.

Outermost: from here on everything that is answered or logged can name the request.
"""

import random
from collections.abc import Awaitable, Callable

from aiohttp import web
from multidict import istr

from aio_apiserver.apiserver.wire.client_warnings import Warnings
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.storage.clock import Clock

HEADER = istr("Audit-ID")
_random = random.Random()  # noqa: S311 - ids tell requests apart, they are no secrets


def entry(handler: Handler, clock: Clock) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    """The chain as aiohttp calls it."""

    def begin(request: web.BaseRequest) -> Awaitable[web.StreamResponse]:
        audit_id = request.headers.get(HEADER) or new_id()
        return handler(request, RequestContext(audit_id, clock.monotonic(), Warnings()))

    return begin


def new_id() -> str:
    """A random UUID (of version 4), in a small part of the time that the uuid module takes."""
    text = _random.randbytes(16).hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"
