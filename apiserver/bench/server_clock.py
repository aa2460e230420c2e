"""ServerClock: the clock of a server, in the hands of a test.

    with server.clock.hold():
        server.clock.advance("1h")

From any thread but the server's own. Must hold: what was due has happened when a method returns.
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any

from aio_apiserver.apiserver.bench.clock import MovableClock
from aio_apiserver.apiserver.bench.moving import Moving
from aio_apiserver.registry.base.golang import durations

Duration = float | str | timedelta
"""Seconds; Go's words for them: `90s`, `1h30m`; a timedelta."""
Moment = float | str | datetime
"""Seconds since 1970; RFC 3339; a datetime, which is one in UTC when it does not say."""


def seconds_of(given: Duration) -> float:
    """Raises ValueError."""
    if isinstance(given, timedelta):
        return given.total_seconds()
    return durations.parse(given) if isinstance(given, str) else float(given)


def epoch_of(given: Moment) -> float:
    """Raises ValueError."""
    if isinstance(given, str):
        given = datetime.fromisoformat(given)
    if isinstance(given, datetime):
        return (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()
    return float(given)


class ServerClock:
    """Of one server. Not held, its time is the system's."""

    def __init__(self, clock: MovableClock, moving: Moving, call: Callable[[Coroutine[Any, Any, None]], None]) -> None:
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
        """Let time stand still, at a moment or now: until `release`, `reset` or the end of a `with`."""
        self._call(self._hold(at))
        return Held(self)

    def release(self) -> None:
        """Let time go on from where it is."""
        self._call(self._release())

    def advance(self, by: Duration) -> datetime:
        """Let time pass, and return when everything has happened that was due in it, each at its moment.

        Raises ValueError, NotSettled.
        """
        self._call(self._moving.advance(seconds_of(by)))
        return self.now

    def set(self, to: Moment) -> datetime:
        """Be at another moment at once: what was due by then happens there, once. An earlier one is possible, too."""
        self._call(self._moving.set(epoch_of(to)))
        return self.now

    async def advance_async(self, by: Duration) -> datetime:
        """The same as `advance`, for tests whose event loop must run on meanwhile."""
        return await asyncio.to_thread(self.advance, by)

    async def set_async(self, to: Moment) -> datetime:
        """The same as `set`, for tests whose event loop must run on meanwhile."""
        return await asyncio.to_thread(self.set, to)

    async def _hold(self, at: Moment | None) -> None:
        await hold(self._clock, self._moving, at)

    async def _release(self) -> None:
        self._clock.release()


async def hold(clock: MovableClock, moving: Moving, at: Moment | None) -> None:
    """Stop a clock, at a moment if one is given."""
    wanted = epoch_of(at) if at is not None else None
    clock.hold()
    if wanted is not None:
        await moving.set(wanted)


class Held:
    """What `hold` gives: behind a `with` or an `async with`, time goes on."""

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
