"""Flow dumps: /debug/api_priority_and_fairness/, the priority levels, queues and requests as text tables.

Pure reads. Must hold: columns and words are kube-apiserver's, because scripts parse them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain

from aiohttp import web

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.priority_level import PriorityLevel
from aio_apiserver.registry.plugins.flowcontrol.queue_set import QueueSet
from aio_apiserver.registry.plugins.flowcontrol.tickets import Queue, Ticket

_ROOT = "/debug/api_priority_and_fairness/"
_LEAST_WIDTH = 8
_LEVEL_COLUMNS = (
    *("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests"),
    *("ExecutingRequests", "DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests"),
)
_QUEUE_COLUMNS = (
    *("PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse"),
    *("NextDispatchR", "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"),
)
_REQUEST_COLUMNS = (
    *("PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher"),
    *("ArriveTime", "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"),
)
_DETAIL_COLUMNS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")
_NO_TIME = "0001-01-01T00:00:00Z"
_NO_QUEUE = -1

Row = Sequence[str]


def exact(fairness: Fairness, clock: Clock) -> Mapping[str, Handler]:
    """The handlers by path."""
    levels = fairness.levels

    def of_levels(_context: RequestContext) -> Iterable[Row]:
        yield _LEVEL_COLUMNS
        yield from (_level(name, level) for name, level in sorted(levels.by_name.items()))

    def of_queues(_context: RequestContext) -> Iterable[Row]:
        yield _QUEUE_COLUMNS
        for name, level in sorted(levels.by_name.items()):
            yield from (_queue(name, queue) for queue in _all_queues(level.queues))

    def of_requests(context: RequestContext) -> Iterable[Row]:
        has_details = bool(context.query.get("includeRequestDetails"))
        wall = clock.now() - clock.monotonic()
        yield (*_REQUEST_COLUMNS, *(_DETAIL_COLUMNS if has_details else ()))
        for name, level in sorted(levels.by_name.items()):
            for queue, index, ticket in _tickets(level):
                row = (name, ticket.lane.schema, str(queue), str(index), *_request(ticket, wall))
                yield (*row, *(_details(ticket.about) if has_details else ()))

    return {
        f"{_ROOT}dump_priority_levels": _handler(of_levels),
        f"{_ROOT}dump_queues": _handler(of_queues),
        f"{_ROOT}dump_requests": _handler(of_requests),
    }


def _handler(rows: Callable[[RequestContext], Iterable[Row]]) -> Handler:
    async def handle(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return responses.raw(context, _aligned(list(rows(context))).encode(), content_type=responses.TEXT)

    return handle


def _aligned(rows: Sequence[Row]) -> str:
    """The rows as lines. Each cell but the last one ends with a comma, and is padded to the width of its column."""
    cells = [[*(f"{cell}," for cell in row[:-1]), row[-1]] for row in rows]
    widths = [max(_LEAST_WIDTH, 1 + max(map(len, column))) for column in zip(*cells, strict=True)]
    return "".join(
        "".join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)) + row[-1] + "\n"
        for row in cells
    )


def _level(name: str, level: PriorityLevel) -> Row:
    queues = level.queues
    numbers = (
        *(queues.waiting, queues.executing, queues.dispatched),
        *(queues.rejected, 0, queues.timed_out),
    )
    active = sum(bool(queue.waiting) for queue in queues.every)
    return (name, str(active), _truth(queues.is_idle), _truth(level.is_leaving), *map(str, numbers))


def _all_queues(queues: QueueSet) -> Iterator[Queue]:
    """The queues of a level, with the empty ones."""
    used = {queue.index: queue for queue in queues.every}
    numbers = chain(range(queues.count), (number for number in used if number >= queues.count))
    return (used.get(number) or Queue(number) for number in numbers)


def _queue(name: str, queue: Queue) -> Row:
    waiting = [ticket.work for ticket in queue.waiting]
    return (
        *(name, str(queue.index), str(len(waiting)), str(len(queue.executing)), str(queue.seats)),
        *(_work(queue.next_at), str(sum(one.initial for one in waiting)), str(sum(one.seats for one in waiting))),
        _work(queue.amount),
    )


def _tickets(level: PriorityLevel) -> Iterator[tuple[int, int, Ticket]]:
    """The requests of a level, with their queues and positions."""
    for queue in level.queues.every:
        yield from ((queue.index, place, ticket) for place, ticket in enumerate(queue.waiting))
        yield from ((queue.index, _NO_QUEUE, ticket) for ticket in queue.executing)
    yield from ((_NO_QUEUE, _NO_QUEUE, ticket) for ticket in level.queues.outside)


def _request(ticket: Ticket, wall: float) -> Row:
    work = ticket.work
    started = _time(wall + ticket.started) if ticket.is_begun else _NO_TIME
    return (
        *(ticket.lane.distinguisher, _time(wall + ticket.arrived), str(work.initial), str(work.final)),
        *(durations.show(work.seconds), started),
    )


def _details(context: RequestContext) -> Row:
    info = context.info
    version = f"{info.group}/{info.version}" if info.group else info.version
    return (
        *(context.user.name, info.verb, info.path, info.namespace, info.name),
        *(version, info.resource, info.subresource),
    )


def _work(amount: float) -> str:
    """An amount of work in seat-seconds."""
    return f"{amount:.8f}ss"


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _time(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    fraction = f".{moment.microsecond:06d}".rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"
