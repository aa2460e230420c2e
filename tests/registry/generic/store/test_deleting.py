"""Deletions through the generic Store: grace, finalizers, preconditions, propagation."""

import asyncio

import pytest

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.authorizer import Attributes as Question
from aio_apiserver.registry.generic.access.authorizer import Decision, Verdict
from aio_apiserver.registry.generic.admission.interface import Attributes, Chain, Operation, Plugin
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.store import deleting
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.generic.strategy import Strategy
from aio_apiserver.storage.factory.dry_run import DryRunnableStorage
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import ListOptions, Preconditions
from tests.registry.generic.widgets import (
    DRY,
    REQUEST,
    Graceful,
    Interfering,
    change,
    create,
    interfering,
    widgets,
)


async def test_an_object_that_nothing_holds_goes_at_once() -> None:
    async with widgets() as store:
        await create(store)

        deleted = await store.delete(REQUEST, "a", DeleteOptions())

        assert deleted.is_gone
        with pytest.raises(errors.NotFound):
            await store.get(REQUEST, "a")


async def test_a_missing_object_is_not_found() -> None:
    async with widgets() as store:
        with pytest.raises(errors.NotFound, match=r'widgets\.example\.com "a" not found'):
            await store.delete(REQUEST, "a", DeleteOptions())


@pytest.mark.parametrize(
    ("options", "finalizers"),
    [
        (DeleteOptions(propagation_policy="Foreground"), ["foregroundDeletion"]),
        (DeleteOptions(propagation_policy="Orphan"), ["orphan"]),
        (DeleteOptions(orphan_dependents=True), ["orphan"]),
    ],
)
async def test_dependents_hold_an_object(options: DeleteOptions, finalizers: list[str]) -> None:
    async with widgets() as store:
        await create(store)

        deleted = await store.delete(REQUEST, "a", options)

        metadata = (await store.get(REQUEST, "a")).decode()["metadata"]
    assert not deleted.is_gone
    assert metadata["finalizers"] == finalizers
    assert metadata["deletionTimestamp"] == "2023-11-14T22:13:20Z"
    assert metadata["deletionGracePeriodSeconds"] == 0


async def test_a_background_deletion_takes_an_earlier_policy_back() -> None:
    async with widgets() as store:
        await create(store, finalizers=["foregroundDeletion"])

        deleted = await store.delete(REQUEST, "a", DeleteOptions(propagation_policy="Background"))

    assert deleted.is_gone


async def test_grace_keeps_an_object_until_somebody_says_that_it_is_over() -> None:
    async with widgets(Graceful()) as store:
        await create(store)

        first = await store.delete(REQUEST, "a", DeleteOptions())
        second = await store.delete(REQUEST, "a", DeleteOptions(grace_period_seconds=0))

    assert not first.is_gone
    assert first.stored.decode()["metadata"]["deletionTimestamp"] == "2023-11-14T22:13:50Z"
    assert second.is_gone


async def test_a_second_deletion_shortens_grace_and_never_makes_it_longer() -> None:
    async with widgets(Graceful()) as store:
        await create(store)
        await store.delete(REQUEST, "a", DeleteOptions())

        shorter = await store.delete(REQUEST, "a", DeleteOptions(grace_period_seconds=10))
        longer = await store.delete(REQUEST, "a", DeleteOptions(grace_period_seconds=60))

    assert shorter.stored.decode()["metadata"]["deletionTimestamp"] == "2023-11-14T22:13:30Z"
    assert longer.stored.decode()["metadata"]["deletionGracePeriodSeconds"] == 10


async def test_a_finalizer_that_is_set_meanwhile_holds_an_object_whose_grace_is_over() -> None:
    meddler = Interfering()
    async with widgets(Graceful(), admission=interfering(meddler)) as store:
        await create(store)

        async def begin_to_end() -> None:
            await change(store, finalizers=["example.com/f"])
            await store.delete(REQUEST, "a", DeleteOptions(grace_period_seconds=0))

        meddler.act = begin_to_end
        deleted = await store.delete(REQUEST, "a", DeleteOptions(grace_period_seconds=0))

        assert not deleted.is_gone
        assert (await store.get(REQUEST, "a")).decode()["metadata"]["finalizers"] == ["example.com/f"]


async def test_a_finalizer_that_is_set_meanwhile_holds_an_object_that_nothing_held() -> None:
    meddler = Interfering()
    async with widgets(admission=interfering(meddler)) as store:
        await create(store)

        async def hold() -> None:
            await change(store, finalizers=["example.com/f"])

        meddler.act = hold
        deleted = await store.delete(REQUEST, "a", DeleteOptions())

        assert not deleted.is_gone
        metadata = (await store.get(REQUEST, "a")).decode()["metadata"]
        assert metadata["finalizers"] == ["example.com/f"]
        assert metadata["deletionTimestamp"]


async def test_a_grace_beyond_all_calendars_ends_in_some_centuries() -> None:
    async with widgets(Graceful()) as store:
        await create(store)

        deleted = await store.delete(REQUEST, "a", DeleteOptions(grace_period_seconds=2**63 - 1))
        sooner = await store.delete(REQUEST, "a", DeleteOptions(grace_period_seconds=10))

    assert deleted.stored.decode()["metadata"]["deletionTimestamp"].startswith("2316-")
    assert sooner.stored.decode()["metadata"]["deletionTimestamp"] == "2023-11-14T22:13:30Z"


@pytest.mark.parametrize("preconditions", [Preconditions(uid="x"), Preconditions(resource_version="1000000")])
async def test_preconditions_protect_an_object(preconditions: Preconditions) -> None:
    async with widgets() as store:
        await create(store)

        with pytest.raises(errors.Conflict, match="in the precondition"):
            await store.delete(REQUEST, "a", DeleteOptions(preconditions=preconditions))

        assert await store.get(REQUEST, "a")


async def test_a_dry_deletion_changes_nothing() -> None:
    async with widgets() as store:
        before = await create(store)

        deleted = await store.delete(REQUEST, "a", DeleteOptions(dry_run=DRY))

        assert deleted.is_gone
        assert (await store.get(REQUEST, "a")).json == before.json


async def test_a_collection_goes_though_one_of_its_objects_is_gone_already() -> None:
    meddler = Interfering()
    async with widgets(admission=interfering(meddler)) as store:
        for name in ("a", "b", "c"):
            await create(store, name)

        async def take_the_next() -> None:
            await store.delete(REQUEST, "b", DeleteOptions())

        meddler.act = take_the_next
        result = await store.delete_collection(REQUEST, DeleteOptions(), ListOptions())

        assert len(result.items) == 3
        assert not (await store.list(REQUEST, ListOptions())).items


class Meeting(Plugin):
    """Lets deletions go on in pairs only."""

    name = "Meeting"
    operations = frozenset({Operation.DELETE})

    def __init__(self) -> None:
        self._pair = asyncio.Barrier(2)

    async def validate(self, attributes: Attributes) -> None:
        await self._pair.wait()


async def test_the_objects_of_a_collection_are_deleted_by_as_many_workers_as_there_may_be() -> None:
    async with widgets(admission=Chain([Meeting()]), config=Config(delete_collection_workers=2)) as store:
        for name in ("a", "b", "c", "d"):
            await create(store, name)

        result = await store.delete_collection(REQUEST, DeleteOptions(), ListOptions())

        assert len(result.items) == 4
        assert not (await store.list(REQUEST, ListOptions())).items


class Guarding(Plugin):
    """Refuses the deletion of one object."""

    name = "Guarding"
    operations = frozenset({Operation.DELETE})

    async def validate(self, attributes: Attributes) -> None:
        if attributes.name == "b":
            raise errors.Forbidden(None, "b", why="guarded")


@pytest.mark.parametrize(("workers", "left"), [(1, ["b", "c"]), (2, ["b"])])
async def test_a_worker_ends_at_its_first_failure(workers: int, left: list[str]) -> None:
    async with widgets(admission=Chain([Guarding()]), config=Config(delete_collection_workers=workers)) as store:
        for name in ("a", "b", "c"):
            await create(store, name)

        with pytest.raises(errors.Forbidden, match="guarded"):
            await store.delete_collection(REQUEST, DeleteOptions(), ListOptions())

        assert [one.decode()["metadata"]["name"] for one in (await store.list(REQUEST, ListOptions())).items] == left


async def test_an_object_at_hand_is_deleted_without_a_check_of_the_revision() -> None:
    kind = Kind(group="apps", plural="gadgets", kind="Gadget")
    async with StorageFactory(StorageConfig()) as factory:
        storage = factory.storage_for(resource_of(kind))
        store = Store(kind=kind, storage=DryRunnableStorage(storage), strategy=Strategy())
        await create(store)
        await store.get(REQUEST, "a", resource_version=0)
        await storage.wait_until_ready()

        deleted = await store.delete(REQUEST, "a", DeleteOptions())

        assert deleted.is_gone
        assert factory.statistics_of("apps", "gadgets")["reads"]["consistent_reads"] == 0


async def test_a_deletion_of_what_cannot_be_read_needs_a_right_of_its_own() -> None:
    asked: list[tuple[str, str]] = []

    class Refusing:
        """Allows nothing."""

        async def authorize(self, attributes: Question) -> Decision:
            asked.append((attributes.verb, attributes.name))
            return Decision(Verdict.NO_OPINION, "no role")

    config = Config(deletes_unreadable=True)
    async with widgets(authorizer=Refusing(), config=config) as store:
        with pytest.raises(
            errors.Forbidden, match='not permitted to do "unsafe-delete-ignore-read-errors", reason: no'
        ):
            await store.delete(REQUEST, "a", DeleteOptions(ignores_read_error=True))

    assert asked == [("unsafe-delete-ignore-read-errors", "a")]


async def test_a_collection_is_deleted_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deleting, "_PAGE", 2)
    async with widgets() as store:
        for name in "abcde":
            await create(store, name)

        deleted = await store.delete_collection(REQUEST, DeleteOptions(), ListOptions())

        left = await store.list(REQUEST, ListOptions())
    assert [item.key for item in deleted.items] == [f"n/{name}" for name in "abcde"]
    assert (deleted.continue_token, deleted.remaining) == ("", None)
    assert not left.items
