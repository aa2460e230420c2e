"""The garbage collector, when a resource cannot be watched."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.garbage_collection.garbage_collector import GarbageCollector
from aio_apiserver.controllers.runtime.resources import DEFINITIONS
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from tests.controllers import clusters

_CONFIG_MAPS = ResourcePath("", "v1", "configmaps")
_NAME = "widgets.example.com"
_ORPHAN: Object = {
    "metadata": {
        "name": "orphan",
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "u"}],
    }
}


def _definition() -> Object:
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": _NAME}, "spec": spec}


async def _pass_time(clock: ManualClock) -> None:
    while True:
        clock.advance(1)
        await asyncio.sleep(0)


@asynccontextmanager
async def _spawned(work: "asyncio.Task[None]") -> AsyncIterator[None]:
    try:
        yield
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def test_a_resource_that_cannot_be_watched_at_the_start_stops_no_collection(tmp_path: Path) -> None:
    async with clusters.running(tmp_path) as cluster:
        await cluster.client.create(DEFINITIONS, _definition())
        served, widgets = cluster.server.parts.served, ("example.com", "v1", "widgets")
        await cluster.until(DEFINITIONS, lambda items: conditions.is_true(items[_NAME]["status"], "Established"))
        assert served.get(widgets) is not None
        await cluster.client.create(_CONFIG_MAPS, _ORPHAN, namespace="default")
        clock = ManualClock()
        controller = GarbageCollector(replace(clusters.desk_of(cluster), clock=clock))
        async with _spawned(asyncio.create_task(controller.run())):
            await asyncio.sleep(0)  # it has chosen its resources, and watches none yet
            served.publish(_NAME, None)
            async with _spawned(asyncio.create_task(_pass_time(clock))):
                await cluster.gone(_CONFIG_MAPS, "default/orphan")
