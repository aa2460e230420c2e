"""Fairness: API priority and fairness. A request runs at once, waits in a queue, or gets 429 with Retry-After.

A running request has seats. A list has them until it has been sent, or until its client stalls. A watch has them until
it has begun; other long-running requests have none. It must not know how queues choose: registry/plugins/fairness does.

Must hold: every response of the inner filters, and the 429 itself, names the flow schema and priority level of the
request.
"""

from collections.abc import Callable

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.filters import errors, sending
from aio_apiserver.apiserver.wire import bodies, responses
from aio_apiserver.apiserver.wire.connections import HTTPConnection
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane
from aio_apiserver.registry.plugins.flowcontrol.occupancy import InFlight
from aio_apiserver.registry.plugins.flowcontrol.open_watches import WatchScope
from aio_apiserver.registry.plugins.flowcontrol.tickets import ONE_SEAT, Ticket, Work
from aio_apiserver.storage.clock import Clock

OnRefused = Callable[[RequestContext], None]
MakeTicket = Callable[[Lane, Work, float, RequestContext], Ticket]

TOO_MANY = "Too many requests, please try again later.\n"
_WRITES = frozenset({"create", "update", "patch", "delete"})
_WITH_BODIES = _WRITES | {"deletecollection"}
_LONGEST_WAIT = 60.0
_PART = 4
"""A request may wait for a quarter of the time to its deadline."""


def with_fairness(
    handler: Handler,
    *,
    fairness: Fairness,
    in_flight: InFlight,
    clock: Clock,
    draining: Draining,
    request_seconds: float,
    on_refused: OnRefused,
    make_ticket: MakeTicket = Ticket,
) -> Handler:
    """Schedule requests by their flows. request_seconds: the time limit of requests that have no deadline.

    Failures of the inner filters are answered here, with the flow of their request.
    """
    guarded = errors.with_errors(handler)
    early = bodies.EarlyBodies()

    async def fair(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        info = context.info
        verb = info.verb
        is_watch = verb == "watch"
        if not is_watch and info.is_long_running:
            return await handler(request, context)
        if verb in _WITH_BODIES and not request.content.is_eof() and not early.has(request):
            async with early.read(request):
                return await fair(request, context)
        path = "" if info.is_resource else info.path
        classified = verb, path, info.group, info.namespace, info.resource, info.subresource
        lane = fairness.lane_of(context.user, classified)
        context = replace(context, flow=lane.flow)
        work = ONE_SEAT if verb == "get" or path else _work(fairness, lane, context)
        now = clock.monotonic()
        ticket = make_ticket(lane, work, now, context)
        if not fairness.enter(ticket):
            return _refused(context, lane)
        if ticket.decision is not None and not await _wait(ticket, context):
            return _refused(context, lane)
        running = in_flight.reading if info.is_reading else in_flight.changing
        running.change(1, ticket.started)
        if is_watch:
            return await _watch(request, context, ticket)
        if verb == "list":
            leave = _once(lambda: in_flight.reading.change(-1, fairness.leave(ticket)))
            return await _sent(guarded, request, context, draining=draining, leave=leave)
        try:
            return await handler(request, context)
        except Exception as failure:  # noqa: BLE001 - it is answered, and logged if it is a defect
            return errors.answer(request, context, failure)
        finally:
            running.change(-1, fairness.leave(ticket))

    async def _watch(request: web.BaseRequest, context: RequestContext, ticket: Ticket) -> web.StreamResponse:
        """Release the seats when the watch has begun or failed."""
        begun = _once(lambda: in_flight.reading.change(-1, fairness.leave(ticket, is_watch=True)))
        info = context.info
        watched = WatchScope(info.group, info.resource, info.namespace, info.name)
        selectors = context.query.get("fieldSelector")
        closed = fairness.watches.opened(watched, selectors[0] if selectors else "")
        try:
            return await guarded(request, replace(context, on_started=begun))
        finally:
            closed()
            begun()

    async def _wait(ticket: Ticket, context: RequestContext) -> bool:
        seconds = (context.deadline - context.received if context.deadline else request_seconds) / _PART
        waiting = in_flight.waiting_to_read if context.info.is_reading else in_flight.waiting_to_change
        waiting.change(1, ticket.arrived)
        try:
            return await fairness.wait(ticket, context.received + min(seconds, _LONGEST_WAIT))
        finally:
            waiting.change(-1, clock.monotonic())

    def _refused(context: RequestContext, lane: Lane) -> web.StreamResponse:
        on_refused(context)
        return too_many(context, fairness.retry_after(lane))

    return fair


async def _sent(
    handler: Handler,
    request: web.BaseRequest,
    context: RequestContext,
    *,
    draining: Draining,
    leave: Callable[[], None],
) -> web.StreamResponse:
    """Send a list. The seats are released when it has been sent, or when the client takes no more of it."""
    connection = request.protocol
    assert isinstance(connection, HTTPConnection)
    try:
        response = await handler(request, context)
        with connection.calls_when_stalled(leave):
            rest = sending.sending(request, response, draining)
            if rest is not None:
                await rest
        return response
    finally:
        leave()


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
