"""Managed fields in a Store: which managers are recorded, when none is, and the limit of the size."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.authorizer import Attributes, Decision, Rules, Verdict
from aio_apiserver.registry.generic.access.users import ANONYMOUS, UserInfo
from aio_apiserver.registry.generic.admission.interface import Chain
from aio_apiserver.registry.generic.field_managers import manager_of
from aio_apiserver.registry.generic.options import CreateOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Environment, Made, Request, UpdatedObject
from aio_apiserver.registry.generic.store.provider import open_store
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.registry.machinery import schema
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.stored_object import StoredObject

REQUEST = Request(user=ANONYMOUS, version="v1", warn=lambda _text: None, namespace="n", manager="client")


class Refusing:
    """Allows nothing."""

    async def authorize(self, attributes: Attributes) -> Decision:
        return Decision(Verdict.DENY)

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return Rules()


@asynccontextmanager
async def config_maps(**more: Any) -> AsyncIterator[tuple[Store, ManualClock]]:
    """A Store of config maps, and its clock."""
    clock = ManualClock()
    async with StorageFactory(StorageConfig(watch_cache=False), clock=clock) as factory:
        parts: Any = {
            "storage_for": factory.storage_for,
            "writable_storage_for": factory.storage_for,
            "clock": clock,
            "types": schema.builtin(),
            "admission": Chain(),
        }
        environment = Environment(**parts, **more)
        yield open_store(CONFIGMAPS, environment), clock


def config_map(**data: str) -> Object:
    return {"metadata": {"name": "a"}, "data": data}


async def create(store: Store, obj: Object) -> Object:
    return (await store.create(REQUEST, obj, CreateOptions())).decode()


async def put(store: Store, obj: Object, manager: str = "client", **more: Any) -> Object:
    async def make(_current: StoredObject | None) -> Made:
        return Made(obj, **more)

    updated = UpdatedObject(make)
    result = await store.update(REQUEST, "a", updated, UpdateOptions(field_manager=manager), force_create=True)
    return result.stored.decode()


def managers(obj: Object) -> list[tuple[str, str]]:
    return [(one["manager"], one["time"]) for one in obj["metadata"].get("managedFields", ())]


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("kubectl/v1.32 (linux)", "kubectl"),
        ("", ""),
        ("a\x07b\u200bc d", "abc d"),
        ("é" * 100, "é" * 64),
        ("x" * 127 + "é", "x" * 127),
        ("h\udce9llo/1", "h\ufffdllo"),
    ],
)
def test_a_client_is_called_by_the_beginning_of_its_user_agent(user_agent: str, name: str) -> None:
    assert manager_of(user_agent) == name


async def test_the_options_say_who_writes_before_the_client_does() -> None:
    async with config_maps() as (store, _):
        await create(store, config_map(k="1"))

        obj = await put(store, config_map(k="2", p="1"), "named")

    assert [name for name, _ in managers(obj)] == ["client", "named"]


async def test_a_write_that_changes_nothing_but_its_time_is_none() -> None:
    async with config_maps() as (store, clock):
        first = await create(store, config_map(k="1"))
        clock.advance(60)

        again = await put(store, {**config_map(k="1"), "metadata": {"name": "a", "generation": 0}})
        changed = await put(store, config_map(k="2"))

    assert again == first
    assert managers(changed) != managers(first)


@pytest.mark.parametrize("is_there", [False, True])
async def test_an_object_that_is_too_large_with_its_owners_is_kept_without_them(is_there: bool) -> None:
    data = {f"{number:05}{'x' * 240}": "" for number in range(4000)}
    async with config_maps() as (store, _):
        if is_there:
            await create(store, config_map(k="1"))

        obj = await (put if is_there else create)(store, config_map(**data))

    assert (len(obj["data"]), managers(obj)) == (4000, [])


async def test_who_may_not_create_cannot_do_so_with_an_update() -> None:
    async with config_maps(authorizer=Refusing()) as (store, _):
        with pytest.raises(errors.Forbidden, match='cannot create resource "configmaps" in API group ""'):
            await put(store, config_map(k="1"))


async def test_an_update_that_knows_its_managers_keeps_them() -> None:
    async with config_maps() as (store, _):
        await create(store, config_map(k="1"))

        obj = await put(store, config_map(k="2"), "named", owners_known=True)

    assert managers(obj) == []
