"""The client of controllers, on a real server."""

from pathlib import Path

from aio_apiserver.controllers.runtime import resources as places
from aio_apiserver.registry.machinery import media_types
from tests.controllers import clusters


async def test_a_patch_is_not_given_to_another_object_of_the_same_name(tmp_path: Path) -> None:
    patch, map_ = b'{"data": {"a": "1"}}', {"metadata": {"name": "m"}}

    async with clusters.running(tmp_path) as cluster:
        client = cluster.client
        first = await client.create(places.CONFIG_MAPS, map_, namespace="default")
        uid = first["metadata"]["uid"]
        patched = await client.patch(places.CONFIG_MAPS, "default/m", media_types.MERGE_PATCH, patch, uid=uid)
        await client.delete(places.CONFIG_MAPS, first)
        await client.create(places.CONFIG_MAPS, map_, namespace="default")
        late = await client.patch(places.CONFIG_MAPS, "default/m", media_types.MERGE_PATCH, patch, uid=uid)
        second = await client.get(places.CONFIG_MAPS, "default/m")

    assert patched is not None
    assert patched["data"] == {"a": "1"}
    assert late is None
    assert second is not None
    assert "data" not in second
