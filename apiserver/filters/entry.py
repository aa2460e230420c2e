"""Entry: the outermost step of a request. It makes the RequestContext, with the Audit-ID of the client or a new one.

Writes wait here for their turn (storage/kv/write_turns.py). Must hold: every log line and response of a request can
name its audit id.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable

from aiohttp import hdrs, web

from aio_apiserver.apiserver.wire.client_warnings import Warnings
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.served_requests import ServedRequest
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.jitter import chance
from aio_apiserver.storage.kv.write_turns import WriteTurns

_READS = frozenset({hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_OPTIONS})
_LAST = (1 << 48) - 1
_PROCESS = "{:08x}-{:04x}-4{:03x}-a{:03x}".format(*map(chance.getrandbits, (32, 16, 12, 12)))
_count = itertools.count(chance.getrandbits(48))


def with_context(
    handler: Handler, clock: Clock, turns: WriteTurns
) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    """The filter chain in the form that aiohttp's server calls."""

    def begin(request: web.BaseRequest) -> Awaitable[web.StreamResponse]:
        assert isinstance(request, ServedRequest)
        head, now = request.head, clock.monotonic()
        context = RequestContext(head.audit_id or new_id(), now, Warnings(), head)
        if request.method in _READS:
            turns.reads += 1
            turns.read_at = now
            return handler(request, context)
        turn = turns.begin_write(now)
        return handler(request, context) if turn is None else behind(turn, request, context)

    async def behind(
        turn: asyncio.Future[None], request: web.BaseRequest, context: RequestContext
    ) -> web.StreamResponse:
        await turn
        return await handler(request, context)

    return begin


def new_id() -> str:
    """A UUID in the form of version 4: random for this process, then counted. The uuid module takes many times as
    long.
    """
    return f"{_PROCESS}-{next(_count) & _LAST:012x}"
