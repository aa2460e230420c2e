"""Verbs of resources: those that the contracts of their storages and their kinds allow."""

from msgspec.structs import replace

from aio_apiserver.registry.generic import verbs
from aio_apiserver.registry.generic.kind import ALL_VERBS
from aio_apiserver.registry.generic.store.status import SubresourceREST
from aio_apiserver.registry.generic.strategy import Strategy
from tests.registry.generic.widgets import WIDGETS, widgets


async def test_a_store_offers_all_verbs_that_its_kind_allows() -> None:
    async with widgets() as store:
        assert verbs.offered(store, is_subresource=False) == frozenset(ALL_VERBS)
        reading = replace(store, kind=replace(WIDGETS, verbs=("get", "list")))
        assert verbs.offered(reading, is_subresource=False) == {"get", "list"}


async def test_a_part_of_an_object_is_read_and_changed() -> None:
    async with widgets() as store:
        status = SubresourceREST(store, "status", Strategy())

        assert verbs.offered(status, is_subresource=True) == {"get", "patch", "update"}
        assert not verbs.connects(status)
