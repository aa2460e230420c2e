"""kopf: an operator in the test's own event loop, which watches and patches built-in kinds."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import kopf
import pytest
from lightkube import AsyncClient, KubeConfig
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Event

from tests.clients.manifests import deployment

T = TypeVar("T")
Seen = asyncio.Queue[tuple[str, Any]]


@pytest.fixture
async def client(kubeconfig: Path, namespace: str) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(config=KubeConfig.from_file(str(kubeconfig)), namespace=namespace) as made:
        yield made


@asynccontextmanager
async def operating(registry: kopf.OperatorRegistry, namespace: str) -> AsyncIterator[None]:
    """An operator for one namespace, from when it is ready until it has ended by itself."""
    ready, stop = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(
        kopf.operator(
            registry=registry,
            standalone=True,
            namespaces=[namespace],
            ready_flag=ready,
            stop_flag=stop,
        )
    )
    try:
        await ready.wait()
        yield
    finally:
        stop.set()
        await running


async def test_an_operator_follows_an_object_from_its_creation_to_its_deletion(
    registry: kopf.OperatorRegistry, client: AsyncClient, namespace: str
) -> None:
    seen: Seen = asyncio.Queue()

    @kopf.on.create("configmaps", registry=registry)
    async def create(body: kopf.Body, patch: kopf.Patch, **_: Any) -> None:
        patch.metadata.labels["handled"] = "yes"
        await seen.put(("create", dict(body["data"])))

    @kopf.on.update("configmaps", field="data", registry=registry)
    async def update(old: Any, new: Any, **_: Any) -> None:
        await seen.put(("update", (old, new)))

    @kopf.on.delete("configmaps", registry=registry)
    async def delete(name: str, **_: Any) -> None:
        await seen.put(("delete", name))

    async with operating(registry, namespace):
        await client.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "1"}))
        created = await seen.get()
        handled = await _first(client.watch(ConfigMap, labels={"handled": "yes"}))
        await client.patch(ConfigMap, "a", {"data": {"k": "2"}})
        updated = await seen.get()
        await client.delete(ConfigMap, "a")
        deleted = await seen.get()
        await _first(client.watch(ConfigMap, resource_version=_version(handled)), "DELETED")

    assert created == ("create", {"k": "1"})
    assert handled.metadata is not None
    assert handled.metadata.finalizers == ["kopf.zalando.org/KopfFinalizerMarker"]
    assert updated == ("update", ({"k": "1"}, {"k": "2"}))
    assert deleted == ("delete", "a")


async def test_an_operator_reports_in_status_and_events(
    registry: kopf.OperatorRegistry, client: AsyncClient, namespace: str
) -> None:
    seen: Seen = asyncio.Queue()

    @kopf.on.create("apps", "v1", "deployments", registry=registry)
    async def create(body: kopf.Body, patch: kopf.Patch, **_: Any) -> None:
        patch.status["replicas"] = 2
        kopf.info(body, reason="Counted", message="two replicas")

    @kopf.on.event("apps", "v1", "deployments", registry=registry)
    async def event(status: kopf.Status, **_: Any) -> None:
        await seen.put(("status", status.get("replicas")))

    async with operating(registry, namespace):
        wanted = Deployment.from_dict(deployment("web"))
        assert isinstance(wanted, Deployment)
        await client.create(wanted)
        while (await seen.get()) != ("status", 2):
            pass
        told = await _first(client.watch(Event, fields={"reason": "Counted"}))

    assert (told.message, told.involvedObject.name) == ("two replicas", "web")


async def test_an_operator_that_starts_again_resumes_what_it_has_handled(
    registry: kopf.OperatorRegistry, client: AsyncClient, namespace: str
) -> None:
    seen: Seen = asyncio.Queue()

    @kopf.on.create("configmaps", labels={"own": "a"}, registry=registry)
    async def create(name: str, **_: Any) -> None:
        await seen.put(("create", name))

    @kopf.on.resume("configmaps", labels={"own": "a"}, registry=registry)
    async def resume(name: str, **_: Any) -> None:
        await seen.put(("resume", name))

    async with operating(registry, namespace):
        await client.create(ConfigMap(metadata=ObjectMeta(name="b", labels={"own": "b"})))
        made = await client.create(ConfigMap(metadata=ObjectMeta(name="a", labels={"own": "a"})))
        created = await seen.get()
        await _first(client.watch(ConfigMap, labels={"own": "a"}, resource_version=_version(made)))
    async with operating(registry, namespace):
        resumed = await seen.get()

    assert (created, resumed) == (("create", "a"), ("resume", "a"))
    assert seen.empty()


def _version(obj: ConfigMap) -> str | None:
    assert obj.metadata is not None
    return obj.metadata.resourceVersion


async def _first(changes: AsyncIterable[tuple[str, T]], kind: str = "") -> T:
    """The object of the first change, or of the first of a kind."""
    assert isinstance(changes, AsyncGenerator)
    async with aclosing(changes):
        async for change, found in changes:
            if kind in {"", change}:
                wanted: T = found
                return wanted
    raise AssertionError("the watch has ended")
