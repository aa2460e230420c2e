"""Watch starts: how many watches a user may begin at once, and how many a second.

A watch holds no seat of flow control once it has begun. Without this budget, one user could begin watches without end.

Must hold: a user who has begun few watches lately is not remembered.
"""

from math import ceil

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.short_texts import key_of

BURST = 2000
"""A garbage collector of a cluster with a thousand custom resources begins a thousand watches at once."""
PER_SECOND = 100.0
_MOST_REMEMBERED = 1024


class WatchStarts:
    """The budgets of all users, as token buckets."""

    def __init__(self, clock: Clock, *, burst: int = BURST, per_second: float = PER_SECOND) -> None:
        self._clock = clock
        self._burst = burst
        self._rate = per_second
        self._free_at: dict[str, float] = {}
        """The time at which the bucket of a user will be full again."""
        self.refused = 0

    def begin(self, user: str) -> int:
        """Count a watch. Returns 0, or the seconds after which the user may try again."""
        user, now = key_of(user), self._clock.monotonic()
        full_at = max(self._free_at.get(user, now), now) + 1 / self._rate
        late = full_at - now - self._burst / self._rate
        if late > 0:
            self.refused += 1
            return ceil(late)
        if len(self._free_at) >= _MOST_REMEMBERED:
            self._free_at = {name: at for name, at in self._free_at.items() if at > now}
        self._free_at[user] = full_at
        return 0
