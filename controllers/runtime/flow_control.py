"""Flow control: requests of controllers pass API priority and fairness, as those of kube-controller-manager do.

The flow schemas select the controllers by their service accounts. In addition, one request of them begins in each
iteration of the event loop, so that requests of clients get the rest of it.

Must hold: a request releases its seat at its end. A refused request is retried as in client-go, then fails.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane
from aio_apiserver.registry.plugins.flowcontrol.occupancy import InFlight
from aio_apiserver.registry.plugins.flowcontrol.open_watches import WatchScope
from aio_apiserver.registry.plugins.flowcontrol.tickets import GET, Ticket, Work

_MOST_TRIES = 10
"""Retries after a 429, as in client-go."""
_LONGEST_WAIT_SECONDS = 15.0
"""The longest wait for a seat: a quarter of the default request timeout, as for requests of clients."""
_READING = frozenset({"get", "list"})
_TOO_MANY = "Too many requests, please try again later."


class ResourceRequest(NamedTuple):
    """The facts of a request that flow control needs."""

    verb: str
    group: str
    version: str
    namespace: str
    resource: str
    subresource: str
    name: str
    path: str = ""


class ControllerRequest(NamedTuple):
    """A request of a controller in the dumps of flow control."""

    user: UserInfo
    info: ResourceRequest


class FlowControl:
    """The flow control of one server. Without `fairness`, requests still begin one by one."""

    def __init__(self, fairness: Fairness | None, in_flight: InFlight, clock: Clock) -> None:
        self._fairness = fairness
        self._in_flight = in_flight
        self._clock = clock
        self._next = asyncio.Lock()

    def apart(self) -> "FlowControl":
        """A second queue, for requests of elections, which must not wait behind thousands of others."""
        return FlowControl(self._fairness, self._in_flight, self._clock)

    @asynccontextmanager
    async def seat(self, user: UserInfo, requested: ResourceRequest) -> AsyncIterator[None]:
        """Hold a seat. Raises TooManyRequests."""
        async with self._next:
            await asyncio.sleep(0)
        if self._fairness is None:
            yield
            return
        ticket = await self._ticket(self._fairness, ControllerRequest(user, requested))
        running = self._in_flight.reading if requested.verb in _READING else self._in_flight.changing
        running.change(1, ticket.started)
        try:
            yield
        finally:
            running.change(-1, self._fairness.leave(ticket))

    async def _ticket(self, fairness: Fairness, request: ControllerRequest) -> Ticket:
        """The ticket of a running request. Raises TooManyRequests."""
        requested = request.info
        question = requested.verb, "", requested.group, requested.namespace, requested.resource, requested.subresource
        for _ in range(_MOST_TRIES):
            lane = fairness.lane_of(request.user, question)
            ticket = Ticket(lane, _work(fairness, lane, requested), self._clock.monotonic(), request)
            is_served = fairness.enter(ticket)
            if is_served and ticket.decision is not None:
                is_served = await fairness.wait(ticket, ticket.arrived + _LONGEST_WAIT_SECONDS)
            if is_served:
                return ticket
            await self._clock.sleep(fairness.retry_after(lane))
        raise errors.TooManyRequests(_TOO_MANY)


def _work(fairness: Fairness, lane: Lane, requested: ResourceRequest) -> Work:
    resource = requested.group, requested.resource
    if requested.verb == "get":
        return GET
    if requested.verb == "list":
        return fairness.estimator.of_list(lane, resource, "", {})
    written = WatchScope(*resource, requested.namespace, requested.name)
    return fairness.estimator.of_write(lane, written, requested.subresource)
