"""WatchStream: all etcd watches of an engine, on one stream that is made anew when it breaks.

A watch is a range and the revision of its next event; it is not bound to a connection. When a stream breaks, the next
one, on any member that is up, continues all watches from there.

Must hold: a broken stream is no error of a watch. Watches end when their caller leaves, when their history is
compacted, when they are refused, or when the engine is closed.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import Closed, StorageError, Unauthenticated, Unavailable
from aio_apiserver.storage.kv.etcd import failures
from aio_apiserver.storage.kv.etcd.endpoint import Endpoint
from aio_apiserver.storage.kv.etcd.endpoints import Endpoints
from aio_apiserver.storage.kv.etcd.failures import Effect, Failure
from aio_apiserver.storage.kv.etcd.grpc_status import Metadata
from aio_apiserver.storage.kv.etcd.grpc_stream import GrpcStream
from aio_apiserver.storage.kv.etcd.revision import RevisionSeen
from aio_apiserver.storage.kv.etcd.token import Token
from aio_apiserver.storage.kv.etcd.watch_session import SessionRefused, WatchSession
from aio_apiserver.storage.kv.etcd.watch_states import UnexpectedInput
from aio_apiserver.storage.kv.etcd.watcher import EtcdWatcher

logger = logging.getLogger(__name__)

_FIRST_PAUSE = 0.02
_LAST_PAUSE = 1.0
"""Seconds between streams that break one after the other."""
_FIRST_ASK = 0.1
_LAST_ASK = 1.0
"""Seconds between progress requests while no answer comes: etcd drops them while a watch lags."""
_ENDPOINT_SECONDS = 60.0
_RENEWAL_SECONDS = 5.0


class EtcdWatchStream:
    """The watches of one engine."""

    def __init__(self, endpoints: Endpoints, token: Token, seen: RevisionSeen, clock: Clock) -> None:
        self._endpoints = endpoints
        self._token = token
        self._seen = seen
        self._clock = clock
        self._watchers: set[EtcdWatcher] = set()
        self._session: WatchSession | None = None
        self._endpoint: Endpoint | None = None
        self._breaks = 0
        self._is_wanted = asyncio.Event()
        self._wants_progress = asyncio.Event()
        self._is_closed = False
        self._tasks = Tasks()
        self._tasks.spawn(self._run(), name="etcd watch stream")
        self._tasks.spawn(self._repeat_progress_requests(), name="etcd progress requests")

    def add(self, start: bytes, end: bytes, revision: int) -> EtcdWatcher:
        """Watch start <= key < end from a revision on. Raises Closed."""
        if self._is_closed:
            raise Closed("the engine was closed")
        watcher = EtcdWatcher(start or b"\x00", end, revision, on_drained=self._resume)
        if watcher.start >= watcher.end:
            watcher.is_confirmed.set()  # nothing can come, and etcd would refuse the range
            return watcher
        self._watchers.add(watcher)
        self._is_wanted.set()
        self._resume(watcher)
        return watcher

    def remove(self, watcher: EtcdWatcher) -> None:
        """End a watch. Safe to call twice."""
        watcher.leave()
        self._watchers.discard(watcher)
        if not self._watchers:
            self._is_wanted.clear()
        if self._session is not None:
            self._session.discard(watcher)

    def request_progress(self) -> None:
        """Request progress until every watch has got a notification."""
        for watcher in self._watchers:
            watcher.wants_progress = True
        if self._session is not None:
            self._session.ask_for_progress()
        self._wants_progress.set()

    def statistics(self) -> Mapping[str, Any]:
        """The stream's member, the open watches, their queued batches, and how often the stream broke."""
        return {
            "endpoint": self._endpoint.url if self._endpoint else "",
            "watches": len(self._watchers),
            "queued_batches": sum(watcher.backlog for watcher in self._watchers),
            "full_watches": sum(watcher.is_full for watcher in self._watchers),
            "breaks": self._breaks,
        }

    async def close(self) -> None:
        """End all watches; they raise Closed."""
        self._is_closed = True
        for watcher in self._watchers:
            watcher.abort(Closed("the engine was closed"))
        await self._tasks.close()

    def _resume(self, watcher: EtcdWatcher) -> None:
        if self._session is not None and watcher in self._watchers:
            self._session.add(watcher)

    async def _run(self) -> None:
        """Run one stream after the other; when the task ends, all watches fail."""
        pause = _FIRST_PAUSE
        try:
            while True:
                await self._is_wanted.wait()
                has_served = await self._hold_next()
                pause = _FIRST_PAUSE if has_served else min(pause * 2, _LAST_PAUSE)
                await self._clock.sleep(pause)
        finally:
            self._fail(Unavailable("the watch stream has ended"))

    async def _hold_next(self) -> bool:
        """Run a stream to the next member in turn; returns whether it has brought responses."""
        try:
            endpoint = self._endpoints.pick() or await self._endpoints.wait_until_up(_ENDPOINT_SECONDS)
        except Unavailable:
            return False
        return await self._hold(endpoint)

    async def _hold(self, endpoint: Endpoint) -> bool:
        """Run a stream to one member until it ends; returns whether it has brought responses."""
        metadata = self._token.metadata
        session = WatchSession(self._seen, is_reliable=lambda: endpoint.has_reliable_progress)
        try:
            stream = await endpoint.open_watch_stream(metadata)
            await self._serve(session, endpoint, stream)
            failure = Failure(Effect.UNKNOWN, Unavailable("the server ended the stream"))
        except SessionRefused as refusal:
            failure = refusal.failure
        except UnexpectedInput as defect:
            failure = Failure(Effect.UNKNOWN, Unavailable(f"the server sent what no watch expects: {defect}"))
        except failures.GRPC_EXCEPTIONS as error:
            failure = failures.of_exception(error)
        self._breaks += 1
        logger.debug("etcd watch stream to %s ended: %s", endpoint.url, failure.error)
        await self._react(endpoint, failure, metadata)
        return session.has_served

    async def _serve(self, session: WatchSession, endpoint: Endpoint, stream: GrpcStream) -> None:
        """Run all watches on a stream until it ends. Raises RpcFailed, SessionRefused."""
        sender = self._tasks.spawn(session.send(stream), name="sender of the etcd watch stream")
        endpoint.streams.add(stream)
        self._endpoint, self._session = endpoint, session
        for watcher in self._watchers:
            if not watcher.is_full:
                session.add(watcher)
        try:
            await session.receive(stream)
        finally:
            self._session = self._endpoint = None
            endpoint.streams.discard(stream)
            sender.cancel()
            stream.cancel()
            for watcher in self._watchers:
                watcher.disconnect()

    async def _react(self, endpoint: Endpoint, failure: Failure, refused: Metadata) -> None:
        """Prepare the next stream: leave a member that cannot serve, and renew an expired token."""
        if failure.leave:
            self._endpoints.leave(endpoint, str(failure.error))
        if not isinstance(failure.error, Unauthenticated):
            return
        try:
            await self._token.renew(endpoint, refused, seconds=_RENEWAL_SECONDS)
        except Unauthenticated as error:
            self._fail(error)
        except failures.GRPC_EXCEPTIONS as error:
            failure = failures.of_exception(error)
            if failure.effect is Effect.REFUSED:
                self._fail(failure.error)

    def _fail(self, reason: StorageError) -> None:
        for watcher in self._watchers:
            watcher.fail(reason)
        self._watchers.clear()
        self._is_wanted.clear()

    async def _repeat_progress_requests(self) -> None:
        """Repeat progress requests without an answer: etcd drops a request while a watch of the stream lags."""
        while True:
            await self._wants_progress.wait()
            self._wants_progress.clear()
            pause = _FIRST_ASK
            await self._clock.sleep(pause)
            while any(watcher.wants_progress and not watcher.is_full for watcher in self._watchers):
                if self._session is not None:
                    self._session.ask_for_progress()
                await self._clock.sleep(pause)
                pause = min(pause * 2, _LAST_ASK)
