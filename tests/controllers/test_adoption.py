"""Adoptions of orphaned pods on a real server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from aio_apiserver.controllers.runtime.controller import NotYet
from aio_apiserver.controllers.workloads.replica_sets import ReplicaSetController
from tests.controllers import clusters

_SPEC: Object = {"containers": [{"name": "main", "image": "busybox"}]}
_LABELS = {"app": "web"}


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[clusters.Cluster]:
    async with clusters.running(tmp_path, "serviceaccount-controller") as running:
        yield running


async def _replica_set(cluster: clusters.Cluster) -> Object:
    template = {"metadata": {"labels": _LABELS}, "spec": _SPEC}
    spec = {"replicas": 1, "selector": {"matchLabels": _LABELS}, "template": template}
    return await cluster.client.create(
        places.REPLICA_SETS, {"metadata": {"name": "web"}, "spec": spec}, namespace="default"
    )


async def _controller(cluster: clusters.Cluster) -> ReplicaSetController:
    """A controller that knows one orphaned pod and does not run."""
    await cluster.client.create(
        places.PODS, {"metadata": {"name": "orphan", "labels": _LABELS}, "spec": _SPEC}, namespace="default"
    )
    controller = ReplicaSetController(clusters.desk_of(cluster))
    controller.begin()
    await cluster.until(places.PODS, lambda pods: "default/orphan" in pods)
    return controller


async def test_an_owner_adopts_an_orphan(cluster: clusters.Cluster) -> None:
    owner = await _replica_set(cluster)

    claimed = await (await _controller(cluster)).claim(owner)

    assert [pod["metadata"]["name"] for pod in claimed] == ["orphan"]


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_an_owner_that_was_deleted_in_the_meantime_adopts_nothing(cluster: clusters.Cluster, policy: str) -> None:
    owner = await _replica_set(cluster)
    controller = await _controller(cluster)
    await cluster.client.delete(places.REPLICA_SETS, owner, policy=policy)
    if policy == "Background":
        await _replica_set(cluster)  # another one of the same name

    with pytest.raises(NotYet):
        await controller.claim(owner)

    assert "ownerReferences" not in (await cluster.client.list(places.PODS))[0]["metadata"]
