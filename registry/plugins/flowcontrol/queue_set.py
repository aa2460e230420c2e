"""Queue set: fair queuing for the seats of one priority level.

Each busy queue is owed the same share of the level's seats. The progress meter R counts the seat-seconds owed to each
queue so far. A queue has the reading of R at which its next request would begin. A dispatched request moves that on by
its estimated work, and its end corrects the estimate. The queue whose first request would end earliest is dispatched
next.

    level type   queues   surplus requests
    Exempt       -        run at once
    Reject       none     are rejected
    Queue        many     wait until their queue is full

It has no clock and does not wait: callers pass the time. Must hold: the seats of a request are freed once. A wide
request at the head of the line waits until it has room, and is not overtaken. Queues that a new configuration drops are
emptied.
"""

from asyncio import Future
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from msgspec import Struct

from aio_apiserver.registry.plugins.flowcontrol.alarms import Alarms
from aio_apiserver.registry.plugins.flowcontrol.tickets import NOT_YET, SERVICE_SECONDS, Queue, Ticket, work_of


class QueueSetState(NamedTuple):
    """Running requests, their seats, waiting requests, and the seats that these need."""

    executing: int
    seats: int
    waiting: int
    waiting_seats: int


class Refusal(Enum):
    """Why a request is rejected, as the metrics name it."""

    NO_SEATS = "concurrency-limit"
    FULL = "queue-full"
    TOO_LATE = "time-out"


class Queuing(Struct, frozen=True):
    """The queuing configuration of a level."""

    queues: int
    hand_size: int
    length_limit: int


class QueueSet:
    """The queues of one level. `limit`: its present number of seats."""

    def __init__(self, alarms: Alarms, now: float, *, is_exempt: bool = False) -> None:
        self.is_exempt = is_exempt
        self.limit = 0
        self.queuing: Queuing | None = None
        self._queues: dict[int, Queue] = {}
        """Queues that were used. Configurations may have millions."""
        self.draining: list[Queue] = []
        """Queues that the present configuration has no place for."""
        self.outside: set[Ticket] = set()
        """Running requests that have no queue."""
        self.executing = self.seats = self.waiting = self.waiting_seats = 0
        self.dispatched = self.rejected = self.timed_out = 0
        self.progress = 0.0
        self.last_dispatch: tuple[float, float] = (0.0, 0.0)
        """The readings of the meter and of the queue at the last dispatch from a queue."""
        self._alarms = alarms
        self._at = now
        self._spent: dict[tuple[int, int, int, int], float] = {}
        """Seconds by state."""
        self._busy = 0
        """The number of queues with running or waiting requests."""
        self._entered = 0
        self._last = -1
        """The index of the queue that was dispatched last."""

    @property
    def every(self) -> Sequence[Queue]:
        """Its used queues, those that are being emptied last."""
        return (*(queue for _, queue in sorted(self._queues.items())), *self.draining)

    @property
    def count(self) -> int:
        """The number of queues, used or not."""
        return self.queuing.queues if self.queuing is not None else 0

    def queue(self, number: int) -> Queue:
        """A queue by its number below the count."""
        queue = self._queues.get(number)
        if queue is None:
            queue = self._queues[number] = Queue(number)
        return queue

    @property
    def is_idle(self) -> bool:
        return not self.executing and not self.waiting

    def configure(self, queuing: Queuing | None, limit: int, now: float) -> None:
        """Set the configuration."""
        self._advance(now)
        self.queuing, self.limit = queuing, limit
        surplus = [self._queues.pop(number) for number in sorted(self._queues) if number >= self.count]
        self.draining += [queue for queue in surplus if queue.waiting or queue.executing]
        self._dispatch(now)

    # Requests

    def enter(self, ticket: Ticket, now: float) -> Refusal | None:
        """Run a request, queue it (its `decision` ends the wait), or reject it."""
        self._advance(now)
        seats, hand = ticket.work.seats, ticket.lane.hand
        if not hand:
            if not (self.is_exempt or self._has_room(seats)):
                return self.refuse(ticket, Refusal.NO_SEATS)
            self._begin(ticket, now)
            return None
        first = self._entered % len(hand)
        self._entered += 1
        queue = self._least_loaded(hand, first) if self.waiting else hand[first]
        if self.seats >= self.limit and len(queue.waiting) >= self._length_limit:
            return self.refuse(ticket, Refusal.FULL)
        ticket.arrived_at = self.progress
        ticket.queue = queue
        if not queue.waiting and (not queue.executing or queue.next_at < self.progress):
            queue.next_at = self.progress
        if not queue.executing and not queue.waiting:
            self._busy += 1
        if not self.waiting and self.seats < self.limit and (seats == 1 or self._has_room(seats)):
            ticket.lane.series.queue_lengths.observe(1)
            self._last = queue.index
            self._begin(ticket, now)
            return None
        self._wait(ticket, queue)
        self._dispatch(now)
        return None

    def leave(self, ticket: Ticket, now: float) -> None:
        """End a request that runs or waits."""
        self._advance(now)
        if ticket.started != NOT_YET:
            self._finish(ticket, ticket.queue, now)
            if self.waiting:
                self._dispatch(now)
        elif ticket.queue is not None and ticket in ticket.queue.waiting:
            self._drop(ticket, ticket.queue)

    def give_up(self, ticket: Ticket, now: float) -> None:
        """Reject a request whose waiting time is over, if it still waits."""
        decision, queue = ticket.decision, ticket.queue
        if decision is None or decision.done():
            return
        self._advance(now)
        if queue is None:
            self._refuse_late(ticket)
        else:
            self._drop(ticket, queue)
        decision.set_result(False)

    def refuse(self, ticket: Ticket, why: Refusal) -> Refusal:
        """Count a rejected request."""
        self.rejected += 1
        ticket.lane.series.refused(why.value)
        return why

    def take_spent(self, now: float) -> Mapping[QueueSetState, float]:
        """The seconds in each state since the last call."""
        self._advance(now)
        spent, self._spent = self._spent, {}
        return {QueueSetState(*state): seconds for state, seconds in spent.items()}

    # # Internal

    @property
    def _length_limit(self) -> int:
        return self.queuing.length_limit if self.queuing is not None else 0

    def _advance(self, now: float) -> None:
        """Advance the clock and the progress meter to `now`."""
        seconds = now - self._at
        if seconds <= 0:
            return
        self._at = now
        if self._busy:
            self.progress += min(self.seats + self.waiting_seats, self.limit) / self._busy * seconds
        state = self.executing, self.seats, self.waiting, self.waiting_seats
        spent = self._spent
        spent[state] = spent.get(state, 0.0) + seconds

    def _has_room(self, seats: int) -> bool:
        """Whether seats are free. A request wider than the limit runs alone."""
        return self.seats + seats <= self.limit or (seats > self.limit and not self.executing)

    def _least_loaded(self, hand: Sequence[Queue], first: int) -> Queue:
        """The queue of a hand with the least waiting work. Among equal queues, the next one from the first."""
        return min((hand[index - len(hand)] for index in range(first, first + len(hand))), key=_amount)

    def _begin(self, ticket: Ticket, now: float) -> None:
        ticket.started = now
        self.executing += 1
        self.seats += ticket.work.seats
        queue = ticket.queue
        if queue is None:
            self.outside.add(ticket)
        else:
            queue.executing.add(ticket)
            queue.seats += ticket.work.seats
            queue.next_at += ticket.work.amount
        series = ticket.lane.series
        series.executing.value += 1
        series.executing_seats.value += ticket.work.seats

    def _wait(self, ticket: Ticket, queue: Queue) -> None:
        if ticket.decision is None:  # it has not waited for its turn before
            ticket.decision = Future()
        queue.waiting[ticket] = None
        queue.amount += ticket.work.amount
        self.waiting += 1
        self.waiting_seats += ticket.work.seats
        series = ticket.lane.series
        series.waits(1, ticket.work.seats)
        series.queue_lengths.observe(len(queue.waiting))

    def _take_out(self, ticket: Ticket, queue: Queue) -> None:
        del queue.waiting[ticket]
        queue.amount = queue.amount - ticket.work.amount if queue.waiting else 0.0
        self.waiting -= 1
        self.waiting_seats -= ticket.work.seats
        ticket.lane.series.waits(-1, -ticket.work.seats)

    def _drop(self, ticket: Ticket, queue: Queue) -> None:
        """Remove a waiting request and reject it."""
        self._take_out(ticket, queue)
        self._refuse_late(ticket)
        self._look_at(queue)

    def _refuse_late(self, ticket: Ticket) -> None:
        self.timed_out += 1
        self.refuse(ticket, Refusal.TOO_LATE)

    def _look_at(self, queue: Queue) -> None:
        """Update a queue that has lost a request."""
        if queue.waiting:
            self._bound(queue)
        elif not queue.executing:
            self._busy -= 1
            if queue in self.draining:
                self.draining.remove(queue)

    def _dispatch(self, now: float) -> None:
        """Dispatch waiting requests while there are seats."""
        while self.waiting and self.seats < self.limit:
            queue = self._next()
            ticket = queue.first
            if not self._has_room(ticket.work.seats):
                ticket.lane.series.not_accommodated()
                return
            self._take_out(ticket, queue)
            assert ticket.decision is not None
            if not ticket.decision.done():
                self._narrow(ticket)
                self.last_dispatch = self.progress, queue.next_at
                self._last = queue.index
                ticket.decision.set_result(True)
                self._begin(ticket, now)
            self._look_at(queue)

    def _next(self) -> Queue:
        """The queue whose first request would end earliest. Among equals, the next one after the last dispatched."""
        count = self.count + len(self.draining)
        candidates = [queue for queue in self.every if queue.waiting]
        return min(
            candidates, key=lambda one: (one.next_at + one.first.work.amount, (one.index - self._last - 1) % count)
        )

    def _narrow(self, ticket: Ticket) -> None:
        """Spread the work after a request over a longer time, when it needs more seats than the level has."""
        wanted = ticket.work
        if wanted.final > self.limit:
            ticket.work = work_of(wanted.initial, self.limit, wanted.final * wanted.seconds / self.limit)

    def _bound(self, queue: Queue) -> None:
        """A queue is owed nothing for the time before its first request arrived."""
        if queue.waiting and queue.next_at < queue.first.arrived_at:
            queue.next_at = queue.first.arrived_at

    def _finish(self, ticket: Ticket, queue: Queue | None, now: float) -> None:
        self.executing -= 1
        ticket.lane.series.executing.value -= 1
        if queue is None:
            self.outside.discard(ticket)
        else:
            queue.executing.discard(ticket)
            queue.next_at += ticket.work.initial * (now - ticket.started - SERVICE_SECONDS)
            self._look_at(queue)
        if ticket.work.seconds > 0:
            self._alarms.at(now + ticket.work.seconds, lambda: self._release_later(ticket, now + ticket.work.seconds))
        else:
            self._release(ticket)

    def _release_later(self, ticket: Ticket, now: float) -> None:
        self._advance(now)
        self._release(ticket)
        self._dispatch(now)

    def _release(self, ticket: Ticket) -> None:
        self.seats -= ticket.work.seats
        ticket.lane.series.executing_seats.value -= ticket.work.seats
        if ticket.queue is not None:
            ticket.queue.seats -= ticket.work.seats


def _amount(queue: Queue) -> float:
    return queue.amount
