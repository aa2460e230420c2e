"""Controllers whose informers do not show the newest writes of other clients yet."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TypeVar

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from aio_apiserver.controllers.runtime.controller import Controller, NotYet
from aio_apiserver.controllers.volumes import volume_matching as volumes
from aio_apiserver.controllers.volumes.persistent_volumes import PersistentVolumeBinder
from aio_apiserver.controllers.volumes.resource_claims import ResourceClaimController
from aio_apiserver.controllers.volumes.volume_protection import VolumeProtection
from aio_apiserver.controllers.workloads.disruptions import DisruptionController
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from tests.controllers import clusters

_T = TypeVar("_T", bound=Controller)
_TIME = "2026-01-01T00:00:00Z"


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[clusters.Cluster]:
    async with clusters.running(tmp_path, disable_admission_plugins=("ServiceAccount",)) as running:
        yield running


async def _late(cluster: clusters.Cluster, kind: type[_T], place: ResourcePath, key: str) -> _T:
    """A controller that knows an object and sees no more changes."""
    controller = kind(clusters.desk_of(cluster))
    controller.begin()
    await cluster.until(place, lambda items: key in items)
    await cluster.informers.close()
    return controller


async def _pod(cluster: clusters.Cluster, name: str) -> Object:
    pod: Object = {"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}
    return await cluster.client.create(places.PODS, pod, namespace="default")


async def test_an_eviction_is_not_lost_when_the_status_of_its_budget_is_computed(cluster: clusters.Cluster) -> None:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    budget = await cluster.client.create(
        places.DISRUPTION_BUDGETS, {"metadata": {"name": "web"}, "spec": spec}, namespace="default"
    )
    controller = await _late(cluster, DisruptionController, places.DISRUPTION_BUDGETS, "default/web")

    def evict(present: Object) -> None:
        amounts = {"currentHealthy": 2, "desiredHealthy": 1, "disruptionsAllowed": 0, "expectedPods": 2}
        present["status"] = {**amounts, "disruptedPods": {"a": _TIME}}

    await cluster.client.change(places.DISRUPTION_BUDGETS.part("status"), budget, evict)
    with pytest.raises(NotYet):
        await controller.reconcile("default/web")

    (newest,) = await cluster.client.list(places.DISRUPTION_BUDGETS)
    assert newest["status"]["disruptedPods"] == {"a": _TIME}


async def test_a_volume_that_was_bound_after_its_deletion_stays(cluster: clusters.Cluster) -> None:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/tmp"}}  # noqa: S108
    volume: Object = {"metadata": {"name": "v", "finalizers": ["kubernetes.io/pv-protection"]}, "spec": spec}
    made = await cluster.client.create(places.PERSISTENT_VOLUMES, volume)
    await cluster.client.delete(places.PERSISTENT_VOLUMES, made)
    controller = await _late(cluster, VolumeProtection, places.PERSISTENT_VOLUMES, "v")

    def bind(present: Object) -> None:
        present["status"] = {"phase": "Bound"}

    await cluster.client.change(places.PERSISTENT_VOLUMES.part("status"), made, bind)
    with pytest.raises(NotYet):
        await controller.reconcile("v")

    assert len(await cluster.client.list(places.PERSISTENT_VOLUMES)) == 1


def _reserved_for(*pods: Object) -> Object:
    """The status of a claim that has devices."""
    results = [{"request": "one", "driver": "d.example.com", "pool": "p", "device": "a"}]
    users = [{"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]} for pod in pods]
    return {"allocation": {"devices": {"results": results}}, "reservedFor": users}


async def _claim(cluster: clusters.Cluster, *pods: Object) -> Object:
    requests = [{"name": "one", "exactly": {"deviceClassName": "gpu"}}]
    claim: Object = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}}
    made = await cluster.client.create(places.RESOURCE_CLAIMS, claim, namespace="default")
    return await _reserve(cluster, made, *pods)


async def _reserve(cluster: clusters.Cluster, claim: Object, *pods: Object) -> Object:
    def reserve(present: Object) -> None:
        present["status"] = _reserved_for(*pods)

    changed = await cluster.client.change(places.RESOURCE_CLAIMS.part("status"), claim, reserve)
    assert changed is not None
    return changed


async def _users(cluster: clusters.Cluster) -> list[str]:
    (claim,) = await cluster.client.list(places.RESOURCE_CLAIMS)
    return [one["name"] for one in (claim.get("status") or {}).get("reservedFor", ())]


async def test_a_claim_stays_reserved_for_a_pod_that_the_scheduler_has_added_since(cluster: clusters.Cluster) -> None:
    ended, new = await _pod(cluster, "ended"), await _pod(cluster, "new")
    claim = await _claim(cluster, ended)
    await cluster.client.delete(places.PODS, ended, grace=0)
    controller = await _late(cluster, ResourceClaimController, places.RESOURCE_CLAIMS, "default/c")

    await _reserve(cluster, claim, ended, new)
    with pytest.raises(NotYet):
        await controller.reconcile("claim default/c")

    assert await _users(cluster) == ["ended", "new"]


async def test_a_claim_stays_reserved_for_a_pod_that_is_not_shown_yet(cluster: clusters.Cluster) -> None:
    controller = await _late(cluster, ResourceClaimController, places.NAMESPACES, "default")
    new = await _pod(cluster, "new")
    claim = await _claim(cluster, new)

    await controller.release(claim)

    assert await _users(cluster) == ["new"]


async def test_a_lost_claim_keeps_a_condition_that_a_resizer_has_set_since(cluster: clusters.Cluster) -> None:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "volumeName": "gone",
        "storageClassName": "",
    }
    metadata = {"name": "c", "annotations": {volumes.BIND_COMPLETED: "yes"}}
    claim = await cluster.client.create(
        places.PERSISTENT_VOLUME_CLAIMS, {"metadata": metadata, "spec": spec}, namespace="default"
    )
    controller = await _late(cluster, PersistentVolumeBinder, places.PERSISTENT_VOLUME_CLAIMS, "default/c")

    def resize(present: Object) -> None:
        present["status"]["conditions"] = [{"type": "Resizing", "status": "True"}]

    await cluster.client.change(places.PERSISTENT_VOLUME_CLAIMS.part("status"), claim, resize)
    await controller.reconcile("default/c")

    (newest,) = await cluster.client.list(places.PERSISTENT_VOLUME_CLAIMS)
    assert (newest["status"]["phase"], newest["status"]["conditions"][0]["type"]) == ("Lost", "Resizing")
