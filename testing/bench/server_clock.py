"""Server clock: the clock of a server, for tests.

    with server.clock.hold():
        server.clock.advance("1h")

Call it from other threads than the server's own. Must hold: when a method returns, all work that was due is done.
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any

from aio_apiserver.registry.base.golang import durations
from aio_apiserver.testing.bench.clock import MovableClock
from aio_apiserver.testing.bench.clock_steps import ClockSteps

Duration = float | str | timedelta
"""Seconds, a duration of Go (`90s`, `1h30m`), or a timedelta."""
Moment = float | str | datetime
"""Seconds since 1970, RFC 3339, or a datetime; without a time zone it is UTC."""


def seconds_of(given: Duration) -> float:
    """The seconds of a duration. Raises ValueError."""
    if isinstance(given, timedelta):
        return given.total_seconds()
    return durations.parse(given) if isinstance(given, str) else float(given)


def epoch_of(given: Moment) -> float:
    """The seconds since 1970 of a moment. Raises ValueError."""
    if isinstance(given, str):
        given = _parsed(given)
    if isinstance(given, datetime):
        return (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()
    return float(given)


def _parsed(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no moment: write RFC 3339, as in 2030-01-01T00:00:00Z") from None


class ServerClock:
    """The clock of one server. It runs with the system's time unless it is held."""

    def __init__(
        self, clock: MovableClock, moving: ClockSteps, call: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        self._clock = clock
        self._moving = moving
        self._call = call

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)

    @property
    def is_held(self) -> bool:
        return self._clock.is_held

    def hold(self, at: Moment | None = None) -> "Held":
        """Hold the clock, at a moment or now, until `release`, `reset` or the end of a `with`."""
        self._call(self._hold(at))
        return Held(self)

    def release(self) -> None:
        """Let the clock run again."""
        self._call(self._release())

    def advance(self, by: Duration) -> datetime:
        """Let time pass, and return when all work that was due is done, each part at its own time.

        Raises ValueError, NotSettled.
        """
        self._call(self._moving.advance(seconds_of(by)))
        return self.now

    def set(self, to: Moment) -> datetime:
        """Go to another moment at once. Work that is due by then is done there, once. The moment may be earlier than
        now.
        """
        self._call(self._moving.set(epoch_of(to)))
        return self.now

    async def advance_async(self, by: Duration) -> datetime:
        """The same as `advance`, for tests whose event loop must run meanwhile."""
        return await asyncio.to_thread(self.advance, by)

    async def set_async(self, to: Moment) -> datetime:
        """The same as `set`, for tests whose event loop must run meanwhile."""
        return await asyncio.to_thread(self.set, to)

    async def _hold(self, at: Moment | None) -> None:
        await hold(self._clock, self._moving, at)

    async def _release(self) -> None:
        self._clock.release()


async def hold(clock: MovableClock, moving: ClockSteps, at: Moment | None) -> None:
    """Hold a clock, at a moment if one is given."""
    wanted = epoch_of(at) if at is not None else None
    clock.hold()
    if wanted is not None:
        await moving.set(wanted)


class Held:
    """The result of `hold`: at the end of a `with` or an `async with`, the clock runs again."""

    def __init__(self, clock: ServerClock) -> None:
        self._clock = clock

    def __enter__(self) -> ServerClock:
        return self._clock

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._clock.release()

    async def __aenter__(self) -> ServerClock:
        return self._clock

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._clock.release()
