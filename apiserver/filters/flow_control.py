"""Flow control: no more requests at once than the server is set up for; the rest is asked to come again.

Reading and changing requests have limits of their own, long-running ones none, and system:masters always gets in.
"""

from collections.abc import Callable

from aiohttp import web

from apiserver.context import Handler, RequestContext
from registry import errors
from registry.access.users import MASTERS

OnRefused = Callable[[RequestContext], None]


def _nobody(_context: RequestContext) -> None:
    """Tells nobody."""


class FlowControl:
    """Counts requests in flight. A limit of 0 is none."""

    def __init__(self, *, max_reading: int, max_changing: int) -> None:
        self._limits = {True: max_reading, False: max_changing}
        self._in_flight = {True: 0, False: 0}

    def with_limits(self, handler: Handler, on_refused: OnRefused = _nobody) -> Handler:
        """Refuse what is too much, and tell who wants to know."""
        in_flight, limits = self._in_flight, self._limits

        async def admitted(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            if context.info.is_long_running:
                return await handler(request, context)
            is_reading = context.info.is_reading
            if 0 < limits[is_reading] <= in_flight[is_reading] and MASTERS not in context.user.groups:
                on_refused(context)
                raise errors.TooManyRequests("Too many requests, please try again later.")
            in_flight[is_reading] += 1
            try:
                return await handler(request, context)
            finally:
                in_flight[is_reading] -= 1

        return admitted

    @property
    def reading(self) -> int:
        """Requests in flight that change nothing."""
        return self._in_flight[True]

    @property
    def changing(self) -> int:
        """Requests in flight that may change something."""
        return self._in_flight[False]
