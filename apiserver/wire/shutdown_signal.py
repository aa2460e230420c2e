"""Shutdown signal: tells readiness checks, streams and connections that the server is shutting down.

Must hold: a subscriber is called once, also when it subscribes after the beginning. `is_announced` is set first, so
that /readyz fails while requests are still served.
"""

from collections.abc import Callable


class Draining:
    """The shutdown of one server."""

    def __init__(self) -> None:
        self.is_announced = False
        self.has_begun = False
        self._subscribers: dict[object, Callable[[], None]] = {}

    def announce(self) -> None:
        """Fail readiness checks from now on, and go on serving."""
        self.is_announced = True

    def begin(self) -> None:
        """End streams, and close each connection after its present request."""
        self.is_announced = self.has_begun = True
        subscribers, self._subscribers = self._subscribers, {}
        for callback in subscribers.values():
            callback()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` when the draining begins. Returns a function that unsubscribes."""
        if self.has_begun:
            callback()
            return lambda: None
        token = object()
        self._subscribers[token] = callback

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe
