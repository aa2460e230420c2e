"""Tickets: requests as flow control sees them, the work that they are, and the queues in which they wait."""

from asyncio import Future
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane

SERVICE_SECONDS = 0.003
"""How long a request is taken to need before anybody knows."""


class Work(Struct, frozen=True):
    """How many seats a request takes.

    `initial` while it is served, `final` for `seconds` afterwards, when the watchers of what it wrote are told.
    """

    initial: int = 1
    final: int = 0
    seconds: float = 0.0

    @property
    def seats(self) -> int:
        """What it holds all the time."""
        return max(self.initial, self.final)

    @property
    def amount(self) -> float:
        """In seats times seconds."""
        return self.initial * SERVICE_SECONDS + self.final * self.seconds


ONE_SEAT = Work()
_NOT_YET = -1.0


class Ticket:
    """One request on its way.

    about: who asks for what, for people who look. arrived_at: on the progress meter of its queue set. decision: comes
    true when a request that waits may go on, false when it has waited too long; None of a request that never waited.
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
        self.started = _NOT_YET
        if work is ONE_SEAT:
            self.seats, self.amount = 1, SERVICE_SECONDS
        else:
            self.seats, self.amount = work.seats, work.amount
        self.arrived_at = 0.0
        self.queue: Queue | None = None
        self.decision: Future[bool] | None = None

    @property
    def is_begun(self) -> bool:
        return self.started != _NOT_YET


class Queue:
    """One queue of a queue set.

    next_at: the reading of the progress meter at which its next request would begin if every queue had the same share.
    """

    __slots__ = ("amount", "executing", "index", "next_at", "seats", "waiting")

    def __init__(self, index: int) -> None:
        self.index = index
        self.waiting: dict[Ticket, None] = {}
        """In the order of their arrival."""
        self.amount = 0.0
        """The work of those that wait."""
        self.executing: set[Ticket] = set()
        self.seats = 0
        """Held by those that are served, or were served just now."""
        self.next_at = 0.0

    @property
    def first(self) -> Ticket:
        """The one that has waited longest."""
        return next(iter(self.waiting))
