"""Max in flight: answers 429 above --max-requests-inflight and --max-mutating-requests-inflight.

It takes the place of fairness.py with --enable-priority-and-fairness=false. Long-running requests and requests of
system:masters have no limit.
"""

from collections.abc import Callable

from aiohttp import web

from aio_apiserver.apiserver.filters.fairness import too_many
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.generic.access.users import MASTERS
from aio_apiserver.registry.plugins.flowcontrol.occupancy import InFlight

OnRefused = Callable[[RequestContext], None]

_RETRY_SECONDS = 1


def with_max_in_flight(
    handler: Handler,
    *,
    in_flight: InFlight,
    clock: Clock,
    max_reading: int,
    max_changing: int,
    on_refused: OnRefused,
) -> Handler:
    """Refuse requests above the limits. `on_refused` is called for each of them. A limit of 0 means none."""

    async def admitted(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        info = context.info
        if info.is_long_running:
            return await handler(request, context)
        is_reading = info.is_reading
        running, limit = (in_flight.reading, max_reading) if is_reading else (in_flight.changing, max_changing)
        if 0 < limit <= running.present and MASTERS not in context.user.groups:
            on_refused(context)
            return too_many(context, _RETRY_SECONDS)
        running.change(1, clock.monotonic())
        try:
            return await handler(request, context)
        finally:
            running.change(-1, clock.monotonic())

    return admitted
