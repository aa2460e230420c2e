"""Loop turns: shares the event loop fairly among the requests of all priority levels and flows.

Seats limit how many requests are under way, but the event loop runs one request at a time. When a hundred writes come
together, the renewal of a lease that comes with them would wait for all. So a turn of the event loop begins requests
that take it a few milliseconds. Other requests wait for a later turn, and then ask for a seat:

    1. Each priority level has its share of a turn, by its nominalConcurrencyShares.
    2. The rest goes by matchingPrecedence: first to leader election, then to nodes, later to users. Requests without a
       user come last.
    3. The flows of a flow schema have equal parts, however many requests each of them has (start-time fair queueing).

    arrived    node n1: W    eve: W W W W W    jane: W W
    begin      n1, eve, jane | eve, jane, eve | eve, eve        in turns with room for three writes

What a request takes is estimated, in GETs. A GET takes no longer than a wait, so GETs wait for very full turns alone.
Instead, they leave the requests of users as much as they take themselves. So a reader beside writers is served half as
often as without them.

Must hold: a level that has not used its share of a turn begins its requests in it, a flow's in the order of arrival. In
each turn, a level with waiting requests begins at least one. A flow that has too many of them gets no more. It needs a
running event loop, and has no clock. Exempt requests do not come here.
"""

import asyncio
import heapq
import itertools
from collections import defaultdict, deque
from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING

from aio_apiserver.registry.plugins.flowcontrol.tickets import ANONYMOUS_PRECEDENCE, GET, Ticket

if TYPE_CHECKING:
    from aio_apiserver.registry.plugins.flowcontrol.priority_level import PriorityLevel

ROOM = 64
"""The room of a turn, in GETs: a dozen writes, or three milliseconds of a free processor."""
ROOM_BESIDE_GETS = ROOM // 4
"""The least room for other requests of users beside GETs."""
ROOM_FOR_GETS = 2 * ROOM
_ROOM_OF_ANONYMOUS = 1
"""One request, when no other one has begun before it. The share of its level may let a second one begin."""
_DEFAULT_PRECEDENCE = 1000
"""The matchingPrecedence of a flow schema that names none. Those of the control plane and of nodes come before it."""
_FEW_GETS = 0.1
"""With fewer GETs in a turn, on average, other requests have all of it: larger turns make larger commits."""
_NEWEST = 0.125
"""The weight of the latest turn in an average."""


def share_of_turn(part: float) -> int:
    """The share of a level that has this part of all nominalConcurrencyShares."""
    return max(1, ceil(ROOM * part))


class LoopTurns:
    """The turns of one server's event loop. enter: called with a ticket that has waited, when its turn has come."""

    def __init__(self, enter: Callable[[Ticket], None]) -> None:
        self._enter = enter
        self._load = 0
        """The load of the requests that have begun in this turn."""
        self._load_by_level: defaultdict[PriorityLevel, int] = defaultdict(int)
        self._gets = 0
        """The GETs that have begun in this turn without a wait."""
        self._usual_gets = 0.0
        self._room_of_users: float = ROOM
        """The room for requests behind the default precedence, but GETs."""
        self._waiting: dict[tuple[int, str], _WaitingFlows] = {}
        """By precedence and flow schema."""

    def begin(self, ticket: Ticket) -> bool:
        """Whether a request may begin in this turn. Otherwise it has to `wait`."""
        lane, work = ticket.lane, ticket.work
        if work is GET:
            may_begin = self._load < ROOM_FOR_GETS or self._has_share(lane.level)
            self._gets += may_begin
        else:
            may_begin = self._load < self._room_for(lane.precedence) or self._has_share(lane.level)
        if may_begin:
            if not self._load:
                asyncio.get_running_loop().call_soon(self._next_turn)
            self._load += work.load
            self._load_by_level[lane.level] += work.load
        return may_begin

    def wait(self, ticket: Ticket) -> bool:
        """Let a request wait for its turn. Returns False when too many requests of its flow wait."""
        lane = ticket.lane
        group = lane.precedence, lane.schema
        flows = self._waiting.get(group)
        if flows is None:
            flows = self._waiting[group] = _WaitingFlows(lane.level, lane.precedence)
        if not flows.add(ticket):
            return False
        ticket.decision = asyncio.Future()
        lane.series.waits(1, ticket.work.seats)
        return True

    def _room_for(self, precedence: int) -> float:
        if precedence < _DEFAULT_PRECEDENCE:
            return ROOM
        return self._room_of_users if precedence < ANONYMOUS_PRECEDENCE else _ROOM_OF_ANONYMOUS

    def _has_share(self, level: "PriorityLevel") -> bool:
        return self._load_by_level[level] < level.share_of_turn

    def _next_turn(self) -> None:
        """The event loop calls this between two turns, when requests have begun in the first one."""
        self._usual_gets += _NEWEST * (self._gets - self._usual_gets)
        has_gets = self._usual_gets >= _FEW_GETS
        self._room_of_users = max(ROOM_BESIDE_GETS, min(self._usual_gets, ROOM)) if has_gets else ROOM
        self._gets = self._load = 0
        self._load_by_level.clear()
        if self._waiting:
            self._begin_waiting()
        if self._load:
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _begin_waiting(self) -> None:
        by_precedence = sorted(self._waiting.values(), key=_precedence)
        for flows in by_precedence:
            while flows.count and self._has_share(flows.level):
                self._begin_next(flows)
        for flows in by_precedence:
            while flows.count and self._load < self._room_for(flows.precedence):
                self._begin_next(flows)
        self._waiting = {group: flows for group, flows in self._waiting.items() if flows.count}

    def _begin_next(self, flows: "_WaitingFlows") -> None:
        ticket = flows.pop()
        ticket.lane.series.waits(-1, -ticket.work.seats)
        assert ticket.decision is not None
        if not ticket.decision.done():  # the client has gone, or the time of the request is over
            self._load += ticket.work.load
            self._load_by_level[ticket.lane.level] += ticket.work.load
            self._enter(ticket)


class _WaitingFlows:
    """The waiting requests of one flow schema.

    Flows have virtual times: the load that a flow has begun. The flow with the least begins next.
    """

    def __init__(self, level: "PriorityLevel", precedence: int) -> None:
        self.level = level
        self.precedence = precedence
        self.count = 0
        self._by_name: dict[str, deque[Ticket]] = {}
        """By flow distinguisher. A flow without requests stays until the virtual time of the others has reached it."""
        self._order: list[tuple[int, int, str]] = []
        """A heap of the flows' virtual times. Among equal ones, the flow that has waited longest begins."""
        self._numbers = itertools.count()
        self._virtual_time = 0
        """That of the flow that has begun last, at which new flows join."""

    def add(self, ticket: Ticket) -> bool:
        """Add a request, unless its flow has too many."""
        name = ticket.lane.distinguisher
        flow = self._by_name.get(name)
        if flow is None:
            flow = self._by_name[name] = deque()
            heapq.heappush(self._order, (self._virtual_time, next(self._numbers), name))
        if len(flow) >= self.level.most_of_flow:
            return False
        flow.append(ticket)
        self.count += 1
        return True

    def pop(self) -> Ticket:
        """Remove the request that begins next."""
        while True:
            self._virtual_time, _, name = heapq.heappop(self._order)
            if flow := self._by_name[name]:
                break
            del self._by_name[name]
        ticket = flow.popleft()
        self.count -= 1
        heapq.heappush(self._order, (self._virtual_time + ticket.work.load, next(self._numbers), name))
        return ticket


def _precedence(flows: _WaitingFlows) -> int:
    return flows.precedence
