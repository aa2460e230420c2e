"""FlowControl: requests of controllers pass API priority and fairness, as those of kube-controller-manager would.

The flow schemas know the controllers by their service accounts. What is more: in each turn of the event loop one of
their requests begins, however many wait, so that requests of clients have all other steps of that turn.
Must hold: a request that is over gives back its seat; one that is refused tries again as client-go does, then fails.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane
from aio_apiserver.registry.plugins.flowcontrol.occupancy import InFlight
from aio_apiserver.registry.plugins.flowcontrol.open_watches import WatchScope
from aio_apiserver.registry.plugins.flowcontrol.tickets import ONE_SEAT, Ticket, Work
from aio_apiserver.storage.clock import Clock

_MOST_TRIES = 10
"""Of a request that is answered 429, as in client-go."""
_LONGEST_WAIT_SECONDS = 15.0
"""For a seat: a quarter of the time that requests have by default, as for requests of clients."""
_READING = frozenset({"get", "list"})
_TOO_MANY = "Too many requests, please try again later."


class ResourceRequest(NamedTuple):
    """What is asked for: as much as flow control and its dumps say of a request."""

    verb: str
    group: str
    version: str
    namespace: str
    resource: str
    subresource: str
    name: str
    path: str = ""


class ControllerRequest(NamedTuple):
    """What the dumps of flow control say of the request of a controller."""

    user: UserInfo
    info: ResourceRequest


class FlowControl:
    """Of one server. Without `fairness`, the turns of the event loop are all that is shared."""

    def __init__(self, fairness: Fairness | None, in_flight: InFlight, clock: Clock) -> None:
        self._fairness = fairness
        self._in_flight = in_flight
        self._clock = clock
        self._next = asyncio.Lock()

    def apart(self) -> "FlowControl":
        """The same for requests that must not wait behind thousands of others: those of elections."""
        return FlowControl(self._fairness, self._in_flight, self._clock)

    @asynccontextmanager
    async def seat(self, user: UserInfo, asked: ResourceRequest) -> AsyncIterator[None]:
        """Hold a seat. Raises TooManyRequests."""
        async with self._next:
            await asyncio.sleep(0)
        if self._fairness is None:
            yield
            return
        ticket = await self._ticket(self._fairness, ControllerRequest(user, asked))
        running = self._in_flight.reading if asked.verb in _READING else self._in_flight.changing
        running.change(1, ticket.started)
        try:
            yield
        finally:
            running.change(-1, self._fairness.leave(ticket))

    async def _ticket(self, fairness: Fairness, request: ControllerRequest) -> Ticket:
        """The ticket of a request that is served. Raises TooManyRequests."""
        asked = request.info
        question = asked.verb, "", asked.group, asked.namespace, asked.resource, asked.subresource
        for _ in range(_MOST_TRIES):
            lane = fairness.lane_of(request.user, question)
            ticket = Ticket(lane, _work(fairness, lane, asked), self._clock.monotonic(), request)
            is_served = fairness.enter(ticket)
            if is_served and ticket.decision is not None:
                is_served = await fairness.wait(ticket, ticket.arrived + _LONGEST_WAIT_SECONDS)
            if is_served:
                return ticket
            await self._clock.sleep(fairness.retry_after(lane))
        raise errors.TooManyRequests(_TOO_MANY)


def _work(fairness: Fairness, lane: Lane, asked: ResourceRequest) -> Work:
    resource = asked.group, asked.resource
    if asked.verb == "get":
        return ONE_SEAT
    if asked.verb == "list":
        return fairness.estimator.of_list(lane, resource, "", {})
    written = WatchScope(*resource, asked.namespace, asked.name)
    return fairness.estimator.of_write(lane, written, asked.subresource)
