"""Connection: OwnerConnection, which calls the owner of the store, and connects again after a loss.

It knows no method of the kv contract.

Must hold: a call that may be repeated is repeated on the next connection. A call with an effect is not: its outcome is
unknown when the connection is lost before the answer. Without a connection a call waits for `patience` at most.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import Closed, DeadlineExceeded, Unavailable
from aio_apiserver.storage.kv.unix import messages, refusals
from aio_apiserver.storage.kv.unix.framing import MessageStream
from aio_apiserver.storage.kv.unix.messages import Answer, Call, CallRefused, Published, Welcome

logger = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds. An owner that crashed is replaced within about one."""

_PAUSE = 0.02


class Follower(Struct, frozen=True):
    """What follows the store: `begin` at each connection, with the store's revision, then `publish` for each batch."""

    begin: Callable[[int], None]
    publish: Callable[[Published], None]


class _Lost(Exception):
    """The connection was lost before the answer."""


class OwnerConnection:
    """Calls to one owner."""

    def __init__(self, path: Path, follower: Follower, clock: Clock, *, patience: float = PATIENCE) -> None:
        self._path = path
        self._patience = patience
        self._follower = follower
        self._clock = clock
        self._numbers = itertools.count(1)
        self._pending: dict[int, tuple[asyncio.Future[Any], str]] = {}
        self._stream: MessageStream | None = None
        self._arrived = asyncio.Event()
        self._is_closed = False
        self._connections = 0
        self._tasks = Tasks()
        self._tasks.spawn(self._run(), name="kv socket: connect to the owner")

    async def call(
        self, method: str, *, has_effect: bool = False, waits_for_ever: bool = False, **arguments: Any
    ) -> Any:
        """Call a method of the owner's engine.

        Raises Unavailable, DeadlineExceeded, Closed, and the errors of the engine.
        """
        patience = None if waits_for_ever else self._patience
        while True:
            stream = self._stream or await self._connected(patience)
            number = next(self._numbers)
            answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self._pending[number] = answer, method
            stream.send(messages.encode(Call(number, method, arguments)))
            try:
                return await answer
            except _Lost:
                if has_effect:
                    raise DeadlineExceeded("the owner of the store ended, the outcome is unknown") from None
            finally:
                self._pending.pop(number, None)

    async def wait_until_connected(self) -> None:
        """Return when the follower has begun. Raises Unavailable, Closed."""
        if self._stream is None:
            await self._connected(self._patience)

    def check_open(self) -> None:
        """Raise Closed after `close`."""
        if self._is_closed:
            raise Closed("the engine was closed")

    def statistics(self) -> dict[str, int]:
        return {"connections": self._connections, "calls_under_way": len(self._pending)}

    async def close(self) -> None:
        """End the connection. Calls under way raise Closed."""
        self._is_closed = True
        stream = self._stream
        self._disconnect(lambda: Closed("the engine was closed"))
        self._arrived.set()
        await self._tasks.close()
        if stream is not None:
            stream.close()
            await stream.ended.wait()

    async def _connected(self, patience: float | None) -> MessageStream:
        """The connection, as soon as there is one."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while self._stream is None and not self._is_closed:
                    await self._arrived.wait()
        self.check_open()
        if self._stream is None:
            raise Unavailable("the process that owns the store does not answer")
        return self._stream

    async def _run(self) -> None:
        """Connect again and again."""
        loop = asyncio.get_running_loop()
        while True:
            stream: MessageStream | None = None
            try:
                _, stream = await loop.create_unix_connection(self._open_stream, str(self._path))
                await stream.ended.wait()
            except OSError:
                pass  # the owner has not started yet
            finally:
                if stream is not None and not self._is_closed:
                    self._disconnect(_Lost)
                    logger.warning("the connection to the process that owns the store was lost, connecting again")
            await self._clock.sleep(_PAUSE)

    def _open_stream(self) -> MessageStream:
        stream = MessageStream(lambda message: self._take(stream, message))
        return stream

    def _take(self, stream: MessageStream, raw: memoryview) -> None:
        match messages.decode_from_owner(raw):
            case Published() as published:
                self._follower.publish(published)
            case Answer(number, result):
                answer, method = self._pending.get(number, (None, ""))
                if answer is not None and not answer.done():
                    answer.set_result(messages.RESULTS[method].decode(result))
            case CallRefused(number) as failed:
                answer, _ = self._pending.get(number, (None, ""))
                if answer is not None and not answer.done():
                    answer.set_exception(refusals.raised_by(failed))
            case Welcome(revision):
                self._follower.begin(revision)
                self._connections += 1
                self._stream = stream
                self._arrived.set()

    def _disconnect(self, reason: Callable[[], Exception]) -> None:
        self._stream = None
        self._arrived.clear()
        for answer, _ in self._pending.values():
            if not answer.done():
                answer.set_exception(reason())
