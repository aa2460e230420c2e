"""The generic Store: creations and updates of a kind without rules."""

import weakref

import pytest

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.hooks import Hooks
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions
from aio_apiserver.registry.generic.strategy import Strategy
from aio_apiserver.storage.interface import ListOptions
from aio_apiserver.storage.stored_object import StoredObject
from tests.registry.generic.widgets import DRY, REQUEST, change, create, put, widgets


async def test_create_gives_an_object_its_identity() -> None:
    async with widgets() as store:
        metadata = (await create(store, uid="mine", deletionTimestamp="x")).decode()["metadata"]

    assert metadata["namespace"] == "n"
    assert metadata["creationTimestamp"] == "2023-11-14T22:13:20Z"
    assert metadata["uid"] != "mine"
    assert "deletionTimestamp" not in metadata


async def test_create_refuses_an_existing_name() -> None:
    async with widgets() as store:
        await create(store)

        with pytest.raises(errors.AlreadyExists, match=r'^widgets\.example\.com "a" already exists$'):
            await create(store)


async def test_a_refused_create_keeps_nothing_in_memory() -> None:
    """Until a garbage collection, a cycle would keep the request and its body, which may be large."""

    async def refused() -> "weakref.ref[Exception]":
        try:
            await create(store)
        except errors.AlreadyExists as exc:
            return weakref.ref(exc)
        raise AssertionError("it was created")

    async with widgets() as store:
        await create(store)

        assert (await refused())() is None


async def test_create_tells_that_the_object_in_the_way_is_ending() -> None:
    async with widgets() as store:
        await create(store, finalizers=["example.com/f"])
        await store.delete(REQUEST, "a", DeleteOptions())

        with pytest.raises(errors.AlreadyExists) as caught:
            await create(store)

    assert caught.value.message.startswith("object is being deleted: ")


async def test_create_makes_a_name_from_its_prefix() -> None:
    async with widgets() as store:
        stored = await create(store, name="", generateName="w-")

        name = stored.decode()["metadata"]["name"]
        assert name.startswith("w-")
        assert len(name) == len("w-") + 5
        assert (await store.get(REQUEST, name)).revision == stored.revision


async def test_a_taken_name_beside_a_generate_name_is_a_conflict_of_generated_names() -> None:
    """kube-apiserver tells it so, though the client has chosen the name."""
    async with widgets() as store:
        await create(store)

        with pytest.raises(errors.GenerateNameConflict, match="not able to generate a unique name"):
            await create(store, generateName="w-")


async def test_create_refuses_an_object_of_another_namespace() -> None:
    async with widgets() as store:
        with pytest.raises(errors.BadRequest, match="does not match the namespace sent on the request"):
            await create(store, namespace="m")


async def test_create_tells_all_that_is_wrong() -> None:
    async with widgets() as store:
        with pytest.raises(errors.Invalid) as caught:
            await create(store, name="A", labels={"-": "x"})

    assert [cause["field"] for cause in caught.value.status()["details"]["causes"]] == [
        "metadata.name",
        "metadata.labels",
    ]


async def test_a_dry_run_creates_nothing() -> None:
    async with widgets() as store:
        await store.create(REQUEST, {"metadata": {"name": "a"}}, CreateOptions(dry_run=DRY))

        assert (await store.list(REQUEST, ListOptions())).items == []


async def test_the_hook_after_a_deletion_is_told_of_what_took_effect() -> None:
    seen: list[str] = []

    async def note(stored: StoredObject) -> None:
        seen.append(stored.key)

    async with widgets(hooks=Hooks(after_delete=note)) as store:
        await create(store)
        await store.delete(REQUEST, "a", DeleteOptions(dry_run=DRY))
        assert seen == []

        await store.delete(REQUEST, "a", DeleteOptions())

    assert seen == ["n/a"]


async def test_an_update_of_an_older_state_is_a_conflict() -> None:
    async with widgets() as store:
        old = (await create(store)).decode()
        await change(store, labels={"a": "b"})

        with pytest.raises(errors.Conflict, match="the object has been modified"):
            await put(store, old)


async def test_an_update_without_a_version_replaces_any_state() -> None:
    async with widgets() as store:
        await create(store)

        stored = await put(store, {"metadata": {"name": "a"}, "spec": {"count": 2}})

    assert stored.decode()["spec"] == {"count": 2}


async def test_an_update_without_a_version_is_refused_where_the_kind_says_so() -> None:
    async with widgets(Strategy(allows_unconditional_update=False)) as store:
        await create(store)

        with pytest.raises(errors.Invalid, match="must be specified for an update"):
            await put(store, {"metadata": {"name": "a"}})


async def test_an_update_that_changes_nothing_keeps_the_version() -> None:
    async with widgets() as store:
        first = await create(store)

        second = await put(store, first.decode())

    assert second.revision == first.revision


async def test_an_update_of_a_missing_object_is_refused() -> None:
    async with widgets() as store:
        with pytest.raises(errors.NotFound):
            await put(store, {"metadata": {"name": "a"}})


async def test_an_update_creates_where_the_kind_allows_it() -> None:
    async with widgets(Strategy(allows_create_on_update=True)) as store:
        stored = await put(store, {"metadata": {"name": "a", "deletionGracePeriodSeconds": 30}})

        assert (await store.get(REQUEST, "a")).revision == stored.revision
    assert stored.decode()["metadata"]["uid"]
    assert stored.decode()["metadata"]["deletionGracePeriodSeconds"] == 30


async def test_a_dry_update_shows_the_change_and_keeps_the_object() -> None:
    async with widgets() as store:
        before = await create(store)

        shown = await put(store, {"metadata": {"name": "a"}, "spec": {"count": 2}}, dry_run=DRY)

        assert shown.decode()["spec"] == {"count": 2}
        assert (await store.get(REQUEST, "a")).json == before.json


async def test_generation_grows_with_the_spec_alone() -> None:
    async with widgets(Strategy(has_generation=True)) as store:
        created = await create(store)
        labelled = await change(store, labels={"a": "b"})
        changed = await put(store, {**labelled.decode(), "spec": {"count": 2}})

    generations = [stored.decode()["metadata"]["generation"] for stored in (created, labelled, changed)]
    assert generations == [1, 1, 2]


async def test_the_last_finalizer_off_ends_the_object() -> None:
    async with widgets() as store:
        await create(store, finalizers=["example.com/f"])
        await store.delete(REQUEST, "a", DeleteOptions())

        await change(store, finalizers=[])

        with pytest.raises(errors.NotFound):
            await store.get(REQUEST, "a")


async def test_an_ending_object_gets_no_new_finalizer() -> None:
    async with widgets() as store:
        await create(store, finalizers=["example.com/f"])
        await store.delete(REQUEST, "a", DeleteOptions())

        with pytest.raises(errors.Invalid, match="no new finalizers can be added"):
            await change(store, finalizers=["example.com/f", "example.com/g"])
