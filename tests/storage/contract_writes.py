"""The writes of the storage contract: creations, updates with their suggestions and races, deletions."""

import asyncio

import pytest

from aio_apiserver.storage.errors import (
    InvalidOptions,
    KeyExists,
    KeyNotFound,
    NotStorable,
    PreconditionFailed,
    TooLarge,
)
from aio_apiserver.storage.interface import Preconditions, Storage, Update, WatchEventType
from aio_apiserver.storage.kv.interface import MAX_VALUE_BYTES
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.steps import Elapse, Watcher, create, set_spec, setting, shape, unchanged, widget


class Refused(Exception):
    """What a caller's own function raises."""


class CreateContract:
    async def test_a_creation_returns_the_object_under_its_revision(self, storage: Storage) -> None:
        stored = await storage.create("default/a", widget("a", color="red"))

        obj = stored.decode()
        assert (stored.key, obj["spec"]) == ("default/a", {"color": "red"})
        assert obj["metadata"]["resourceVersion"] == str(stored.revision)

    async def test_what_was_created_can_be_read(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        found = await storage.get("default/a")

        assert (found.json, found.revision) == (created.json, created.revision)

    async def test_revisions_grow_with_each_creation(self, storage: Storage) -> None:
        first = await create(storage, "b")
        second = await create(storage, "a")

        assert second.revision > first.revision

    async def test_create_refuses_an_existing_key(self, storage: Storage) -> None:
        first = await create(storage, "a", color="red")

        with pytest.raises(KeyExists):
            await create(storage, "a", color="blue")
        assert (await storage.get("default/a")).json == first.json

    @pytest.mark.parametrize("text", ["0", "not a version"])
    async def test_create_takes_what_is_no_resource_version(self, storage: Storage, text: str) -> None:
        obj = widget("a")
        obj["metadata"]["resourceVersion"] = text

        stored = await storage.create("default/a", obj)

        assert stored.decode()["metadata"]["resourceVersion"] == str(stored.revision)

    async def test_create_refuses_a_resource_version(self, storage: Storage) -> None:
        obj = widget("a")
        obj["metadata"]["resourceVersion"] = "7"

        with pytest.raises(InvalidOptions, match="resourceVersion should not be set on objects to be created"):
            await storage.create("default/a", obj)
        with pytest.raises(KeyNotFound):
            await storage.get("default/a")

    async def test_a_deleted_key_can_be_created_again(self, storage: Storage) -> None:
        first = await create(storage, "a", color="red")
        await storage.delete("default/a")

        again = await create(storage, "a", color="blue")

        assert again.revision > first.revision
        assert (await storage.get("default/a")).decode()["spec"] == {"color": "blue"}

    async def test_create_refuses_what_is_not_json(self, storage: Storage) -> None:
        with pytest.raises(NotStorable):
            await create(storage, "a", color=b"bytes")
        with pytest.raises(KeyNotFound):
            await storage.get("default/a")

    async def test_create_refuses_what_nests_too_deeply_to_be_read(self, storage: Storage) -> None:
        deep: dict[str, object] = {}
        for _ in range(300):
            deep = {"deeper": deep}

        with pytest.raises(NotStorable):
            await create(storage, "a", color=deep)
        with pytest.raises(KeyNotFound):
            await storage.get("default/a")

    async def test_create_refuses_what_is_too_large(self, storage: Storage) -> None:
        with pytest.raises(TooLarge):
            await create(storage, "a", color="x" * MAX_VALUE_BYTES)
        with pytest.raises(KeyNotFound):
            await storage.get("default/a")

    async def test_an_object_with_a_ttl_is_deleted_when_it_has_passed(self, storage: Storage, elapse: Elapse) -> None:
        created = await storage.create("default/a", widget("a", color="red"), ttl=1)
        watcher = await Watcher.on(storage, resource_version=created.revision)

        await elapse(3.0)

        (event,) = await watcher.take(1)
        assert event.object is not None
        assert shape(event) == (WatchEventType.DELETED, "default/a")
        assert event.object.decode()["spec"] == {"color": "red"}
        with pytest.raises(KeyNotFound):
            await storage.get("default/a")


class UpdateContract:
    async def test_an_update_returns_the_object_under_its_revision(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        updated = await storage.guaranteed_update("default/a", setting(color="blue"))

        obj = updated.decode()
        assert updated.revision > created.revision
        assert obj["spec"] == {"color": "blue"}
        assert obj["metadata"]["resourceVersion"] == str(updated.revision)
        assert (await storage.get("default/a")).json == updated.json

    async def test_an_update_of_what_does_not_exist_is_refused(self, storage: Storage) -> None:
        with pytest.raises(KeyNotFound):
            await storage.guaranteed_update("default/a", setting(color="blue"))

    async def test_an_update_may_create_what_does_not_exist(self, storage: Storage) -> None:
        shown: list[StoredObject | None] = []

        async def try_update(current: StoredObject | None) -> Update:
            shown.append(current)
            return Update(widget("a", color="new"))

        created = await storage.guaranteed_update("default/a", try_update, ignore_not_found=True)

        assert shown == [None]
        assert (await storage.get("default/a")).json == created.json

    async def test_an_update_that_changes_nothing_writes_nothing(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        result = await storage.guaranteed_update("default/a", unchanged)

        assert (result.revision, result.json) == (created.revision, created.json)
        assert (await storage.get("default/a")).revision == created.revision

    async def test_an_object_that_lost_its_resource_version_is_unchanged(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        async def try_update(current: StoredObject | None) -> Update:
            assert current is not None
            obj = current.decode()
            del obj["metadata"]["resourceVersion"]
            return Update(obj)

        assert (await storage.guaranteed_update("default/a", try_update)).revision == created.revision

    async def test_what_an_update_function_raises_reaches_the_caller(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        async def refuse(_current: StoredObject | None) -> Update:
            raise Refused

        with pytest.raises(Refused):
            await storage.guaranteed_update("default/a", refuse)
        assert (await storage.get("default/a")).json == created.json

    async def test_an_update_function_owns_what_it_decodes(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        async def spoil(current: StoredObject | None) -> Update:
            assert current is not None
            current.decode()["spec"]["color"] = "spoilt"
            raise Refused

        with pytest.raises(Refused):
            await storage.guaranteed_update("default/a", spoil, suggestion=created)
        assert (await storage.get("default/a")).decode()["spec"] == {"color": "red"}

    async def test_an_update_can_set_a_ttl(self, storage: Storage, elapse: Elapse) -> None:
        await create(storage, "a", color="red")

        async def for_a_second(current: StoredObject | None) -> Update:
            return Update((await setting(color="blue")(current)).obj, ttl=1)

        updated = await storage.guaranteed_update("default/a", for_a_second)
        watcher = await Watcher.on(storage, resource_version=updated.revision)
        await elapse(3.0)

        (event,) = await watcher.take(1)
        assert shape(event) == (WatchEventType.DELETED, "default/a")

    async def test_an_update_without_a_ttl_ends_it(self, storage: Storage, elapse: Elapse) -> None:
        stored = await storage.create("default/a", widget("a", color="red"), ttl=1)
        other = await storage.create("default/b", widget("b"), ttl=1)
        watcher = await Watcher.on(storage, resource_version=other.revision)
        await set_spec(storage, stored, color="blue")

        await elapse(3.0)

        assert [shape(event) for event in await watcher.take(2)] == [
            (WatchEventType.MODIFIED, "default/a"),
            (WatchEventType.DELETED, "default/b"),
        ]
        assert (await storage.get("default/a")).decode()["spec"] == {"color": "blue"}

    async def test_an_update_refuses_what_cannot_be_stored(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        with pytest.raises(NotStorable):
            await storage.guaranteed_update("default/a", setting(color={1: 2}))
        with pytest.raises(TooLarge):
            await storage.guaranteed_update("default/a", setting(color="x" * MAX_VALUE_BYTES))
        assert (await storage.get("default/a")).json == created.json


class PreconditionContract:
    async def test_an_update_whose_preconditions_hold_is_made(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")
        conditions = Preconditions(uid="uid-of-a", resource_version=str(created.revision))

        updated = await storage.guaranteed_update("default/a", setting(color="blue"), preconditions=conditions)

        assert updated.decode()["spec"] == {"color": "blue"}

    async def test_an_update_is_refused_for_another_uid(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        with pytest.raises(PreconditionFailed) as failure:
            await storage.guaranteed_update(
                "default/a", setting(color="blue"), preconditions=Preconditions(uid="other")
            )
        assert failure.value.message == (
            "Precondition failed: UID in precondition: other, UID in object meta: uid-of-a"
        )
        assert (await storage.get("default/a")).json == created.json

    async def test_an_update_is_refused_for_another_resource_version(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        with pytest.raises(PreconditionFailed) as failure:
            await storage.guaranteed_update(
                "default/a", setting(color="blue"), preconditions=Preconditions(resource_version="1")
            )
        assert failure.value.message == (
            "Precondition failed: ResourceVersion in precondition: 1, "
            f"ResourceVersion in object meta: {created.revision}"
        )

    async def test_what_does_not_exist_meets_no_precondition(self, storage: Storage) -> None:
        with pytest.raises(PreconditionFailed):
            await storage.guaranteed_update(
                "default/a", setting(color="blue"), ignore_not_found=True, preconditions=Preconditions(uid="any")
            )

    async def test_a_deletion_is_refused_for_another_uid_or_resource_version(self, storage: Storage) -> None:
        created = await create(storage, "a")

        for conditions in (Preconditions(uid="other"), Preconditions(resource_version="1")):
            with pytest.raises(PreconditionFailed):
                await storage.delete("default/a", preconditions=conditions)
        assert (await storage.get("default/a")).json == created.json

    async def test_a_deletion_whose_preconditions_hold_is_made(self, storage: Storage) -> None:
        created = await create(storage, "a")

        await storage.delete("default/a", preconditions=Preconditions("uid-of-a", str(created.revision)))

        with pytest.raises(KeyNotFound):
            await storage.get("default/a")

    async def test_preconditions_that_fail_on_an_outdated_suggestion_are_checked_again(self, storage: Storage) -> None:
        outdated = await create(storage, "a", color="red")
        current = await set_spec(storage, outdated, color="blue")

        updated = await storage.guaranteed_update(
            "default/a",
            setting(color="green"),
            preconditions=Preconditions(resource_version=str(current.revision)),
            suggestion=outdated,
        )

        assert updated.decode()["spec"] == {"color": "green"}


class SuggestionContract:
    async def test_a_current_suggestion_is_updated(self, storage: Storage) -> None:
        current = await create(storage, "a", color="red")

        updated = await storage.guaranteed_update("default/a", setting(size=1), suggestion=current)

        assert updated.decode()["spec"] == {"color": "red", "size": 1}

    async def test_an_outdated_suggestion_is_never_written_over_a_newer_state(self, storage: Storage) -> None:
        outdated = await create(storage, "a", color="red")
        await set_spec(storage, outdated, color="blue")

        updated = await storage.guaranteed_update("default/a", setting(size=1), suggestion=outdated)

        assert updated.decode()["spec"] == {"color": "blue", "size": 1}

    async def test_a_failure_on_an_outdated_suggestion_does_not_count(self, storage: Storage) -> None:
        outdated = await create(storage, "a", color="red")
        await set_spec(storage, outdated, color="blue")

        async def only_if_blue(current: StoredObject | None) -> Update:
            assert current is not None
            if current.decode()["spec"]["color"] != "blue":
                raise Refused
            return await setting(color="green")(current)

        updated = await storage.guaranteed_update("default/a", only_if_blue, suggestion=outdated)

        assert updated.decode()["spec"] == {"color": "green"}

    async def test_a_failure_on_a_current_suggestion_counts(self, storage: Storage) -> None:
        current = await create(storage, "a", color="red")
        calls = []

        async def refuse(stored: StoredObject | None) -> Update:
            calls.append(stored)
            raise Refused

        with pytest.raises(Refused):
            await storage.guaranteed_update("default/a", refuse, suggestion=current)
        assert len(calls) == 1

    async def test_no_change_to_an_outdated_suggestion_is_checked_again(self, storage: Storage) -> None:
        outdated = await create(storage, "a", color="red")
        await set_spec(storage, outdated, color="blue")

        updated = await storage.guaranteed_update("default/a", setting(color="red"), suggestion=outdated)

        assert updated.decode()["spec"] == {"color": "red"}
        assert (await storage.get("default/a")).json == updated.json

    async def test_no_change_to_a_current_suggestion_writes_nothing(self, storage: Storage) -> None:
        current = await create(storage, "a", color="red")

        result = await storage.guaranteed_update("default/a", unchanged, suggestion=current)

        assert (result.revision, result.json) == (current.revision, current.json)

    async def test_a_suggestion_of_what_is_gone_is_not_found(self, storage: Storage) -> None:
        outdated = await create(storage, "a", color="red")
        await storage.delete("default/a")

        with pytest.raises(KeyNotFound):
            await storage.guaranteed_update("default/a", setting(color="blue"), suggestion=outdated)
        with pytest.raises(KeyNotFound):
            await storage.guaranteed_update("default/a", unchanged, suggestion=outdated)
        with pytest.raises(KeyNotFound):
            await storage.delete("default/a", suggestion=outdated)

    async def test_a_suggestion_of_what_is_gone_can_be_created_again(self, storage: Storage) -> None:
        outdated = await create(storage, "a", color="red")
        await storage.delete("default/a")

        async def try_update(current: StoredObject | None) -> Update:
            return Update(widget("a", color="found" if current else "missing"))

        created = await storage.guaranteed_update("default/a", try_update, ignore_not_found=True, suggestion=outdated)

        assert created.decode()["spec"] == {"color": "missing"}

    async def test_a_suggestion_of_what_was_replaced_is_checked_again(self, storage: Storage) -> None:
        outdated = await create(storage, "a", color="red")
        await storage.delete("default/a")
        await create(storage, "a", color="blue")

        updated = await storage.guaranteed_update("default/a", setting(size=1), suggestion=outdated)

        assert updated.decode()["spec"] == {"color": "blue", "size": 1}


class RaceContract:
    async def test_an_update_that_loses_is_made_again_on_the_state_that_won(self, storage: Storage) -> None:
        await create(storage, "a", color="red")
        shown = []

        async def lose_once(current: StoredObject | None) -> Update:
            assert current is not None
            shown.append(current.decode()["spec"]["color"])
            if len(shown) == 1:
                await set_spec(storage, current, color="blue")
            return await setting(size=len(shown))(current)

        updated = await storage.guaranteed_update("default/a", lose_once)

        assert shown == ["red", "blue"]
        assert updated.decode()["spec"] == {"color": "blue", "size": 2}

    async def test_an_update_that_loses_against_a_deletion_is_not_found(self, storage: Storage) -> None:
        await create(storage, "a", color="red")

        async def delete_first(current: StoredObject | None) -> Update:
            await storage.delete("default/a")
            return await setting(color="blue")(current)

        with pytest.raises(KeyNotFound):
            await storage.guaranteed_update("default/a", delete_first)

    async def test_a_deletion_that_loses_is_validated_again(self, storage: Storage) -> None:
        await create(storage, "a", color="red")
        shown = []

        async def lose_once(current: StoredObject) -> None:
            shown.append(current.decode()["spec"]["color"])
            if len(shown) == 1:
                await set_spec(storage, current, color="blue")

        deleted = await storage.delete("default/a", validate=lose_once)

        assert shown == ["red", "blue"]
        assert deleted.decode()["spec"] == {"color": "blue"}

    async def test_all_of_many_concurrent_updates_are_applied(self, storage: Storage) -> None:
        await create(storage, "a", count=0)
        everyone = asyncio.Barrier(50)
        has_met: set[int] = set()

        async def increment(number: int) -> None:
            async def try_update(current: StoredObject | None) -> Update:
                assert current is not None
                if number not in has_met:  # all decide on the same state at first, so that 49 lose
                    has_met.add(number)
                    await everyone.wait()
                obj = current.decode()
                obj["spec"]["count"] += 1
                return Update(obj)

            await storage.guaranteed_update("default/a", try_update)

        async with asyncio.TaskGroup() as group:
            for number in range(50):
                group.create_task(increment(number))

        assert (await storage.get("default/a")).decode()["spec"] == {"count": 50}


class DeleteContract:
    async def test_a_deletion_returns_the_last_state_under_its_revision(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        deleted = await storage.delete("default/a")

        obj = deleted.decode()
        assert deleted.revision > created.revision
        assert obj["spec"] == {"color": "red"}
        assert obj["metadata"]["resourceVersion"] == str(deleted.revision)

    async def test_what_was_deleted_is_not_found(self, storage: Storage) -> None:
        await create(storage, "a")
        await storage.delete("default/a")

        with pytest.raises(KeyNotFound):
            await storage.get("default/a")
        with pytest.raises(KeyNotFound):
            await storage.delete("default/a")

    async def test_a_validation_can_refuse_a_deletion(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")
        shown = []

        async def refuse(current: StoredObject) -> None:
            shown.append(current.json)
            raise Refused

        with pytest.raises(Refused):
            await storage.delete("default/a", validate=refuse)
        assert shown == [created.json]
        assert (await storage.get("default/a")).json == created.json

    async def test_a_current_suggestion_is_deleted(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")

        deleted = await storage.delete("default/a", suggestion=created)

        assert deleted.decode()["spec"] == {"color": "red"}

    async def test_an_outdated_suggestion_is_validated_again(self, storage: Storage) -> None:
        outdated = await create(storage, "a", color="red")
        await set_spec(storage, outdated, color="blue")

        async def only_if_blue(current: StoredObject) -> None:
            if current.decode()["spec"]["color"] != "blue":
                raise Refused

        deleted = await storage.delete("default/a", validate=only_if_blue, suggestion=outdated)

        assert deleted.decode()["spec"] == {"color": "blue"}
