from pathlib import Path

from aio_apiserver.controllers.runtime import resources as places
from tests.controllers import clusters


async def test_a_deletion_whose_event_came_before_its_answer_is_not_waited_for(tmp_path: Path) -> None:
    async with clusters.running(tmp_path) as cluster:
        made = await cluster.client.create(places.CONFIG_MAPS, {"metadata": {"name": "a"}}, namespace="default")
        informer = cluster.informers.of(places.CONFIG_MAPS)
        await cluster.until(places.CONFIG_MAPS, lambda items: "default/a" in items)
        await cluster.client.delete(places.CONFIG_MAPS, made)
        await cluster.gone(places.CONFIG_MAPS, "default/a")

        cluster.informers.expect(places.CONFIG_MAPS, "default/a", int(made["metadata"]["resourceVersion"]) + 1, True)

        assert informer.awaited() == []
