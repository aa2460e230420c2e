"""A fresh server's own objects, compared with those of a fresh kube-apiserver."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from aio_apiserver.base.clock import Clock, ManualClock, SystemClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.controlplane.assembly import assemble, environment_of
from aio_apiserver.registry.controlplane.bootstrap import flow_schema_status
from aio_apiserver.registry.controlplane.bootstrap.kubernetes_service import Advertised
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.controlplane.bootstrap.upkeep import Upkeep
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.apiregistration.apiservices import APISERVICES
from aio_apiserver.registry.groups.apiregistration.registrations import Registration, Registrations
from aio_apiserver.storage.errors import DeadlineExceeded
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import Resource
from tests import golden
from tests.registry.foundations import foundation_on

REFERENCE = orjson.loads(gzip.decompress((Path(golden.__file__).parent / "bootstrap-objects.json.gz").read_bytes()))
ADVERTISED = Advertised(service_address="10.0.0.1", address="192.0.2.2", port=16444)
VOLATILE = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")

PLACES = (
    ResourcePath("flowcontrol.apiserver.k8s.io", "v1", "flowschemas"),
    ResourcePath("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations"),
    ResourcePath("scheduling.k8s.io", "v1", "priorityclasses"),
    ResourcePath("apiregistration.k8s.io", "v1", "apiservices"),
    ResourcePath("networking.k8s.io", "v1", "servicecidrs"),
    ResourcePath("", "v1", "namespaces"),
)
FLOWSCHEMAS, PRIORITY_LEVELS = PLACES[:2]
SERVICE = (
    ResourcePath("", "v1", "services"),
    ResourcePath("discovery.k8s.io", "v1", "endpointslices"),
    ResourcePath("", "v1", "endpoints"),
)


async def well(_registration: Registration) -> str:
    """Every check of a remote server succeeds."""
    return ""


class SilentStore:
    """A store that does not answer the first creates of each resource."""

    def __init__(self, storage_for: Callable[[Resource], Any], silences: int) -> None:
        self._storage_for = storage_for
        self._silences = silences
        self._left: dict[str, int] = {}

    def storage_for(self, resource: Resource) -> Any:
        return self._storage_for(resource) if not self._silences else SilentStorage(self, resource)

    async def create(self, resource: Resource, *args: Any, **kwargs: Any) -> Any:
        left = self._left.setdefault(resource.resource, self._silences)
        if left:
            self._left[resource.resource] = left - 1
            raise DeadlineExceeded("no answer")
        return await self._storage_for(resource).create(*args, **kwargs)


class SilentStorage:
    """The storage of one resource in a silent store."""

    def __init__(self, store: SilentStore, resource: Resource) -> None:
        self.create = partial(store.create, resource)
        self._storage = store._storage_for(resource)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)


class Begun:
    """The dependencies of one server; `again` is another server on the same storage."""

    def __init__(self, factory: StorageFactory, clock: Clock | None = None, *, silences: int = 0) -> None:
        given = foundation_on(factory, clock=clock)
        store = SilentStore(given.storage_for, silences)
        self.given = replace(given, storage_for=store.storage_for, writable_storage_for=store.storage_for)
        groups = assemble(environment_of(self.given))
        self.client = OwnClient(groups, self.given)
        registrations = Registrations(factory.storage_for(resource_of(APISERVICES)))
        self.upkeep = Upkeep(groups, self.given, registrations=registrations, check_remote=well)


@pytest.fixture
async def factory() -> AsyncIterator[StorageFactory]:
    async with StorageFactory(StorageConfig(), clock=SystemClock()) as opened:
        yield opened


@pytest.fixture
async def begun(factory: StorageFactory) -> AsyncIterator[Begun]:
    server = Begun(factory)
    await server.upkeep.begin(ADVERTISED)
    yield server
    await server.upkeep.close()


def settled(obj: dict[str, Any]) -> dict[str, Any]:
    """The object without the fields that differ from server to server."""
    metadata = {name: value for name, value in obj["metadata"].items() if name not in VOLATILE}
    status = dict(obj.get("status") or {})
    for condition in status.get("conditions", ()):
        condition.pop("lastTransitionTime", None)
    shown = {name: value for name, value in obj.items() if name not in ("kind", "apiVersion", "status")}
    return {**shown, "metadata": metadata, **({"status": status} if status else {})}


def expected(place: ResourcePath) -> list[dict[str, Any]]:
    prefix = f"/apis/{place.group}" if place.group else "/api"
    return [settled(obj) for obj in REFERENCE["objects"][f"{prefix}/{place.version}/{place.path}"]]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.path)
async def test_a_fresh_server_has_the_objects_of_a_fresh_kube_apiserver(begun: Begun, place: ResourcePath) -> None:
    made = list(map(settled, await begun.client.all(place)))

    assert made == expected(place)


@pytest.mark.parametrize(
    ("place", "applied", "updated"),
    [
        (FLOWSCHEMAS, "api-priority-and-fairness-config-consumer-v1", "api-priority-and-fairness-config-producer-v1"),
        (PRIORITY_LEVELS, "", "api-priority-and-fairness-config-producer-v1"),
        (
            ResourcePath("networking.k8s.io", "v1", "servicecidrs"),
            "kubernetes-service-cidr-controller",
            "kube-apiserver",
        ),
        (ResourcePath("", "v1", "namespaces"), "", "kube-apiserver"),
    ],
    ids=lambda value: getattr(value, "path", None),
)
async def test_each_part_of_the_server_owns_what_it_writes(
    begun: Begun, place: ResourcePath, applied: str, updated: str
) -> None:
    objs = await begun.client.all(place)

    wanted = [(applied, "Apply", "status")] if applied else []
    wanted.append((updated, "Update", ""))
    for obj in objs:
        entries = obj["metadata"]["managedFields"]
        assert [(one["manager"], one["operation"], one.get("subresource", "")) for one in entries] == wanted


async def test_a_server_comes_up_although_the_store_does_not_answer_its_first_writes() -> None:
    clock = ManualClock()
    async with StorageFactory(StorageConfig(), clock=clock) as factory:
        server = Begun(factory, clock, silences=2)
        beginning = asyncio.ensure_future(server.upkeep.begin(ADVERTISED))
        async with asyncio.timeout(30):
            while not beginning.done():
                clock.advance(1)
                await asyncio.sleep(0)
        await beginning

        for place in PLACES:
            assert list(map(settled, await server.client.all(place))) == expected(place)
        await server.upkeep.close()


async def test_the_kubernetes_service_leads_to_the_server(begun: Begun) -> None:
    made = [settled(obj) for place in SERVICE for obj in await begun.client.all(place, namespace="default")]

    assert made == [settled(obj) for obj in REFERENCE["objects"]["default"]]


async def test_a_server_that_ends_takes_itself_out_of_the_service(begun: Begun) -> None:
    await begun.upkeep.close()

    [endpoint_slice] = await begun.client.all(SERVICE[1], namespace="default")
    assert not endpoint_slice["endpoints"]


async def test_a_server_leaves_the_service_before_it_ends(begun: Begun) -> None:
    await begun.upkeep.leave_service()

    [endpoints] = await begun.client.all(SERVICE[2], namespace="default")
    assert not endpoints.get("subsets")


@pytest.mark.parametrize("place", SERVICE, ids=lambda place: place.path)
async def test_the_kubernetes_service_and_its_endpoints_come_back_within_ten_seconds(place: ResourcePath) -> None:
    clock = ManualClock()
    async with StorageFactory(StorageConfig(), clock=clock) as factory:
        server = Begun(factory, clock)
        await server.upkeep.begin(ADVERTISED)
        [before] = await server.client.all(place, namespace="default")
        await server.client.delete(place, "kubernetes", namespace="default")
        assert await server.client.all(place, namespace="default") == []

        clock.advance(10)
        found: list[dict[str, Any]] = []
        async with asyncio.timeout(30):
            while not found:
                await asyncio.sleep(0)
                found = list(await server.client.all(place, namespace="default"))

        assert settled(found[0]) == settled(before)
        await server.upkeep.close()


async def test_a_second_beginning_changes_nothing(begun: Begun, factory: StorageFactory) -> None:
    before = [obj for place in PLACES for obj in await begun.client.all(place)]
    again = Begun(factory)

    await again.upkeep.begin(ADVERTISED)

    after = [obj for place in PLACES for obj in await begun.client.all(place)]
    await again.upkeep.close()
    assert after == before


async def test_what_must_be_there_is_made_again() -> None:
    clock = ManualClock()
    async with StorageFactory(StorageConfig(), clock=clock) as factory:
        server = Begun(factory, clock)
        await server.upkeep.begin(ADVERTISED)
        await server.client.delete(FLOWSCHEMAS, "exempt")

        names: set[str] = set()
        for _ in range(100):
            clock.advance(60)
            names = {schema["metadata"]["name"] for schema in await server.client.all(FLOWSCHEMAS)}
            if "exempt" in names:
                break

        assert "exempt" in names
        await server.upkeep.close()


async def test_what_people_have_changed_stays_when_the_annotation_says_so(
    begun: Begun, factory: StorageFactory
) -> None:
    def keep_at_7(level: dict[str, Any]) -> bool:
        level["metadata"]["annotations"]["apf.kubernetes.io/autoupdate-spec"] = "false"
        level["spec"]["limited"]["nominalConcurrencyShares"] = 7
        return True

    await begun.client.change(PRIORITY_LEVELS, "system", keep_at_7)
    again = Begun(factory)

    await again.upkeep.begin(ADVERTISED)

    await again.upkeep.close()
    levels = {level["metadata"]["name"]: level for level in await begun.client.all(PRIORITY_LEVELS)}
    assert levels["system"]["spec"]["limited"]["nominalConcurrencyShares"] == 7


async def test_what_people_have_changed_is_mended_while_the_annotation_says_so(
    begun: Begun, factory: StorageFactory
) -> None:
    def set_to_7(level: dict[str, Any]) -> bool:
        level["spec"]["limited"]["nominalConcurrencyShares"] = 7
        return True

    await begun.client.change(PRIORITY_LEVELS, "system", set_to_7)
    again = Begun(factory)

    await again.upkeep.begin(ADVERTISED)

    await again.upkeep.close()
    levels = {level["metadata"]["name"]: level for level in await begun.client.all(PRIORITY_LEVELS)}
    assert levels["system"]["spec"]["limited"]["nominalConcurrencyShares"] == 30


async def test_a_flow_schema_that_is_deleted_meanwhile_does_not_hold_up_the_others(begun: Begun) -> None:
    class Late(OwnClient):
        """Its lists of flow schemas still have one that is deleted, in front."""

        async def all(self, path: ResourcePath, *, namespace: str = "") -> list[Object]:
            found = await super().all(path, namespace=namespace)
            if path != FLOWSCHEMAS:
                return found
            return [{"metadata": {"name": "gone"}, "spec": {}}, *({**one, "status": {}} for one in found)]

    client = Late(assemble(environment_of(begun.given)), begun.given)

    await flow_schema_status.settle(client, SystemClock())

    settled = await begun.client.all(FLOWSCHEMAS)
    assert all(one["status"]["conditions"][0]["type"] == "Dangling" for one in settled)
