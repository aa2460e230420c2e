"""Tickets: requests as flow control sees them, with their work and their queues."""

from asyncio import Future
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane

SERVICE_SECONDS = 0.003
"""The assumed duration of a request before it has ended."""


class Work(Struct, frozen=True):
    """The seats of a request: `initial` while it runs, then `final` for `seconds`, while watchers get its event."""

    initial: int = 1
    final: int = 0
    seconds: float = 0.0

    @property
    def seats(self) -> int:
        """The seats that it holds until the end."""
        return max(self.initial, self.final)

    @property
    def amount(self) -> float:
        """Seats times seconds."""
        return self.initial * SERVICE_SECONDS + self.final * self.seconds


ONE_SEAT = Work()
NOT_YET = -1.0


class Ticket:
    """One request in flow control.

    about: attributes for the debug endpoints. arrived_at: a reading of the progress meter. decision: true when a
    waiting request may run, false when its time is over; None for a request that did not wait.
    """

    __slots__ = (
        "about",
        "amount",
        "arrived",
        "arrived_at",
        "decision",
        "lane",
        "queue",
        "seats",
        "started",
        "work",
    )

    def __init__(self, lane: "Lane", work: Work, now: float, about: Any = None) -> None:
        self.lane = lane
        self.work = work
        self.about = about
        self.arrived = now
        self.started = NOT_YET
        if work is ONE_SEAT:
            self.seats, self.amount = 1, SERVICE_SECONDS
        else:
            self.seats, self.amount = work.seats, work.amount
        self.arrived_at = 0.0
        self.queue: Queue | None = None
        self.decision: Future[bool] | None = None

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
