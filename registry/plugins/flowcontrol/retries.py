"""Retries: when those who are refused should come again.

As TCP does it: twice as late when many were refused although they had waited, a second earlier when few were. Pure.
"""

from collections import deque

_LONGEST = 32
_MANY = 3
"""Refusals per second that mean trouble."""


class RetryAfter:
    """Of one priority level."""

    def __init__(self) -> None:
        self.seconds = 1
        self._history: deque[tuple[int, int]] = deque()
        """Seconds of the past, and how many were refused in each."""
        self._second = 0
        self._count = 0
        self._raised_at = 0

    def refused(self, second: int) -> int:
        """One more is refused at this second. Returns in how many it should come again."""
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
