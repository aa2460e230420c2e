"""Retry-After: the header of rejected requests.

The value doubles while many requests are rejected, and falls by a second while few are, as in TCP congestion control.
Pure.
"""

from collections import deque

_LONGEST = 32
_MANY = 3
"""The rejections per second that double the value."""


class RetryAfter:
    """The value of one priority level."""

    def __init__(self) -> None:
        self.seconds = 1
        self._history: deque[tuple[int, int]] = deque()
        """Past seconds, and the number of rejections in each."""
        self._second = 0
        self._count = 0
        self._raised_at = 0

    def refused(self, second: int) -> int:
        """Count a rejection in this second. Returns the seconds for Retry-After."""
        if second == self._second:
            self._count += 1
            return self.seconds
        self._history.append((self._second, self._count))
        while self._history[0][0] < self._second - min(2 * self.seconds, _LONGEST):
            self._history.popleft()
        self._second, self._count = second, 1
        self._adapt(second)
        return self.seconds

    def _adapt(self, second: int) -> None:
        refused = sum(count for when, count in self._history if second - self.seconds <= when < second)
        if refused >= _MANY * self.seconds and second - self._raised_at >= self.seconds:
            self.seconds = min(2 * self.seconds, _LONGEST)
            self._raised_at = second
        elif refused < self.seconds and self.seconds > 1:
            self.seconds -= 1
