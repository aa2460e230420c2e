"""ComponentStatuses of a server that runs the components itself."""

from pathlib import Path

from aio_apiserver.registry.generic.in_process_client import ResourcePath
from tests.controllers import clusters

_COMPONENTS = ResourcePath("", "v1", "componentstatuses")


async def test_components_in_this_process_are_healthy_and_others_are_not(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "job-controller") as cluster:
        found = await cluster.client.list(_COMPONENTS)

    health = {one["metadata"]["name"]: one["conditions"][0]["status"] for one in found}
    assert health == {"controller-manager": "True", "etcd-0": "True", "scheduler": "False"}
