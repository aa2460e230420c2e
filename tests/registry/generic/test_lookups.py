"""Lookups: reads of other objects, from the cache and from the store."""

from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import SystemClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import Resource, Storage

WIDGETS = GroupResource("example.com", "widgets")


@pytest.fixture
async def storage() -> AsyncIterator[Storage]:
    async with StorageFactory(StorageConfig(), clock=SystemClock()) as factory:
        opened = factory.storage_for(Resource(group=WIDGETS.group, resource=WIDGETS.resource, namespaced=True))
        for name, colour in (("a", "red"), ("b", "blue")):
            await opened.create(f"shop/{name}", {"metadata": {"name": name, "labels": {"colour": colour}}})
        yield opened


def name_of(obj: Object) -> str:
    name: str = obj["metadata"]["name"]
    return name


async def test_an_object_is_parsed_once_a_revision(storage: Storage) -> None:
    parsed: list[Object] = []
    lookup: Lookup[None] = Lookup(storage, WIDGETS, parsed.append)

    await lookup.newest("shop/a")
    await lookup.newest("shop/a")

    assert [name_of(one) for one in parsed] == ["a"]


async def test_a_missing_object_is_none_or_not_found_for_the_reported_resource(storage: Storage) -> None:
    lookup = Lookup(storage, WIDGETS, as_stored)

    assert await lookup.get("shop/c") is None
    with pytest.raises(errors.NotFound, match=r'gadgets\.example\.com "c" not found'):
        await lookup.newest("shop/c", reported=GroupResource("example.com", "gadgets"))


async def test_a_list_is_selected_by_labels(storage: Storage) -> None:
    lookup = Lookup(storage, WIDGETS, name_of)

    assert await lookup.list("shop/") == ["a", "b"]
    assert await lookup.list("shop/", is_selected=lambda labels: labels["colour"] == "blue") == ["b"]
    assert await lookup.list("market/") == []


async def test_scans_and_newest_lists_keep_no_object(storage: Storage) -> None:
    lookup = Lookup(storage, WIDGETS, as_stored)

    first, second = await lookup.all_newest("shop/"), [one async for one in lookup.scan("shop/")]

    assert first == second
    assert all(one is not other for one, other in zip(first, second, strict=True))
