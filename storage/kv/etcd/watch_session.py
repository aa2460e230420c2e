"""WatchSession: all etcd watches on one gRPC stream to one member, until that stream ends.

It gives each watcher an id, creates its watch, and hands each response to the watcher with its id. WatchStream takes
the watchers over when the stream ends.

Must hold: an id is used once, so that late events of a cancelled watch are dropped. A progress notification for the
whole stream reaches the watchers that it is valid for. It may be under way while a watch with older events is being
created.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import Callable

from msgspec import Struct

import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc
from aio_apiserver.storage.errors import Compacted
from aio_apiserver.storage.kv.etcd import failures
from aio_apiserver.storage.kv.etcd.failures import Effect, Failure
from aio_apiserver.storage.kv.etcd.grpc_stream import GrpcStream
from aio_apiserver.storage.kv.etcd.revision import RevisionSeen
from aio_apiserver.storage.kv.etcd.watcher import EtcdWatcher

_EVERYBODY = -1
"""The watch id of a response for the whole stream."""


class SessionRefused(Exception):
    """The server refuses watches on this stream; another stream, with another token, may be accepted."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure.error))
        self.failure = failure


class _Place(Struct):
    """A watcher on this stream. created: the store's revision at its creation; asked: progress requests before it."""

    watcher: EtcdWatcher
    id: int
    start: int
    is_created: bool = False
    created: int = 0
    requested: int = 0


class WatchSession:
    """One stream. `is_reliable`: whether its server's answers to progress requests can be trusted."""

    def __init__(self, seen: RevisionSeen, *, is_reliable: Callable[[], bool]) -> None:
        self.has_served = False
        """Whether the stream has brought a response."""
        self._seen = seen
        self._is_reliable = is_reliable
        self._ids = itertools.count(1)
        self._by_id: dict[int, _Place] = {}
        self._by_watcher: dict[EtcdWatcher, _Place] = {}
        self._created_next: deque[_Place] = deque()
        self._outbox: asyncio.Queue[rpc.WatchRequest] = asyncio.Queue()
        self._requested = 0
        self._answered = 0

    def add(self, watcher: EtcdWatcher) -> None:
        """Watch for a watcher, from its next revision on."""
        self._create(watcher, watcher.next_revision)

    def discard(self, watcher: EtcdWatcher) -> None:
        """Cancel a watcher's watch. Safe when it is not on this stream."""
        place = self._by_watcher.pop(watcher, None)
        if place is None:
            return
        del self._by_id[place.id]
        watcher.disconnect()
        self._outbox.put_nowait(rpc.WatchRequest(cancel_request=rpc.WatchCancelRequest(watch_id=place.id)))

    def ask_for_progress(self) -> None:
        """Request a progress notification; etcd sends none while a watch of the stream lags or starts in the future.

        So a watch that starts after the newest seen revision is created again at that revision. It drops the few events
        before its start.
        """
        for place in list(self._by_watcher.values()):
            if place.is_created and place.start > self._seen.value:
                self.discard(place.watcher)
                self._create(place.watcher, self._seen.value)
        self._requested += 1
        self._outbox.put_nowait(rpc.WatchRequest(progress_request=rpc.WatchProgressRequest()))

    async def send(self, stream: GrpcStream) -> None:
        """Send the queued requests, until cancelled."""
        while True:
            request = await self._outbox.get()
            stream.write(request.SerializeToString())

    async def receive(self, stream: GrpcStream) -> None:
        """Hand out all responses until the stream ends. Raises RpcFailed, SessionRefused."""
        await stream.receive(self._dispatch_all)

    def _dispatch_all(self, messages: list[bytes]) -> None:
        for message in messages:
            self.dispatch(rpc.WatchResponse.FromString(message))

    def dispatch(self, response: rpc.WatchResponse) -> None:
        """Hand out one response. Raises SessionRefused."""
        self.has_served = True
        self._seen.note(response.header.revision)
        if response.created:
            self._settle_creation(response)
        elif response.canceled:
            self._settle_end(response)
        elif response.watch_id == _EVERYBODY:
            self._announce(response.header.revision)
        else:
            self._deliver(response)

    def _create(self, watcher: EtcdWatcher, start: int) -> None:
        place = _Place(watcher, next(self._ids), start)
        self._by_id[place.id] = self._by_watcher[watcher] = place
        self._created_next.append(place)
        creation = rpc.WatchCreateRequest(
            key=watcher.start,
            range_end=watcher.end,
            start_revision=start,
            watch_id=place.id,
            prev_kv=True,
            fragment=True,
            progress_notify=True,
        )
        self._outbox.put_nowait(rpc.WatchRequest(create_request=creation))

    def _settle_creation(self, response: rpc.WatchResponse) -> None:
        """Match a creation's answer: etcd answers creations in their order, and a refused one may have no id."""
        place = self._created_next.popleft()
        if place.id not in self._by_id:
            return
        if response.canceled:
            self._refuse(place, failures.of_cancelled_watch(response.cancel_reason))
            return
        place.is_created, place.created, place.requested = True, response.header.revision, self._requested
        place.watcher.confirm()

    def _settle_end(self, response: rpc.WatchResponse) -> None:
        place = self._by_id.get(response.watch_id)
        if place is None:
            return  # the watch was cancelled by us
        if not response.compact_revision:
            self._refuse(place, failures.of_cancelled_watch(response.cancel_reason))
            return
        self._forget(place)
        watcher = place.watcher
        if watcher.next_revision < response.compact_revision:
            watcher.fail(Compacted(watcher.next_revision, response.compact_revision))
        else:
            self.add(watcher)  # only what it did not want has been compacted

    def _refuse(self, place: _Place, failure: Failure) -> None:
        """End a watch. But etcd before 3.5.8 reports an expired token as a missing permission, so first try a new token
        once.
        """
        if failure.effect is not Effect.REFUSED or place.watcher.may_be_permitted():
            raise SessionRefused(failure)
        self._forget(place)
        place.watcher.fail(failure.error)

    def _announce(self, revision: int) -> None:
        """Pass a stream's progress on to the watchers that it is valid for.

        It is valid in three cases. Its revision is later than that of the watch's creation. Or it answers a request
        that was sent after the creation, since the n-th answer is not for a request before the n-th. Or the watch wants
        nothing up to that revision.
        """
        self._answered += 1
        for place in self._by_watcher.values():
            watcher = place.watcher
            if place.is_created and (
                revision > place.created or self._answered > place.requested or revision < watcher.next_revision
            ):
                watcher.promise(revision, is_reliable=self._is_reliable())

    def _deliver(self, response: rpc.WatchResponse) -> None:
        place = self._by_id.get(response.watch_id)
        if place is None:
            return
        watcher = place.watcher
        if not response.events:
            watcher.promise(response.header.revision, is_reliable=self._is_reliable())
            return
        watcher.receive(response)
        if watcher.is_full:
            self.discard(watcher)

    def _forget(self, place: _Place) -> None:
        del self._by_id[place.id]
        del self._by_watcher[place.watcher]
