"""Service: KVService, which serves the engine of the process that owns the store to other processes.

The socket has mode 0600, so that processes of the same user alone can connect. It is made in a folder that is private
as well.

Must hold: a worker gets all events after its Welcome, once and in order. A worker that does not read is held back by
the engine's bounded queue, and costs others nothing. `close` waits for the workers to leave, because their last
requests need the store.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from msgspec import Raw

from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import InvalidOptions, StorageError
from aio_apiserver.storage.kv.interface import Event, EventBatch
from aio_apiserver.storage.kv.replay import EmbeddedKV, Replay
from aio_apiserver.storage.kv.unix import messages, refusals, revision_page
from aio_apiserver.storage.kv.unix.framing import MessageStream
from aio_apiserver.storage.kv.unix.messages import Answer, Call, Published, Welcome
from aio_apiserver.storage.kv.unix.revision_page import RevisionPage

logger = logging.getLogger(__name__)

_OWNER_ONLY = 0o600
_FAREWELL_SECONDS = 60.0
"""How long the store stays for the last requests of the workers."""
_ALL_KEYS = (b"", b"\xff" * 256)


class KVService:
    """The service of one engine. `open` creates one."""

    def __init__(self, kv: EmbeddedKV, path: Path) -> None:
        self._kv = kv
        self._path = path
        self._page = RevisionPage(revision_page.beside(path))
        self._server: asyncio.AbstractServer | None = None
        self._encoded = _LastEncoded()
        self._tasks = Tasks()
        self._present = 0
        self._all_left = asyncio.Event()
        self._all_left.set()

    @classmethod
    async def open(cls, kv: EmbeddedKV, path: Path) -> Self:
        """Listen on the socket. A socket of an earlier process is replaced. Raises OSError."""
        service = cls(kv, path)
        kv.on_revision(service._page.raise_to)
        service._page.raise_to(await kv.current_revision())
        path.unlink(missing_ok=True)  # noqa: ASYNC240 - a few file operations at the start
        server = await asyncio.get_running_loop().create_unix_server(service._connect, str(path), start_serving=False)
        path.chmod(_OWNER_ONLY)  # noqa: ASYNC240
        await server.start_serving()
        service._server = server
        return service

    async def close(self, *, grace: float = _FAREWELL_SECONDS) -> None:
        """Take no more connections, wait for the workers to leave, and break the connections of those that stay."""
        if self._server is not None:
            self._server.close()
        self._path.unlink(missing_ok=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._all_left.wait()
        await self._tasks.close()

    def _connect(self) -> MessageStream:
        served = _ServedWorker(self._kv, self._tasks, self._encoded)
        self._tasks.spawn(self._accompany(served), name="kv socket: a worker")
        return served.stream

    async def _accompany(self, served: "_ServedWorker") -> None:
        self._present += 1
        self._all_left.clear()
        try:
            await served.stay()
        finally:
            self._present -= 1
            if not self._present:
                self._all_left.set()


class _ServedWorker:
    """One connection."""

    def __init__(self, kv: EmbeddedKV, tasks: Tasks, encoded: "_LastEncoded") -> None:
        self.stream = MessageStream(self._take)
        self._kv = kv
        self._tasks = tasks
        self._encoded = encoded

    async def stay(self) -> None:
        """Send all events from now on, until the worker leaves."""
        sending = self._tasks.spawn(self._send_events(), name="kv socket: send events")
        try:
            await self.stream.ended.wait()
        finally:
            sending.cancel()
            self.stream.close()

    async def _send_events(self) -> None:
        try:
            revision = await self._kv.current_revision()
            async with self._kv.watch(*_ALL_KEYS, revision=revision + 1) as batches:
                self.stream.send(messages.encode(Welcome(revision)))
                async for batch in batches:
                    await self.stream.wait_until_writable()
                    if not batch.is_progress:
                        self.stream.send(self._encoded.of(batch))
        except StorageError as exc:
            logger.warning("a worker is too far behind the store, it connects again: %s", exc)
            self.stream.close()

    def _take(self, message: memoryview) -> None:
        self._tasks.spawn(self._answer(messages.decode_call(message)), name="kv socket: call")

    async def _answer(self, call: Call) -> None:
        try:
            result = Raw(messages.encode(await self._result(call)))
            answer: Answer | messages.CallRefused = Answer(call.number, result)
        except StorageError as exc:
            answer = refusals.of(call.number, exc)
        except Exception as exc:  # a fault of the engine must not leave a worker without an answer
            logger.exception("the call %s of a worker failed", call.method)
            answer = refusals.of(call.number, StorageError(f"{type(exc).__name__}: {exc}"))
        self.stream.send(messages.encode(answer))

    async def _result(self, call: Call) -> Any:
        if call.method not in messages.RESULTS:
            raise InvalidOptions(f"a worker cannot call {call.method!r}")
        if call.method == "replay":
            return await self._kv.replay(Replay(**call.arguments))
        return await getattr(self._kv, call.method)(**call.arguments)


class _LastEncoded:
    """Encodes each batch once for all workers, which get the same batch in the same turn of the event loop."""

    def __init__(self) -> None:
        self._events: Sequence[Event] = ()
        self._message = b""

    def of(self, batch: EventBatch) -> bytes:
        if batch.events is not self._events:
            self._events, self._message = batch.events, messages.encode(Published(batch.events, batch.revision))
        return self._message
