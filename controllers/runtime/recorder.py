"""Recorder: writes the events of a controller.

Controllers do not wait for events. Events that cannot be written are dropped, and so are those beyond the most that may
wait. Must hold: events about one object are written in the order in which they were recorded.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.events import Correlator, EventReport
from aio_apiserver.controllers.runtime.resources import EVENTS
from aio_apiserver.registry.base import errors
from aio_apiserver.storage.errors import StorageError

logger = logging.getLogger(__name__)

_MOST_WAITING = 50_000
_AT_ONCE = 8
"""Events about different objects are written together, since the store commits together."""
_MANY, _REST = 1000, 2.0
"""With many waiting events, the recorder rests after each batch, for this multiple of its duration."""


class Recorder:
    """The events of one component. `client` returns the client that writes them."""

    def __init__(self, client: Callable[[], ControllerClient], clock: Clock, tasks: Tasks, component: str) -> None:
        self._client = client
        self._clock = clock
        self._tasks = tasks
        self._component = component
        self._correlator = Correlator()
        self._waiting: deque[EventReport] = deque()
        self._is_writing = False

    @property
    def is_idle(self) -> bool:
        """Whether all events are written."""
        return not self._is_writing

    def say(
        self, about: Object, reason: str, message: str, *, is_warning: bool = False, host: str = "", action: str = ""
    ) -> None:
        """Record an event about an object, which `events.reference` describes."""
        if len(self._waiting) >= _MOST_WAITING:
            return
        kind = events.WARNING if is_warning else events.NORMAL
        self._waiting.append(
            EventReport(
                about=about,
                type=kind,
                reason=reason,
                message=message,
                component=self._component,
                host=host,
                action=action,
            )
        )
        if not self._is_writing:
            self._is_writing = True
            self._tasks.spawn(self._write_all(), name=f"events of {self._component}")

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                began = self._clock.patience.monotonic()
                await asyncio.gather(*map(self._write, self._next()))
                if len(self._waiting) > _MANY:
                    await self._clock.patience.sleep(_REST * (self._clock.patience.monotonic() - began))
        finally:
            self._is_writing = False

    def _next(self) -> list[EventReport]:
        """The next events, each about another object."""
        batch: dict[str, EventReport] = {}
        while self._waiting and len(batch) < _AT_ONCE and self._waiting[0].about["uid"] not in batch:
            report = self._waiting.popleft()
            batch[report.about["uid"]] = report
        return list(batch.values())

    async def _write(self, report: EventReport) -> None:
        now = self._clock.now()
        correlated = self._correlator.hear(report, now=now)
        if correlated is None:
            return
        wanted, name = correlated
        try:
            if not name or not await self._repeat(wanted, name, now):
                event = events.make(wanted, now=now)
                await self._client().create(EVENTS, event, namespace=event["metadata"]["namespace"])
                self._correlator.wrote(wanted, event["metadata"]["name"])
        except (errors.StatusError, StorageError) as exc:
            logger.info("cannot write the event %s: %s", report.reason, exc)
        except Exception:
            logger.exception("writing the event %s failed", report.reason)

    async def _repeat(self, report: EventReport, name: str, now: float) -> bool:
        """Increase the count of an event. Returns whether it still exists."""
        event = {"metadata": {"name": name, "namespace": report.about.get("namespace") or "default"}}
        return (
            await self._client().change(EVENTS, event, lambda present: events.repeat(present, report, now=now))
            is not None
        )
