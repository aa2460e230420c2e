"""Deadlines: ends a request that is not long-running at its deadline, with 504 when its response has not begun.

One task sleeps for all requests, instead of a timer for each request. It wakes at the earliest deadline. Since nearly
all requests have the same timeout, a new deadline is seldom the earliest one.

Must hold: the deadline is the shorter of --request-timeout and the client's `timeout`, counted from the arrival of the
request. `wait_until_idle` returns when no such request is running.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp import web
from msgspec.structs import replace

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.urls import Query
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang import durations

OnExpired = Callable[[RequestContext], None]

_NEVER = float("inf")


def _too_late(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    """The 504 of kube-apiserver's timeout filter: a Status without kind and apiVersion. Raises Timeout when the
    response has begun.
    """
    failure = errors.Timeout("request did not complete within the allotted timeout")
    if request.writer.output_size:
        raise failure  # the response has begun
    status = {name: value for name, value in failure.status().items() if name not in ("kind", "apiVersion")}
    body = responses.dump(status, is_pretty=False)
    return responses.raw(context, body, status=failure.code, content_type=responses.TEXT)


def _ignore(_context: RequestContext) -> None:
    """The default for `on_expired`: do nothing."""


class InvalidTimeout(errors.BadRequest):
    """The client's `timeout` is not a duration."""


class Deadlines:
    """The running requests. It cancels those whose deadline is over."""

    def __init__(self, clock: Clock, *, timeout: float) -> None:
        self._clock = clock
        self._timeout = timeout
        self._running: dict[asyncio.Task[Any], float] = {}
        """The deadlines by the task of the request."""
        self._expired: set[asyncio.Task[Any]] = set()
        """The tasks that were cancelled."""
        self._tasks = Tasks()
        self._sleeper: asyncio.Task[None] | None = None
        self._wakes_at = _NEVER
        self._idle: asyncio.Event | None = None

    def with_deadline(self, handler: Handler, on_expired: OnExpired = _ignore) -> Handler:
        """The filter. `on_expired` is called for each request that is cancelled."""

        async def limited(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            if context.info.is_long_running:
                return await handler(request, context)
            query = context.query
            deadline = context.received + (self._timeout_of(query) if query else self._timeout)
            task = request.task  # of the connection: it hands a cancellation on to the handler
            self._running[task] = deadline
            if deadline < self._wakes_at:
                self._wake_at(deadline)
            try:
                return await handler(request, replace(context, deadline=deadline))
            except asyncio.CancelledError:
                if task in self._expired and task.uncancel() == 0:
                    on_expired(context)
                    return _too_late(request, context)
                raise
            finally:
                del self._running[task]
                if self._expired or self._idle is not None:
                    self._settle(task)

        return limited

    @property
    def running(self) -> int:
        """The number of running requests with a deadline."""
        return len(self._running)

    async def wait_until_idle(self) -> None:
        """Return when no request with a deadline is running."""
        self._idle = asyncio.Event()
        if self._running:
            await self._idle.wait()

    async def close(self) -> None:
        """Stop the sleeping task."""
        await self._tasks.close()

    def _timeout_of(self, query: Query) -> float:
        values = query.get("timeout")
        if not values or not values[0]:
            return self._timeout
        try:
            wanted = durations.parse(values[0])
        except durations.InvalidDuration as exc:
            raise InvalidTimeout(f"invalid timeout specified in the request URL - {exc}") from exc
        return min(wanted, self._timeout) if wanted > 0 else self._timeout

    def _settle(self, task: "asyncio.Task[Any]") -> None:
        """Note the end of a request where that matters: behind its deadline, and for `wait_until_idle`."""
        self._expired.discard(task)
        if self._idle is not None and not self._running:
            self._idle.set()

    def _wake_at(self, deadline: float) -> None:
        if self._sleeper is not None:
            self._sleeper.cancel()
        self._wakes_at = deadline
        self._sleeper = self._tasks.spawn(self._watch(), name="request deadlines")

    async def _watch(self) -> None:
        """Cancel requests at their deadlines, until no request is running."""
        while self._wakes_at < _NEVER:
            await self._clock.sleep(self._wakes_at - self._clock.monotonic())
            now = self._clock.monotonic()
            for task, deadline in self._running.items():
                if deadline <= now and task not in self._expired:
                    self._expired.add(task)
                    task.cancel()
            pending = (deadline for task, deadline in self._running.items() if task not in self._expired)
            self._wakes_at = min(pending, default=_NEVER)
        self._sleeper = None
