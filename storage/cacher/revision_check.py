"""RevisionCheck: gets the store's newest revision, with few requests for all readers that wait at the same time.

A reader of one object names its key. It learns the revision of the object, too, where the store compares objects.

A reader that comes while a request is under way joins the next one. The present answer may be older than a write whose
end this reader has seen. The next request starts at the end of the turn of the event loop, beside a first one of few
readers. Later readers join a third request, which starts when one of the two has ended.

    A asks ──request 1────────┐   B and C come in one turn, and share request 2
     B, C ask ──request 2─────┼──┐
          D and E wait ───────┴──request 3──┐

Beside a request of many readers no other one starts: the server has work until its answer, and the next one is shared
by more.

Must hold: an answer was made after its reader asked. A store that answers without suspending costs no task.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from functools import partial

from msgspec import Struct

from aio_apiserver.base import tracing
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.tracing import TraceLayer
from aio_apiserver.storage.errors import Closed, StorageError
from aio_apiserver.storage.interface import NewestRevisions, Origin
from aio_apiserver.storage.kv.interface import MOST_COMPARED

_MOST = 2
"""The requests that are under way at the same time."""
_FEW = 4
"""Another request starts beside those of fewer readers."""

Checked = tuple[int, int | None]
"""The store's revision, and the object's at it: 0 when there is none, None when it was not compared."""


class _Reader(Struct):
    key: str
    answer: asyncio.Future[Checked]


class RevisionCheck:
    """Requests the revision from the origin."""

    def __init__(self, origin: Origin, tasks: Tasks) -> None:
        self._newest = origin.newest
        self._tasks = tasks
        self._loop: asyncio.AbstractEventLoop | None = None
        """The running loop, from the first request on."""
        self._under_way = 0
        self._asking = 0
        """The readers of the requests that are under way."""
        self._waiting: list[_Reader] = []
        """The readers that wait for the next request."""
        self._checks = 0
        self._shared = 0

    def newest(self, key: str = "") -> Awaitable[Checked]:
        """The revisions of the store and of an object, not older than this call. Raises what the store raises."""
        if not self._under_way:
            return self._ask(key)
        answer = self._next(key)
        return answer if tracing.current() is tracing.UNTRACED else _traced(answer)

    def statistics(self) -> Mapping[str, int]:
        return {"revision_checks": self._checks, "shared_checks": self._shared}

    async def _ask(self, key: str) -> Checked:
        """The answer for one reader, by a request of its own, or by the next one when another has begun."""
        if self._under_way:
            return await self._next(key)
        self._under_way = self._asking = 1
        self._checks += 1
        self._loop = self._loop or asyncio.get_running_loop()  # each call for it is a system call
        try:
            revision, own = await self._newest((key,) if key else ())
        finally:
            self._under_way -= 1
            self._asking -= 1
            self._begin()
        return revision, own[0] if own else None

    def _next(self, key: str) -> "asyncio.Future[Checked]":
        """Join the next request, which begins at the end of this turn of the event loop, or when one has ended."""
        loop = self._loop
        assert loop is not None
        if self._waiting:
            self._shared += 1
        elif self._may_begin():  # else the end of a request begins it
            loop.call_soon(self._begin)
        answer: asyncio.Future[Checked] = loop.create_future()
        self._waiting.append(_Reader(key, answer))
        return answer

    def _may_begin(self) -> bool:
        return not self._under_way or (self._under_way < _MOST and self._asking < _FEW)

    def _begin(self) -> None:
        if self._waiting and self._may_begin():
            asking, self._waiting = self._waiting, []
            self._under_way += 1
            self._asking += len(asking)
            self._checks += 1
            answering = self._tasks.spawn(self._answer(asking), name="check revision")
            answering.add_done_callback(partial(self._end, asking))

    async def _answer(self, asking: list[_Reader]) -> None:
        """Request the revisions for some readers."""
        keys = list({reader.key: None for reader in asking if reader.key})[:MOST_COMPARED]
        try:
            _settle(asking, keys, await self._newest(keys))
        except StorageError as exc:
            _fail(asking, exc)

    def _end(self, asking: list[_Reader], answering: asyncio.Task[None]) -> None:
        """A request has ended; it was cancelled when the cache is closed."""
        self._under_way -= 1
        self._asking -= len(asking)
        if answering.cancelled():
            waiting, self._waiting = self._waiting, []
            _fail(asking + waiting, Closed("the cache is closed"))
            return
        failure = answering.exception()
        if failure is not None:
            _fail(asking, failure)
        self._begin()


async def _traced(answer: "asyncio.Future[Checked]") -> Checked:
    """Count the time of an answer for the trace of its reader: the request is made in a task, outside of it."""
    with tracing.timed(TraceLayer.STORE):
        return await answer


def _settle(readers: list[_Reader], keys: list[str], newest: NewestRevisions) -> None:
    revision, own = newest
    by_key = dict(zip(keys, own, strict=False))
    for reader in readers:
        if not reader.answer.done():
            reader.answer.set_result((revision, by_key.get(reader.key)))


def _fail(readers: list[_Reader], reason: BaseException) -> None:
    for reader in readers:
        if not reader.answer.done():
            reader.answer.set_exception(reason)
