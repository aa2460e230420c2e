"""request_trace: the filter that records requests for the timeline: client, verb, object, status, duration, refusal.

Written and read on the server's event loop. Must hold: no body, no header with credentials and no query is kept. The
record has at most 5,000 requests, those that began, ended or had a fault last.
"""

import asyncio
import secrets
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import Any

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.console.timeline.traced_request import TracedRequest
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.watch_responses import until_ended
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.request_steps import RequestStep
from aio_apiserver.registry.generic.audit.levels import Level
from aio_apiserver.registry.generic.audit.policy import Recording
from aio_apiserver.registry.generic.audit.trail import Event, Trail

MOST = 5000
_OWN_PATHS = "/ui/"
_LONGEST = 2000


class RequestTrace:
    """The record of one server, oldest first. mark: the header by which requests of the console are known."""

    def __init__(self, clock: Clock, mark: str, most: int = MOST) -> None:
        self._clock = clock
        self._mark = mark
        self._most = most
        self._newest: dict[int, tuple[int, TracedRequest]] = {}
        """The requests by number, each with its position. A begin, an end and a fault in a watch move it to the end."""
        self._position = 0
        self.record = secrets.token_hex(4)
        """The name of this record among those of all workers that there have been."""

    @property
    def position(self) -> int:
        """How often a request of the record has changed."""
        return self._position

    def after(self, position: int) -> Sequence[dict[str, Any]]:
        """The requests that have changed after a position."""
        newer = takewhile(lambda pair: pair[0] > position, reversed(self._newest.values()))
        return [one.as_json() for _, one in newer][::-1]

    def with_tracing(self, handler: Handler) -> Handler:
        """The filter that records requests."""

        async def traced(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            if context.path.startswith(_OWN_PATHS):
                return await handler(request, context)
            one, trail = self._begin(request, context), context.trail or _trail(request, context, self._clock)
            try:
                note_step = partial(self._take_step, one)
                response = await handler(request, replace(context, trail=trail, note_step=note_step))
                await until_ended(response)
            except StatusError as failure:
                self._end(one, context, trail, failure.code, failure.message)
                raise
            except (asyncio.CancelledError, ConnectionError):
                self._end(one, context, trail, _code(trail), "the connection was closed")
                raise
            one.fault = response.headers.get(responses.FAULT, "")
            self._end(one, context, trail, response.status, "")
            return response

        return traced

    def _begin(self, request: web.BaseRequest, context: RequestContext) -> TracedRequest:
        info = context.info
        one = TracedRequest(
            number=self._position + 1,
            at=self._clock.now() - (self._clock.monotonic() - context.received),
            info=info,
            name=info.name[:_LONGEST],
            path="" if info.resource else context.path[:_LONGEST],
            user=context.user.name,
            client="console" if self._mark in request.headers else request.headers.get(hdrs.USER_AGENT, "")[:200],
        )
        self._note(one)
        return one

    def _end(self, one: TracedRequest, context: RequestContext, trail: Trail, status: int, message: str) -> None:
        failed = trail.status or {}
        one.seconds, one.status = self._clock.monotonic() - context.received, status
        one.reason = str(failed.get("reason", ""))
        text = str(failed.get("message", "")) or message
        one.message = one.masked(text[:_LONGEST])
        one.name = one.name or (trail.reference or {}).get("name", "")
        one.notes = {name: text[:_LONGEST] for name, text in trail.annotations.items()}
        self._note(one)

    def _take_step(self, one: TracedRequest, step: RequestStep) -> None:
        """Keep a step of a request. Clients that follow the timeline get a running watch again for each fault in it."""
        if one.take_step(step, self._clock.now()) and one.info.verb == "watch":
            self._note(one)

    def _note(self, one: TracedRequest) -> None:
        self._position += 1
        self._newest.pop(one.number, None)
        self._newest[one.number] = self._position, one
        if len(self._newest) > self._most:
            del self._newest[next(iter(self._newest))]


def _code(trail: Trail) -> int:
    return int((trail.status or {}).get("code", 0))


def _trail(request: web.BaseRequest, context: RequestContext, clock: Clock) -> Trail:
    """A trail for a request that no audit policy records. Its events go nowhere."""
    info = context.info
    return Trail(
        recording=Recording(Level.METADATA),
        tell=_ignore,
        clock=clock,
        audit_id=context.audit_id,
        uri=request.raw_path,
        verb=info.verb,
        user=context.user,
        source_ips=[],
        user_agent="",
        received=0.0,
        is_long_running=info.is_long_running,
        reference={"namespace": info.namespace, "name": info.name} if info.is_resource else None,
        annotations=dict(context.notes),
    )


async def _ignore(_event: Event) -> bool:
    return True
