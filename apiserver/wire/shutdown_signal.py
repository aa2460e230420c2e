"""Shutdown signal: tells readiness checks, streams and connections that the server is shutting down.

Must hold: a subscriber is called once, also when it subscribes after the beginning. `is_announced` is set first, so
that /readyz fails while requests are still served. `begin_spread` ends watches one after the other, so that not all
clients of a server begin new watches on another server at the same moment.
"""

from collections.abc import Callable
from math import ceil

from aio_apiserver.base.clock import Clock

_STEP_SECONDS = 0.1
"""Between two groups of watches that end."""


class Draining:
    """The shutdown of one server."""

    def __init__(self) -> None:
        self.is_announced = False
        self.has_begun = False
        self._subscribers: dict[Callable[[], None], None] = {}

    def announce(self) -> None:
        """Fail readiness checks from now on, and go on serving."""
        self.is_announced = True

    def begin(self) -> None:
        """End streams, and close each connection after its present request."""
        self.is_announced = self.has_begun = True
        subscribers, self._subscribers = self._subscribers, {}
        for callback in subscribers:
            callback()

    async def begin_spread(self, seconds: float, clock: Clock) -> None:
        """As `begin`, but the streams end evenly over a time."""
        self.is_announced = self.has_begun = True
        for left in range(ceil(seconds / _STEP_SECONDS), 0, -1):
            if not self._subscribers:
                break
            for callback in list(self._subscribers)[: ceil(len(self._subscribers) / left)]:
                del self._subscribers[callback]
                callback()
            await clock.sleep(_STEP_SECONDS)
        self.begin()

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the draining begins."""
        if self.has_begun:
            callback()
        else:
            self._subscribers[callback] = None

    def unsubscribe(self, callback: Callable[[], None]) -> None:
        """Do not call `callback` any more."""
        self._subscribers.pop(callback, None)
