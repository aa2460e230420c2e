"""Tickets: requests as flow control sees them, with their work and their queues."""

from asyncio import Future
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane

SERVICE_SECONDS = 0.003
"""The assumed duration of a request before it has ended."""
_LOAD_OF_SEAT = 5
"""A write takes the event loop about five times as long as a GET."""


class Work(Struct, frozen=True):
    """What a request takes, as `work_of` makes it. The defaults are those of a request with one seat.

    initial: the seats while it runs. final: those for `seconds` behind that, while watchers get its event. seats: those
    that it holds until the end. amount: seats times seconds. load: how long it takes the event loop, in GETs.
    """

    initial: int = 1
    final: int = 0
    seconds: float = 0.0
    seats: int = 1
    amount: float = SERVICE_SECONDS
    load: int = _LOAD_OF_SEAT


def work_of(initial: int, final: int = 0, seconds: float = 0.0) -> Work:
    """The work of a request with some initial and final seats."""
    seats = max(initial, final)
    return Work(initial, final, seconds, seats, initial * SERVICE_SECONDS + final * seconds, initial * _LOAD_OF_SEAT)


ONE_SEAT = Work()
GET = Work(load=1)
NOT_YET = -1.0
ANONYMOUS_PRECEDENCE = 2**31
"""That of requests without a user, behind all flow schemas."""


class Ticket(Struct, eq=False):
    """One request in flow control.

    about: attributes for the debug endpoints. arrived_at: a reading of the progress meter. decision: true when a
    waiting request may run, false when its time is over; None for a request that did not wait.
    """

    lane: "Lane"
    work: Work
    arrived: float
    about: Any = None
    started: float = NOT_YET
    arrived_at: float = 0.0
    queue: "Queue | None" = None
    decision: Future[bool] | None = None

    @property
    def is_begun(self) -> bool:
        return self.started != NOT_YET


class Queue:
    """One queue of a queue set.

    next_at: the reading of the progress meter at which its next request would begin if every queue had the same share.
    """

    __slots__ = ("amount", "executing", "index", "next_at", "seats", "waiting")

    def __init__(self, index: int) -> None:
        self.index = index
        self.waiting: dict[Ticket, None] = {}
        """In order of arrival."""
        self.amount = 0.0
        """The work of waiting requests."""
        self.executing: set[Ticket] = set()
        self.seats = 0
        """The seats of running requests, and of those whose events are being sent."""
        self.next_at = 0.0

    @property
    def first(self) -> Ticket:
        """The request that has waited longest."""
        return next(iter(self.waiting))
