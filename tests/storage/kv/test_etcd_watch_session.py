"""One watch stream, response by response: the receivers of a progress, fragments, and creations in order."""

import pytest
from aetcd import rpc

from aio_apiserver.storage.errors import Compacted, Unauthenticated
from aio_apiserver.storage.kv.etcd.revision import RevisionSeen
from aio_apiserver.storage.kv.etcd.watch_session import SessionRefused, WatchSession
from aio_apiserver.storage.kv.etcd.watcher import EtcdWatcher
from aio_apiserver.storage.kv.interface import EventBatch


@pytest.fixture
def session() -> WatchSession:
    return WatchSession(RevisionSeen(), is_reliable=lambda: True)


def watcher_from(revision: int) -> EtcdWatcher:
    return EtcdWatcher(b"a", b"b", revision, on_drained=lambda _watcher: None)


def created(watch_id: int, *, revision: int) -> rpc.WatchResponse:
    return rpc.WatchResponse(header=rpc.ResponseHeader(revision=revision), watch_id=watch_id, created=True)


def refused(reason: str) -> rpc.WatchResponse:
    return rpc.WatchResponse(watch_id=-1, created=True, canceled=True, cancel_reason=reason)


def announced(revision: int) -> rpc.WatchResponse:
    return rpc.WatchResponse(header=rpc.ResponseHeader(revision=revision), watch_id=-1)


def put(watch_id: int, *revisions: int, fragment: bool = False) -> rpc.WatchResponse:
    events = [
        rpc.Event(type=0, kv=rpc.KeyValue(key=b"a%d" % number, mod_revision=revision, version=1))
        for number, revision in enumerate(revisions)
    ]
    header = rpc.ResponseHeader(revision=revisions[-1])
    return rpc.WatchResponse(header=header, watch_id=watch_id, events=events, fragment=fragment)


async def queued(watcher: EtcdWatcher) -> list[EventBatch]:
    """The batches that wait for the caller."""
    return [await anext(watcher) for _ in range(watcher.backlog)]


def revisions(batches: list[EventBatch]) -> list[list[int]]:
    return [[event.record.mod_revision for event in batch.events] for batch in batches]


class TestAnnouncedProgress:
    async def test_an_answer_that_was_under_way_is_not_for_a_later_watch(self, session: WatchSession) -> None:
        watcher = watcher_from(3)
        session.ask_for_progress()
        session.add(watcher)
        session.dispatch(created(1, revision=10))

        session.dispatch(announced(10))

        assert await queued(watcher) == []

    async def test_an_answer_to_a_later_request_is(self, session: WatchSession) -> None:
        watcher = watcher_from(3)
        session.add(watcher)
        session.dispatch(created(1, revision=10))
        session.ask_for_progress()

        session.dispatch(announced(10))

        assert await queued(watcher) == [EventBatch((), 10)]

    async def test_an_answer_from_after_the_creation_is(self, session: WatchSession) -> None:
        watcher = watcher_from(3)
        session.ask_for_progress()
        session.add(watcher)
        session.dispatch(created(1, revision=10))

        session.dispatch(announced(11))

        assert await queued(watcher) == [EventBatch((), 11)]

    async def test_a_watch_that_wants_nothing_so_old_gets_it_anyway(self, session: WatchSession) -> None:
        watcher = watcher_from(11)
        session.ask_for_progress()
        session.add(watcher)
        session.dispatch(created(1, revision=10))

        session.dispatch(announced(10))

        assert await queued(watcher) == [EventBatch((), 10)]

    async def test_progress_in_a_row_is_told_once_and_never_goes_back(self, session: WatchSession) -> None:
        watcher = watcher_from(3)
        session.add(watcher)
        session.dispatch(created(1, revision=2))
        for revision in (5, 7, 6):
            session.dispatch(announced(revision))

        assert await queued(watcher) == [EventBatch((), 7)]

    async def test_what_was_promised_is_not_asked_for_again(self, session: WatchSession) -> None:
        watcher = watcher_from(3)
        session.add(watcher)
        session.dispatch(created(1, revision=2))

        session.dispatch(announced(9))

        assert watcher.next_revision == 10

    async def test_an_unreliable_promise_changes_nothing(self) -> None:
        session, watcher = WatchSession(RevisionSeen(), is_reliable=lambda: False), watcher_from(3)
        session.add(watcher)
        session.dispatch(created(1, revision=2))

        session.dispatch(announced(9))
        session.dispatch(put(1, 8))

        assert revisions(await queued(watcher)) == [[], [8]]


class TestEvents:
    async def test_the_last_revision_of_a_fragment_waits_for_the_rest(self, session: WatchSession) -> None:
        watcher = watcher_from(3)
        session.add(watcher)
        session.dispatch(created(1, revision=2))
        session.dispatch(put(1, 3, 4, 4, fragment=True))
        session.dispatch(put(1, 4, fragment=True))
        first = await queued(watcher)

        session.dispatch(put(1, 4, 5))

        assert revisions(first) == [[3]]
        assert revisions(await queued(watcher)) == [[4, 4, 4, 4, 5]]

    async def test_what_was_delivered_before_is_dropped(self, session: WatchSession) -> None:
        watcher = watcher_from(5)
        session.add(watcher)
        session.dispatch(created(1, revision=2))

        session.dispatch(put(1, 3, 4))
        session.dispatch(put(1, 4, 5, 6))

        assert revisions(await queued(watcher)) == [[5, 6]]

    async def test_what_comes_late_for_a_watch_that_was_left_reaches_nobody(self, session: WatchSession) -> None:
        gone, stays = watcher_from(3), watcher_from(3)
        session.add(gone)
        session.add(stays)
        session.discard(gone)
        session.dispatch(created(1, revision=2))
        session.dispatch(created(2, revision=2))

        session.dispatch(put(1, 3))
        session.dispatch(put(2, 3))

        assert (gone.backlog, stays.backlog) == (0, 1)


class TestRefusals:
    async def test_creations_are_settled_in_their_order(self, session: WatchSession) -> None:
        first, second = watcher_from(3), watcher_from(3)
        session.add(first)
        session.add(second)

        with pytest.raises(SessionRefused):
            session.dispatch(refused("etcdserver: permission denied"))
        session.dispatch(created(2, revision=2))

        assert not first.is_confirmed.is_set()
        assert second.is_confirmed.is_set()

    async def test_a_second_refusal_is_final(self, session: WatchSession) -> None:
        watcher = watcher_from(3)
        for _ in range(2):
            session.add(watcher)
        with pytest.raises(SessionRefused):
            session.dispatch(refused("etcdserver: permission denied"))

        session.dispatch(refused("rpc error: code = PermissionDenied desc = etcdserver: permission denied"))

        with pytest.raises(Unauthenticated, match=r"^etcdserver: permission denied$"):
            await anext(watcher)

    async def test_an_old_token_is_for_the_stream_to_renew(self, session: WatchSession) -> None:
        watcher = watcher_from(3)
        session.add(watcher)

        with pytest.raises(SessionRefused) as refusal:
            session.dispatch(refused("rpc error: code = Unauthenticated desc = etcdserver: invalid auth token"))

        assert isinstance(refusal.value.failure.error, Unauthenticated)

    async def test_a_compaction_ends_a_watch_after_what_it_has(self, session: WatchSession) -> None:
        watcher = watcher_from(3)
        session.add(watcher)
        session.dispatch(created(1, revision=2))
        session.dispatch(put(1, 3))

        session.dispatch(rpc.WatchResponse(watch_id=1, canceled=True, compact_revision=9))

        assert revisions(await queued(watcher)) == [[3]]
        with pytest.raises(Compacted) as refusal:
            await anext(watcher)
        assert (refusal.value.revision, refusal.value.compact_revision) == (4, 9)

    async def test_a_compaction_of_what_is_not_wanted_is_no_end(self, session: WatchSession) -> None:
        watcher = watcher_from(9)
        session.add(watcher)
        session.dispatch(created(1, revision=2))
        session.dispatch(rpc.WatchResponse(watch_id=1, canceled=True, compact_revision=9))

        session.dispatch(created(2, revision=9))
        session.dispatch(put(2, 9))

        assert revisions(await queued(watcher)) == [[9]]
