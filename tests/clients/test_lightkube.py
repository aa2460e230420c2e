"""lightkube: typed models over httpx, with all kinds of patches."""

from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path

import pytest
from lightkube import ApiError, AsyncClient, Client, KubeConfig
from lightkube.models.autoscaling_v1 import ScaleSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.operators import in_
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType

from tests.clients.manifests import deployment


@pytest.fixture
def client(kubeconfig: Path, namespace: str) -> Iterator[Client]:
    with Client(config=KubeConfig.from_file(str(kubeconfig)), namespace=namespace) as made:
        yield made


@pytest.fixture
async def async_client(kubeconfig: Path, namespace: str) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(config=KubeConfig.from_file(str(kubeconfig)), namespace=namespace) as made:
        yield made


def config_map(name: str, data: dict[str, str] | None = None) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels={"is": name}), data=data)


def names(found: Iterable[ConfigMap]) -> list[str | None]:
    return [item.metadata.name for item in found if item.metadata]


def test_a_config_map_lives_through_a_round(client: Client) -> None:
    made = client.create(config_map("a", {"k": "v"}))
    read = client.get(ConfigMap, "a")
    client.delete(ConfigMap, "a")
    with pytest.raises(ApiError) as missing:
        client.get(ConfigMap, "a")

    assert read == made
    assert missing.value.status.code == 404
    assert missing.value.status.reason == "NotFound"


def test_lists_are_selected_and_read_in_chunks(client: Client) -> None:
    for name in ("a", "b", "c"):
        client.create(config_map(name))

    assert names(client.list(ConfigMap, labels={"is": in_(["a", "c"])})) == ["a", "c"]
    assert names(client.list(ConfigMap, fields={"metadata.name": "b"})) == ["b"]
    assert names(client.list(ConfigMap, chunk_size=1)) == ["a", "b", "c"]


def test_an_update_of_an_older_version_is_a_conflict(client: Client) -> None:
    old = client.create(config_map("a"))
    new = client.get(ConfigMap, "a")
    new.data = {"k": "new"}
    replaced = client.replace(new)

    with pytest.raises(ApiError) as refused:
        client.replace(old)

    assert replaced.data == {"k": "new"}
    assert refused.value.status.reason == "Conflict"


@pytest.mark.parametrize("kind", [PatchType.MERGE, PatchType.STRATEGIC])
def test_a_patch_merges(client: Client, kind: PatchType) -> None:
    client.create(config_map("a", {"keep": "1", "drop": "1"}))

    patched = client.patch(ConfigMap, "a", {"data": {"drop": None, "added": "2"}}, patch_type=kind)

    assert patched.data == {"keep": "1", "added": "2"}


def test_a_json_patch_may_test_first(client: Client) -> None:
    client.create(config_map("a", {"k": "1"}))
    change = {"op": "replace", "path": "/data/k", "value": "2"}

    patched = client.patch(
        ConfigMap, "a", [{"op": "test", "path": "/data/k", "value": "1"}, change], patch_type=PatchType.JSON
    )
    with pytest.raises(ApiError) as refused:
        client.patch(
            ConfigMap, "a", [{"op": "test", "path": "/data/k", "value": "1"}, change], patch_type=PatchType.JSON
        )

    assert patched.data == {"k": "2"}
    assert refused.value.status.code == 422


def test_a_watch_sees_every_change_in_order(client: Client) -> None:
    first = client.create(config_map("a"))
    client.patch(ConfigMap, "a", {"data": {"k": "v"}})
    client.delete(ConfigMap, "a")

    seen = []
    assert first.metadata is not None
    for kind, obj in client.watch(ConfigMap, resource_version=first.metadata.resourceVersion, server_timeout=20):
        seen.append((kind, obj.data))
        if kind == "DELETED":
            break

    assert seen == [("MODIFIED", {"k": "v"}), ("DELETED", {"k": "v"})]


async def test_the_async_client_does_the_same(async_client: AsyncClient) -> None:
    wanted = Deployment.from_dict(deployment("web"))
    assert isinstance(wanted, Deployment)
    await async_client.create(wanted)

    image = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}}}
    patched = await async_client.patch(Deployment, "web", image)
    scale = Deployment.Scale(metadata=ObjectMeta(name="web"), spec=ScaleSpec(replicas=3))
    await async_client.replace(scale, "web")
    read = await async_client.get(Deployment, "web")
    await async_client.delete(Deployment, "web")
    left = [item async for item in async_client.list(Deployment)]

    assert patched.spec is not None
    assert patched.spec.template.spec is not None
    containers = {one.name: one.image for one in patched.spec.template.spec.containers}
    assert containers == {"web": "nginx:2", "helper": "busybox:1"}
    assert read.spec is not None
    assert read.spec.replicas == 3
    assert left == []
