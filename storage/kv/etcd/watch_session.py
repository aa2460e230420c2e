"""WatchSession: all etcd watches on one gRPC stream to one member, until that stream ends.

It gives each watcher an id, creates its watch, and hands each response to the watcher with its id. watch_states.py has
the states of a watch. WatchStream takes the watchers over when the stream ends.

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
from aio_apiserver.storage.kv.etcd.watch_states import WatchInput, WatchState, next_state
from aio_apiserver.storage.kv.etcd.watcher import EtcdWatcher

WHOLE_STREAM = -1
"""The watch id of a response for all watches of the stream."""


class SessionRefused(Exception):
    """The server refuses watches on this stream; another stream, with another token, may be accepted."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure.error))
        self.failure = failure


class _StreamWatch(Struct):
    """A watch on this stream.

    created: the store's revision at its creation. requested: the progress requests that were sent before it.
    """

    watcher: EtcdWatcher
    id: int
    start: int
    state: WatchState = WatchState.REQUESTED
    created: int = 0
    requested: int = 0

    def take(self, happened: WatchInput) -> None:
        """Go on to the next state. Raises UnexpectedInput."""
        self.state = next_state(self.state, happened)

    @property
    def is_open(self) -> bool:
        return self.state is WatchState.OPEN


class WatchSession:
    """One stream. `is_reliable`: whether its server's answers to progress requests can be trusted."""

    def __init__(self, seen: RevisionSeen, *, is_reliable: Callable[[], bool]) -> None:
        self.has_served = False
        """Whether the stream has brought a response."""
        self._seen = seen
        self._is_reliable = is_reliable
        self._ids = itertools.count(1)
        self._by_id: dict[int, _StreamWatch] = {}
        self._by_watcher: dict[EtcdWatcher, _StreamWatch] = {}
        self._created_next: deque[_StreamWatch] = deque()
        self._outbox: asyncio.Queue[rpc.WatchRequest] = asyncio.Queue()
        self._requested = 0
        self._answered = 0

    def add(self, watcher: EtcdWatcher) -> None:
        """Watch for a watcher, from its next revision on."""
        self._create(watcher, watcher.next_revision)

    def discard(self, watcher: EtcdWatcher) -> None:
        """Cancel a watcher's watch. Safe when it is not on this stream."""
        watch = self._by_watcher.pop(watcher, None)
        if watch is None:
            return
        watch.take(WatchInput.LEFT)
        del self._by_id[watch.id]
        watcher.disconnect()
        self._outbox.put_nowait(rpc.WatchRequest(cancel_request=rpc.WatchCancelRequest(watch_id=watch.id)))

    def ask_for_progress(self) -> None:
        """Request a progress notification; etcd sends none while a watch of the stream lags or starts in the future.

        So a watch that starts after the newest seen revision is created again at that revision. It drops the few events
        before its start.
        """
        for watch in list(self._by_watcher.values()):
            if watch.is_open and watch.start > self._seen.value:
                self.discard(watch.watcher)
                self._create(watch.watcher, self._seen.value)
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
        elif response.watch_id == WHOLE_STREAM:
            self._announce(response.header.revision)
        else:
            self._deliver(response)

    def _create(self, watcher: EtcdWatcher, start: int) -> None:
        watch = _StreamWatch(watcher, next(self._ids), start)
        self._by_id[watch.id] = self._by_watcher[watcher] = watch
        self._created_next.append(watch)
        creation = rpc.WatchCreateRequest(
            key=watcher.start,
            range_end=watcher.end,
            start_revision=start,
            watch_id=watch.id,
            prev_kv=True,
            fragment=True,
            progress_notify=True,
        )
        self._outbox.put_nowait(rpc.WatchRequest(create_request=creation))

    def _settle_creation(self, response: rpc.WatchResponse) -> None:
        """Match a creation's answer: etcd answers creations in their order, and a refused one may have no id."""
        watch = self._created_next.popleft()
        if watch.id not in self._by_id:
            return
        if response.canceled:
            self._refuse(watch, failures.of_cancelled_watch(response.cancel_reason))
            return
        watch.take(WatchInput.CREATED)
        watch.created, watch.requested = response.header.revision, self._requested
        watch.watcher.confirm()

    def _settle_end(self, response: rpc.WatchResponse) -> None:
        watch = self._by_id.get(response.watch_id)
        if watch is None:
            return  # the watch was cancelled by us
        if not response.compact_revision:
            self._refuse(watch, failures.of_cancelled_watch(response.cancel_reason))
            return
        self._forget(watch, WatchInput.COMPACTED)
        watcher = watch.watcher
        if watcher.next_revision < response.compact_revision:
            watcher.fail(Compacted(watcher.next_revision, response.compact_revision))
        else:
            self.add(watcher)  # only what it did not want has been compacted

    def _refuse(self, watch: _StreamWatch, failure: Failure) -> None:
        """End a watch. But etcd before 3.5.8 reports an expired token as a missing permission, so first try a new token
        once.
        """
        if failure.effect is not Effect.REFUSED or watch.watcher.may_be_permitted():
            raise SessionRefused(failure)
        self._forget(watch, WatchInput.REFUSED)
        watch.watcher.fail(failure.error)

    def _announce(self, revision: int) -> None:
        """Pass a stream's progress on to the watchers that it is valid for.

        It is valid in three cases. Its revision is later than that of the watch's creation. Or it answers a request
        that was sent after the creation, since the n-th answer is not for a request before the n-th. Or the watch wants
        nothing up to that revision.
        """
        self._answered += 1
        for watch in self._by_watcher.values():
            watcher = watch.watcher
            if watch.is_open and (
                revision > watch.created or self._answered > watch.requested or revision < watcher.next_revision
            ):
                watch.take(WatchInput.PROGRESS)
                watcher.promise(revision, is_reliable=self._is_reliable())

    def _deliver(self, response: rpc.WatchResponse) -> None:
        watch = self._by_id.get(response.watch_id)
        if watch is None:
            return
        watcher = watch.watcher
        watch.take(WatchInput.EVENTS if response.events else WatchInput.PROGRESS)
        if not response.events:
            watcher.promise(response.header.revision, is_reliable=self._is_reliable())
            return
        watcher.receive(response)
        if watcher.is_full:
            self.discard(watcher)

    def _forget(self, watch: _StreamWatch, happened: WatchInput) -> None:
        watch.take(happened)
        del self._by_id[watch.id]
        del self._by_watcher[watch.watcher]
