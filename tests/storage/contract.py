"""The contract suite of storages: every sentence of storage/interface.py, as tests.

A test module subclasses StorageContract. Its `storage` fixture makes a storage, and its `elapse` fixture advances the
time:

    class TestStoreInMemory(StorageContract):
        @pytest.fixture
        async def storage(self, clock, kv): ...

The storage keeps steps.WIDGETS, is empty, and has no other users. Tests may close it. OriginContract has the tests for
storages that read from the store itself.
"""

import asyncio

import pytest

from aio_apiserver.storage.errors import Compacted, RevisionExpired
from aio_apiserver.storage.interface import ListOptions, Origin, ResourceVersionMatch, Storage, WatchEventType
from aio_apiserver.storage.kv.interface import KV
from tests.storage import contract_reads, contract_watches, contract_writes
from tests.storage.steps import Elapse, Watcher, create, in_time, set_spec, shapes

__all__ = ["OriginContract", "StorageContract"]

EXPIRED = "The resourceVersion for the provided list is too old."
CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list "
    "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
    "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
    "modified, or deleted between the time the first chunk was returned and now may show up in the list."
)


class StorageFixtures:
    """The fixtures of every contract. Subclasses override `storage`, and `elapse` if their clock stands still."""

    @pytest.fixture
    async def storage(self) -> Storage:
        """An empty storage of WIDGETS; closed after the test."""
        raise NotImplementedError

    @pytest.fixture
    def elapse(self) -> Elapse:
        """Advance the time for the storage. By default real time passes; the tests wait for its effects."""

        async def elapse(_seconds: float) -> None:
            return

        return elapse


class StorageContract(
    contract_writes.CreateContract,
    contract_writes.UpdateContract,
    contract_writes.PreconditionContract,
    contract_writes.SuggestionContract,
    contract_writes.RaceContract,
    contract_writes.DeleteContract,
    contract_reads.GetContract,
    contract_reads.ListContract,
    contract_reads.PagingContract,
    contract_reads.RevisionContract,
    contract_watches.WatchEventContract,
    contract_watches.SelectionContract,
    contract_watches.StartContract,
    contract_watches.EndContract,
    contract_watches.LifecycleContract,
    StorageFixtures,
):
    """The tests for every storage."""


class OriginContract(StorageContract):
    """The tests for a storage that reads from the store itself; `kv` is its engine."""

    @pytest.fixture
    def kv(self) -> KV:
        raise NotImplementedError

    @pytest.fixture
    def origin(self, storage: Origin) -> Origin:
        return storage

    async def test_the_current_revision_is_not_older_than_any_write(self, origin: Origin) -> None:
        created = await create(origin, "a")

        revision, own = await origin.newest(["default/a", "default/b"])

        assert revision >= created.revision
        assert list(own) in ([], [created.revision, 0])

    async def test_a_get_at_any_revision_is_the_newest(self, origin: Origin) -> None:
        updated = await set_spec(origin, await create(origin, "a", color="red"), color="blue")

        assert (await origin.get("default/a", resource_version=0)).json == updated.json

    async def test_progress_of_the_store_is_a_bookmark_for_those_who_want_it(self, origin: Origin) -> None:
        created = await create(origin, "a")
        wanting = await Watcher.on(origin, resource_version=created.revision, allow_bookmarks=True)
        other = await Watcher.on(origin, resource_version=created.revision)

        while not wanting.events:
            await origin.request_progress()
            await _a_turn()
        last = await create(origin, "b")

        bookmark = wanting.events[0]
        assert (bookmark.type, bookmark.object, bookmark.ends_initial_events) == (WatchEventType.BOOKMARK, None, False)
        assert bookmark.revision >= created.revision
        assert [event.revision for event in await other.take(1)] == [last.revision]
        wanting.stop()
        other.stop()

    async def test_past_changes_show_each_state_before_and_after(self, origin: Origin, kv: KV) -> None:
        first = await create(origin, "a", color="red")
        changed = await set_spec(origin, first, color="blue")
        second = await create(origin, "b")
        gone = await origin.delete("default/b")
        other = await kv.put(b"/elsewhere", b"", expected_mod_revision=0)
        if not origin.has_reliable_progress:
            await create(origin, "c")

        found = await in_time(origin.past_changes(first.revision, other.revision))

        assert [(one.key, one.revision) for one in found] == [
            ("default/a", changed.revision),
            ("default/b", second.revision),
            ("default/b", gone.revision),
        ]
        assert [one.previous and one.previous.json for one in found] == [first.json, None, second.json]
        assert [one.current and one.current.json for one in found] == [changed.json, second.json, None]

    async def test_past_changes_of_a_compacted_history_are_refused(self, origin: Origin, kv: KV) -> None:
        first = await create(origin, "a")
        second = await create(origin, "b")
        last = await create(origin, "c")
        await kv.compact(second.revision)

        with pytest.raises(Compacted) as failure:
            await in_time(origin.past_changes(first.revision, last.revision))

        assert failure.value.compact_revision == second.revision

    async def test_an_exact_list_of_a_compacted_revision_has_expired(self, origin: Origin, kv: KV) -> None:
        first = await create(origin, "a")
        last = await create(origin, "b")
        await kv.compact(last.revision)

        for options in (
            ListOptions(resource_version=first.revision, match=ResourceVersionMatch.EXACT),
            ListOptions(resource_version=first.revision, limit=1),
        ):
            with pytest.raises(RevisionExpired) as failure:
                await origin.get_list("", options)
            assert (str(failure.value), failure.value.continue_token) == (EXPIRED, "")
        with pytest.raises(RevisionExpired):
            await origin.get_list(
                "default/a",
                ListOptions(resource_version=first.revision, match=ResourceVersionMatch.EXACT, recursive=False),
            )

    async def test_an_expired_token_goes_on_with_the_present(self, origin: Origin, kv: KV) -> None:
        for name in ("a", "b", "c", "d"):
            await create(origin, name)
        first = await origin.get_list("", ListOptions(limit=2))
        await origin.delete("default/c")
        last = await create(origin, "e")
        await kv.compact(last.revision)

        with pytest.raises(RevisionExpired) as failure:
            await origin.get_list("", ListOptions(limit=2, continue_token=first.continue_token))
        rest = await origin.get_list("", ListOptions(limit=1, continue_token=failure.value.continue_token))
        end = await origin.get_list("", ListOptions(limit=1, continue_token=rest.continue_token))

        assert str(failure.value) == CONTINUE_EXPIRED
        assert [item.key for item in (*rest.items, *end.items)] == ["default/d", "default/e"]
        assert rest.revision == end.revision >= last.revision

    async def test_a_watch_from_a_compacted_revision_has_expired(self, origin: Origin, kv: KV) -> None:
        first = await create(origin, "a")
        await create(origin, "b")
        last = await create(origin, "c")
        await kv.compact(last.revision)

        with pytest.raises(RevisionExpired, match=r"^The resourceVersion for the provided watch is too old\.$"):
            await Watcher.on(origin, resource_version=first.revision)

    async def test_a_watch_from_the_compacted_revision_itself_goes_on(self, origin: Origin, kv: KV) -> None:
        await create(origin, "a")
        last = await create(origin, "b")
        await kv.compact(last.revision)

        watcher = await Watcher.on(origin, resource_version=last.revision)
        await create(origin, "c")

        assert shapes(await watcher.take(1)) == [(WatchEventType.ADDED, "default/c")]
        watcher.stop()


async def _a_turn() -> None:
    """Let other tasks and the network run for a moment."""
    await asyncio.sleep(0.001)
