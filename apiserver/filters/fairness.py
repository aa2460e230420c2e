"""Fairness: API priority and fairness. A request runs at once, waits in a queue, or gets 429 with Retry-After.

A running request has seats. A list has them until it has been sent, or until its client stalls. What the server
encodes for it then has its user's share of the worker thread. A watch has them until it has begun; other long-running
requests have none. How queues choose is the duty of registry/plugins/flowcontrol.

Must hold: every response of the inner filters, and the 429 itself, names the flow schema and priority level of the
request.
"""

from collections.abc import Callable

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.filters import errors, sending
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.connections import HTTPConnection
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.apiserver.wire.watch_responses import when_ended
from aio_apiserver.base import tracing
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tracing import TraceLayer
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane
from aio_apiserver.registry.plugins.flowcontrol.occupancy import InFlight
from aio_apiserver.registry.plugins.flowcontrol.open_watches import WatchScope
from aio_apiserver.registry.plugins.flowcontrol.tickets import GET, ONE_SEAT, Ticket, Work

OnRefused = Callable[[RequestContext], None]
MakeTicket = Callable[[Lane, Work, float, RequestContext], Ticket]

TOO_MANY = "Too many requests, please try again later.\n"
_WRITES = frozenset({"create", "update", "patch", "delete"})
_SENT_HERE = ("watch", "list")
_LONGEST_WAIT = 60.0
_PART = 4
"""A request may wait for a quarter of the time to its deadline."""


class FairnessFilter:
    """Schedules requests by their flows. request_seconds: the time limit of requests that have no deadline.

    It answers failures of the inner filters, with the flow of their request.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        fairness: Fairness,
        in_flight: InFlight,
        clock: Clock,
        draining: Draining,
        request_seconds: float,
        on_refused: OnRefused,
        make_ticket: MakeTicket = Ticket,
    ) -> None:
        self._handler = handler
        self._fairness = fairness
        self._in_flight = in_flight
        self._clock = clock
        self._draining = draining
        self._request_seconds = request_seconds
        self._on_refused = on_refused
        self._make_ticket = make_ticket

    async def __call__(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Run the request when it has a seat, or answer 429."""
        info = context.info
        verb = info.verb
        if verb != "watch" and info.is_long_running:
            return await self._handler(request, context)
        fairness = self._fairness
        path = "" if info.is_resource else info.path
        classified = verb, path, info.group, info.namespace, info.resource, info.subresource
        lane = fairness.lane_of(context.user, classified)
        context = replace(context, flow=lane.flow)
        work = GET if verb == "get" or path else _work(fairness, lane, context)
        ticket = self._make_ticket(lane, work, self._clock.monotonic(), context)
        if not fairness.enter(ticket) or (ticket.decision is not None and not await self._wait(ticket, context)):
            self._on_refused(context)
            return too_many(context, fairness.retry_after(lane))
        running = self._in_flight.reading if info.is_reading else self._in_flight.changing
        running.change(1, ticket.started)
        if verb in _SENT_HERE:
            return await (self._watch if verb == "watch" else self._list)(request, context, ticket)
        try:
            return await self._handler(request, context)
        except Exception as failure:  # noqa: BLE001 - it is answered, and logged if it is a defect
            return errors.answer(request, context, failure)
        finally:
            running.change(-1, fairness.leave(ticket))

    async def _watch(self, request: web.BaseRequest, context: RequestContext, ticket: Ticket) -> web.StreamResponse:
        """Release the seats when the watch has begun or failed."""
        fairness, info = self._fairness, context.info
        begun = _once(lambda: self._in_flight.reading.change(-1, fairness.leave(ticket, is_watch=True)))
        watched = WatchScope(info.group, info.resource, info.namespace, info.name)
        selectors = context.query.get("fieldSelector")
        closed = fairness.watches.opened(watched, selectors[0] if selectors else "")
        try:
            response = await self._begun(request, replace(context, on_started=begun))
        except BaseException:
            closed()
            raise
        finally:
            begun()
        when_ended(response, closed)
        return response

    async def _begun(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Begin a watch."""
        try:
            return await self._handler(request, context)
        except Exception as failure:  # noqa: BLE001 - it is answered, and logged if it is a defect
            return errors.answer(request, context, failure)

    async def _list(self, request: web.BaseRequest, context: RequestContext, ticket: Ticket) -> web.StreamResponse:
        """Send a list. The seats are released when it has been sent, or when its client stalls."""
        leave = _once(lambda: self._in_flight.reading.change(-1, self._fairness.leave(ticket)))
        connection = request.protocol
        assert isinstance(connection, HTTPConnection)
        try:
            response = await self._handler(request, context)
            with connection.calls_when_stalled(leave):
                rest = sending.sending(request, response, self._draining)
                if rest is not None:
                    await rest
            return response
        except Exception as failure:  # noqa: BLE001 - it is answered, and logged if it is a defect
            return errors.answer(request, context, failure)
        finally:
            leave()

    async def _wait(self, ticket: Ticket, context: RequestContext) -> bool:
        """Wait for a seat. Returns whether the request has one."""
        seconds = (context.deadline - context.received if context.deadline else self._request_seconds) / _PART
        in_flight = self._in_flight
        waiting = in_flight.waiting_to_read if context.info.is_reading else in_flight.waiting_to_change
        waiting.change(1, ticket.arrived)
        try:
            return await self._fairness.wait(ticket, context.received + min(seconds, _LONGEST_WAIT))
        finally:
            now = self._clock.monotonic()
            waiting.change(-1, now)
            tracing.current().took(TraceLayer.QUEUE, now - ticket.arrived)


def _once(act: Callable[[], None]) -> Callable[[], None]:
    """The function for its first call; later calls do nothing."""
    pending = [act]

    def once() -> None:
        if pending:
            pending.pop()()

    return once


def too_many(context: RequestContext, retry_after: int) -> web.StreamResponse:
    """The 429 for a client that has to try again later."""
    response = responses.text(context, TOO_MANY, status=429)
    response.headers[hdrs.RETRY_AFTER] = str(retry_after)
    return response


def logged_ticket(lane: Lane, work: Work, now: float, context: RequestContext) -> Ticket:
    """A ticket whose facts are also fields of the log line of its request."""
    assert context.log_fields is not None
    context.log_fields.update(
        {
            "apf_pl": lane.level.config.name,
            "apf_fs": lane.schema,
            "apf_iseats": work.initial,
            "apf_fseats": work.final,
            "apf_additionalLatency": durations.show(work.seconds),
        }
    )
    return Ticket(lane, work, now, context)


def _work(fairness: Fairness, lane: Lane, context: RequestContext) -> Work:
    info, estimator = context.info, fairness.estimator
    verb = info.verb
    if verb in _WRITES:
        written = WatchScope(info.group, info.resource, info.namespace, info.name)
        return estimator.of_write(lane, written, info.subresource)
    if verb == "list":
        return estimator.of_list(lane, (info.group, info.resource), info.name, context.query)
    if verb == "watch":
        return estimator.of_watch(lane, (info.group, info.resource), info.name, context.query)
    return ONE_SEAT
