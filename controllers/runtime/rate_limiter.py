"""Rate limiter: the client-side rate limit of a controller, a token bucket as in client-go.

Must hold: in any interval, a client makes at most `burst` requests and `qps` more for each second. Requests wait in
order of arrival. A rate of 0 or less is no limit.
"""

from aio_apiserver.base.clock import Clock


class RateLimiter:
    """The limit of one client. The clock is the one for waiting: a test that stops the product's clock does not stop
    it.
    """

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
        """Take a token, or reserve a later one. Returns the number of tokens left."""
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._counted_at) * self._qps) - 1
        self._counted_at = now
        return self._tokens
