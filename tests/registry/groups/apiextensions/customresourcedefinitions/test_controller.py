"""Tests definitions on a server with a store in memory: names, serving, changes and deletion."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aio_apiserver.base.clock import Clock, ManualClock
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.controlplane.assembly import environment_of
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Made, Request, UpdatedObject
from aio_apiserver.registry.generic.store.provider import open_store
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.controller import DefinitionController
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.customresourcedefinitions import DEFINITIONS
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.definition_store import DefinitionStore
from aio_apiserver.registry.groups.apiextensions.serving.offer import Offer
from aio_apiserver.registry.groups.apiextensions.serving.resources import CustomResources
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import ListOptions, Update
from aio_apiserver.storage.stored_object import StoredObject
from tests.registry.foundations import foundation_on
from tests.registry.groups.apiextensions.example_definitions import SCHEMA, definition, version

ADMIN = UserInfo(name="admin")


def request(namespace: str = "") -> Request:
    return Request(user=ADMIN, version="v1", warn=lambda _: None, namespace=namespace)


async def eventually(is_true: Callable[[], bool]) -> None:
    """Wait until a condition that the server's controllers bring about is true."""
    while not is_true():  # noqa: ASYNC110 - the product tells nobody but clients
        await asyncio.sleep(0)


class Server:
    """The part of a server that serves custom resources."""

    def __init__(self, factory: StorageFactory, clock: Clock | None) -> None:
        environment = environment_of(foundation_on(factory, clock=clock))
        self.definitions = DefinitionStore.of(open_store(DEFINITIONS, environment))
        self.offers: dict[str, Offer] = {}
        self.controller = DefinitionController(
            environment, CustomResources(environment, factory.retire, self._call), self._publish
        )

    async def _call(
        self, client: Mapping[str, Any], body: dict[str, Any], *, seconds: float, plugin: str = ""
    ) -> dict[str, Any]:
        raise AssertionError("no webhook is defined")

    def _publish(self, name: str, offer: Offer | None) -> None:
        if offer is None:
            self.offers.pop(name, None)
        else:
            self.offers[name] = offer

    async def define(self, crd: dict[str, Any]) -> None:
        DEFINITIONS.strategy.default(crd)
        await self.definitions.create(request(), crd, CreateOptions())

    async def until(self, name: str, condition: str, status: str) -> dict[str, Any]:
        """Wait until the definition has this condition, and return it."""
        while True:
            crd = (await self.definitions.get(request(), name)).decode()
            for one in crd["status"].get("conditions") or ():
                if (one["type"], one["status"]) == (condition, status):
                    return crd
            await asyncio.sleep(0)

    def store(self, name: str, of_version: str = "v1") -> Store:
        return self.offers[name].stores[of_version]

    async def change(self, name: str, spec: dict[str, Any]) -> None:
        async def make(current: StoredObject | None) -> Made:
            assert current is not None
            crd = current.decode()
            crd["spec"] |= spec
            return Made(crd)

        await self.definitions.update(request(), name, UpdatedObject(make), UpdateOptions())


@asynccontextmanager
async def serving(factory: StorageFactory, clock: Clock | None = None) -> AsyncIterator[Server]:
    server = Server(factory, clock)
    server.controller.start()
    await server.controller.wait_until_current()
    try:
        yield server
    finally:
        await server.controller.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with StorageFactory(StorageConfig()) as factory, serving(factory) as started:
        yield started


def widget(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": spec}


async def test_an_established_definition_is_served(server: Server) -> None:
    await server.define(definition())

    crd = await server.until("widgets.example.com", "Established", "True")
    offer = server.offers["widgets.example.com"]

    assert crd["status"]["acceptedNames"]["kind"] == "Widget"
    assert list(offer.versions["v1"]) == ["widgets"]
    assert offer.is_told


async def test_a_released_name_goes_to_the_waiting_definition(server: Server) -> None:
    await server.define(definition())
    await server.until("widgets.example.com", "Established", "True")
    await server.define(definition("gadgets"))
    await server.until("gadgets.example.com", "NamesAccepted", "False")
    assert "gadgets.example.com" not in server.offers

    await server.definitions.delete(request(), "widgets.example.com", DeleteOptions())
    await server.until("gadgets.example.com", "Established", "True")

    assert list(server.offers) == ["gadgets.example.com"]


async def test_a_definition_is_deleted_after_its_objects(server: Server) -> None:
    name = "widgets.example.com"
    await server.define(definition(scope="Cluster"))
    await server.until(name, "Established", "True")
    objects = server.store(name)
    held = {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}}
    await objects.create(request(), held, CreateOptions())
    await objects.create(request(), {"metadata": {"name": "free"}}, CreateOptions())

    deleted = await server.definitions.delete(request(), name, DeleteOptions())
    while len((await objects.list(request(), ListOptions())).items) > 1:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0)

    assert not deleted.is_gone
    (left,) = (await objects.list(request(), ListOptions())).items
    assert left.key == "held"
    crd = (await server.definitions.get(request(), name)).decode()
    assert crd["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]


@pytest.mark.parametrize("is_served", [True, False])
async def test_a_definition_that_changes_while_it_is_deleted_goes_after_its_objects(*, is_served: bool) -> None:
    name, clock = "widgets.example.com", ManualClock()
    async with StorageFactory(StorageConfig(), clock=clock) as factory, serving(factory, clock) as server:
        await server.define(definition(scope="Cluster"))
        await server.until(name, "Established", "True")
        before = server.store(name)
        held = {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}}
        await before.create(request(), held, CreateOptions())
        await server.definitions.delete(request(), name, DeleteOptions())
        await server.until(name, "Terminating", "True")
        await server.change(name, {"versions": [version("v1", storage=True, schema={"type": "object"})]})
        await eventually(lambda: server.store(name).kind.custom_type is not before.kind.custom_type)
        with pytest.raises(StatusError, match="the cache is closed"):
            await read_again_and_again(before, clock)

        after = server.store(name)
        if not is_served:
            await server.definitions.storage.guaranteed_update(name, without_conditions)
            await eventually(lambda: not server.offers)

        await after.update(request(), "held", UpdatedObject(without_finalizers), UpdateOptions())
        while (await server.definitions.list(request(), ListOptions())).items:
            clock.advance(1)  # the cleanup tries again
            await asyncio.sleep(0)


async def read_again_and_again(objects: Store, clock: ManualClock) -> None:
    while await objects.list(request(), ListOptions()):
        clock.advance(1)
        await asyncio.sleep(0)


async def without_conditions(current: StoredObject | None) -> Update:
    """What a client may write as the status."""
    assert current is not None
    crd = current.decode()
    crd["status"]["conditions"] = []
    return Update(crd)


async def without_finalizers(current: StoredObject | None) -> Made:
    assert current is not None
    obj = current.decode()
    del obj["metadata"]["finalizers"]
    return Made(obj)


async def test_each_version_shows_the_same_objects_in_its_own_form(server: Server) -> None:
    narrow = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    await server.define(
        definition("widgets", version("v1", storage=True), version("v2", schema=narrow), scope="Cluster")
    )
    await server.until("widgets.example.com", "Established", "True")
    v1, v2 = (server.store("widgets.example.com", name) for name in ("v1", "v2"))

    await v1.create(request(), widget("a", size=1, color="red"), CreateOptions())

    assert (await v1.get(request(), "a")).decode()["spec"] == {"color": "red", "size": 1}
    assert (await v2.get(request(), "a")).decode()["spec"] == {"size": 1}


async def test_a_changed_schema_changes_how_objects_are_read(server: Server) -> None:
    name = "widgets.example.com"
    await server.define(definition(scope="Cluster"))
    await server.until(name, "Established", "True")
    before = server.store(name)
    await before.create(request(), widget("a", size=1, color="red"), CreateOptions())

    spec = {"type": "object", "properties": {"size": {"type": "integer"}, "mode": {"type": "string", "default": "x"}}}
    changed = {**SCHEMA, "properties": {"spec": spec}}
    await server.change(name, {"versions": [version("v1", storage=True, schema=changed)]})
    await eventually(lambda: server.store(name).kind.custom_type is not before.kind.custom_type)

    assert (await server.store(name).get(request(), "a")).decode()["spec"] == {"mode": "x", "size": 1}


async def test_two_replicas_serve_the_same() -> None:
    async with (
        StorageFactory(StorageConfig()) as factory,
        serving(factory) as one,
        serving(factory) as other,
    ):
        await one.define(definition())
        await one.until("widgets.example.com", "Established", "True")
        await eventually(lambda: bool(other.offers))

        assert list(other.offers) == list(one.offers) == ["widgets.example.com"]
