"""request_trace: the filter that records requests for the timeline: client, verb, object, status, duration, refusal.

Written and read on the server's event loop. Must hold: no body, no header with credentials and no query is kept. The
record is bounded by bytes, and has at most 5,000 requests, those that began, ended or had a fault last. Requests of
unauthenticated clients have a small share of their own, unless they had an effect or read an object.
"""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from heapq import merge
from itertools import takewhile
from operator import itemgetter

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.console.timeline import traced_request
from aio_apiserver.apiserver.console.timeline.traced_request import TracedRequest
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.watch_responses import until_ended
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.kept_items import KeptByKey
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.request_steps import RequestStep
from aio_apiserver.registry.generic.access.users import ALL_UNAUTHENTICATED
from aio_apiserver.registry.generic.audit.levels import Level
from aio_apiserver.registry.generic.audit.policy import Recording
from aio_apiserver.registry.generic.audit.trail import Event, Trail

MOST = 5000
MOST_BYTES = 16 * 1024 * 1024
"""A request without steps takes 2 KB. So a usual record of 5,000 requests fits."""
_SHARE = 16
"""One part in so many is for requests of unauthenticated clients."""
_OWN_PATHS = "/ui/"
_OK = 400

_Placed = tuple[int, TracedRequest]
"""A position, and the request that has changed there."""


class RequestTrace:
    """The record of one server, oldest first. mark: the header by which requests of the console are known."""

    def __init__(self, clock: Clock, mark: str, most: int = MOST) -> None:
        self._clock = clock
        self._mark = mark
        self._kept: KeptByKey[int, _Placed] = KeptByKey(MOST_BYTES, most)
        """The requests by number. A begin, an end and a fault in a watch move a request to the end."""
        self._of_strangers: KeptByKey[int, _Placed] = KeptByKey(MOST_BYTES // _SHARE, max(most // _SHARE, 1))
        """The same for unauthenticated clients."""
        self._position = 0
        self.record = secrets.token_hex(4)
        """The name of this record among those of all workers that there have been."""

    @property
    def position(self) -> int:
        """How often a request of the record has changed."""
        return self._position

    def after(self, position: int) -> Sequence[TracedRequest]:
        """The requests that have changed after a position."""
        newer = (
            list(takewhile(lambda placed: placed[0] > position, reversed(share)))[::-1]
            for share in (self._kept, self._of_strangers)
        )
        return [one for _, one in merge(*newer, key=itemgetter(0))]

    def statistics(self) -> Mapping[str, Mapping[str, int]]:
        """How many requests are recorded, and their bytes."""
        return {"requests": self._kept.statistics(), "unauthenticated": self._of_strangers.statistics()}

    def with_tracing(self, handler: Handler) -> Handler:
        """The filter that records requests."""

        async def traced(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            if context.path.startswith(_OWN_PATHS):
                return await handler(request, context)
            trail = context.trail or _trail(request, context, self._clock)
            running = _RunningRequest(self, context, trail, self._clock, self._begun(request, context))
            try:
                response = await handler(request, replace(context, trail=trail, note_step=running.take_step))
                await until_ended(response)
            except StatusError as failure:
                running.end(failure.code, message=failure.message)
                raise
            except (asyncio.CancelledError, ConnectionError):
                running.end(_code(trail), message="the connection was closed")
                raise
            running.end(response.status, fault=response.headers.get(responses.FAULT, ""))
            return response

        return traced

    def note(self, one: TracedRequest, *, is_of_stranger: bool) -> None:
        """A request has begun, ended, or has a further step that clients should get."""
        self._position += 1
        share, other = (self._of_strangers, self._kept) if is_of_stranger else (self._kept, self._of_strangers)
        other.drop(one.number)
        share.put(one.number, (self._position, one), one.size)

    def _begun(self, request: web.BaseRequest, context: RequestContext) -> TracedRequest:
        return traced_request.begun(
            self._position + 1,
            self._clock.now() - (self._clock.monotonic() - context.received),
            context.info,
            path="" if context.info.resource else context.path,
            user=context.user.name,
            client="console" if self._mark in request.headers else request.headers.get(hdrs.USER_AGENT, ""),
        )


class _RunningRequest:
    """A request that runs: what its record is so far."""

    __slots__ = ("_clock", "_context", "_is_authenticated", "_record", "_trace", "_trail")

    def __init__(
        self, trace: RequestTrace, context: RequestContext, trail: Trail, clock: Clock, record: TracedRequest
    ) -> None:
        self._trace = trace
        self._context = context
        self._trail = trail
        self._clock = clock
        self._record = record
        self._is_authenticated = ALL_UNAUTHENTICATED not in context.user.groups
        self._note(is_of_stranger=not self._is_authenticated)

    def take_step(self, step: RequestStep) -> None:
        """Keep a step. Clients that follow the timeline get a running watch again for each fault in it."""
        before = self._record
        self._record = before.with_step(step, self._clock.now())
        if self._record is not before and before.verb == "watch":
            self._note(is_of_stranger=not self._is_authenticated)

    def end(self, status: int, *, message: str = "", fault: str = "") -> None:
        """The request has a response, or has none and ends."""
        failed, trail = self._trail.status or {}, self._trail
        self._record = self._record.ended(
            seconds=self._clock.monotonic() - self._context.received,
            status=status,
            message=str(failed.get("message", "")) or message,
            reason=str(failed.get("reason", "")),
            fault=fault,
            name=(trail.reference or {}).get("name", ""),
            notes=trail.annotations,
        )
        had_effect = bool(self._record.resource) and 0 < status < _OK
        self._note(is_of_stranger=not (self._is_authenticated or had_effect))

    def _note(self, *, is_of_stranger: bool) -> None:
        self._trace.note(self._record, is_of_stranger=is_of_stranger)


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
