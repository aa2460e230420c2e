"""Tests reads and watches of services that were stored before some fields had defaults."""

import asyncio
from typing import Any

import orjson
import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.core.services import service_read_defaults
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import ListOptions, WatchBatch, WatchOptions

OLD: Object = {"metadata": {"name": "s", "namespace": "n"}, "spec": {"type": "ClusterIP", "clusterIP": "10.0.0.1"}}
SEEN = {
    "type": "ClusterIP",
    "clusterIP": "10.0.0.1",
    "clusterIPs": ["10.0.0.1"],
    "internalTrafficPolicy": "Cluster",
    "ipFamilies": ["IPv4"],
    "ipFamilyPolicy": "SingleStack",
}


class Sink:
    """Keeps the specs that a watch delivers."""

    backlog = 0
    backlog_limit = 1

    def __init__(self) -> None:
        self.specs: list[Any] = []
        self.has_some = asyncio.Event()

    def deliver(self, batch: WatchBatch) -> None:
        self.specs += [orjson.loads(event.object.json)["spec"] for event in batch.events if event.object is not None]
        self.has_some.set()

    def end(self, reason: StorageError | None) -> None:
        assert reason is None


@pytest.mark.parametrize("has_cache", [True, False])
async def test_all_readers_see_an_old_service_with_its_defaults(has_cache: bool) -> None:
    async with StorageFactory(StorageConfig(watch_cache=has_cache)) as factory:
        plain = factory.storage_for(resource_of(SERVICES))
        await plain.create("n/s", orjson.loads(orjson.dumps(OLD)))
        factory.retire(resource_of(SERVICES))
        services, sink = factory.storage_for(resource_of(SERVICES)), Sink()

        one = await services.get("n/s")
        every = await services.get_list("n/", ListOptions())
        watch = await services.watch("n/", WatchOptions(), sink)
        await sink.has_some.wait()
        watch.stop()
        await plain.close()

    assert orjson.loads(one.json)["spec"] == one.decode()["spec"] == SEEN
    assert [item.decode()["spec"] for item in every.items] == sink.specs == [SEEN]


@pytest.mark.parametrize(
    ("spec", "families", "policy"),
    [
        ({"clusterIP": "fd00::1"}, ["IPv6"], "SingleStack"),
        ({"clusterIPs": ["10.0.0.1", "fd00::1"]}, ["IPv4", "IPv6"], "RequireDualStack"),
        ({"clusterIP": "None", "selector": {"a": "b"}}, ["IPv4"], "SingleStack"),
        ({"clusterIP": "None"}, ["IPv4", "IPv6"], "RequireDualStack"),
    ],
)
def test_the_families_follow_from_the_addresses_and_the_selector(
    spec: dict[str, Any], families: list[str], policy: str
) -> None:
    service: Object = {"metadata": {}, "spec": {"type": "ClusterIP", **spec}}

    service_read_defaults.complete(service)

    assert (service["spec"]["ipFamilies"], service["spec"]["ipFamilyPolicy"]) == (families, policy)


@pytest.mark.parametrize(
    "spec", [{"type": "ExternalName", "externalName": "a.b"}, {**SEEN, "internalTrafficPolicy": "Local"}]
)
def test_a_complete_service_is_not_changed(spec: dict[str, Any]) -> None:
    service: Object = {"metadata": {}, "spec": dict(spec)}

    service_read_defaults.complete(service)

    assert service["spec"] == spec


def test_the_internal_traffic_policy_of_an_external_name_is_not_shown() -> None:
    spec = {"type": "ExternalName", "externalName": "a.b", "internalTrafficPolicy": "Cluster"}
    service: Object = {"metadata": {"name": "s"}, "spec": spec}

    service_read_defaults.complete(service)

    assert service["spec"] == {"type": "ExternalName", "externalName": "a.b"}
