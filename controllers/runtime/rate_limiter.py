"""RateLimiter: the client-side limit of a controller, a token bucket as client-go has it.

Must hold: over any time, a client makes at most `burst` requests and `qps` more a second; clients wait in the order in
which they came; a rate that is not positive is no limit.
"""

from aio_apiserver.storage.clock import Clock


class RateLimiter:
    """Of one client. The clock tells how long others are waited for: a test that holds the time does not hold this."""

    def __init__(self, qps: float, burst: int, clock: Clock) -> None:
        self._qps = qps
        self._burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._counted_at = clock.monotonic()

    async def wait(self) -> None:
        """Return when one more request may be made."""
        if self._qps <= 0:
            return
        missing = -self._take()
        if missing > 0:
            await self._clock.sleep(missing / self._qps)

    def _take(self) -> float:
        """Take a token, also one that comes later. Returns how many are left."""
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._counted_at) * self._qps) - 1
        self._counted_at = now
        return self._tokens
