"""Draining: whether the server is on its way out, and who wants to know.

Must hold: a subscriber is called once, even when it comes after the beginning; `is_announced` comes first, so that
readiness fails while requests are still served.
"""

from collections.abc import Callable


class Draining:
    """The state of one server's shutdown."""

    def __init__(self) -> None:
        self.is_announced = False
        self.has_begun = False
        self._subscribers: dict[object, Callable[[], None]] = {}

    def announce(self) -> None:
        """From now on the server is not ready, but goes on serving."""
        self.is_announced = True

    def begin(self) -> None:
        """From now on streams end, and connections close behind their present request."""
        self.is_announced = self.has_begun = True
        subscribers, self._subscribers = self._subscribers, {}
        for callback in subscribers.values():
            callback()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called when draining begins. Returns what takes it back."""
        if self.has_begun:
            callback()
            return lambda: None
        token = object()
        self._subscribers[token] = callback

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe
