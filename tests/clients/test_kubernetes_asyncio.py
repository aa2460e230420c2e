"""The asyncio twin of the official client."""

# mypy: allow-untyped-calls

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes_asyncio import client, config, dynamic, watch

from tests.clients.manifests import config_map, deployment


@pytest.fixture
async def api(kubeconfig: Path) -> AsyncIterator[Any]:
    async with await config.new_client_from_config(str(kubeconfig)) as made:
        yield made


@pytest.fixture
def core(api: Any) -> Any:
    return client.CoreV1Api(api)


@pytest.fixture
def apps(api: Any) -> Any:
    return client.AppsV1Api(api)


async def test_a_config_map_lives_through_a_round(core: Any, namespace: str) -> None:
    made = await core.create_namespaced_config_map(namespace, config_map("a", {"k": "v"}))
    read = await core.read_namespaced_config_map("a", namespace)
    await core.delete_namespaced_config_map("a", namespace)
    with pytest.raises(client.ApiException) as missing:
        await core.read_namespaced_config_map("a", namespace)

    assert (read.data, read.metadata) == ({"k": "v"}, made.metadata)
    assert missing.value.status == 404


async def test_lists_are_selected(core: Any, namespace: str) -> None:
    for name in ("a", "b", "c"):
        await core.create_namespaced_config_map(namespace, config_map(name, labels={"is": name}))

    labelled = await core.list_namespaced_config_map(namespace, label_selector="is!=b")
    named = await core.list_namespaced_config_map(namespace, field_selector="metadata.name=b")

    assert [item.metadata.name for item in labelled.items] == ["a", "c"]
    assert [item.metadata.name for item in named.items] == ["b"]


async def test_an_update_of_an_older_version_is_a_conflict(core: Any, namespace: str) -> None:
    old = await core.create_namespaced_config_map(namespace, config_map("a"))
    new = await core.read_namespaced_config_map("a", namespace)
    new.data = {"k": "new"}
    replaced = await core.replace_namespaced_config_map("a", namespace, new)

    with pytest.raises(client.ApiException) as refused:
        await core.replace_namespaced_config_map("a", namespace, old)

    assert replaced.data == {"k": "new"}
    assert refused.value.status == 409


@pytest.mark.parametrize(
    ("content_type", "patch"),
    [
        ("application/merge-patch+json", {"data": {"drop": None, "added": "2"}}),
        ("application/strategic-merge-patch+json", {"data": {"drop": None, "added": "2"}}),
        (
            "application/json-patch+json",
            [{"op": "remove", "path": "/data/drop"}, {"op": "add", "path": "/data/added", "value": "2"}],
        ),
    ],
)
async def test_a_patch_changes_what_it_names(core: Any, namespace: str, content_type: str, patch: Any) -> None:
    await core.create_namespaced_config_map(namespace, config_map("a", {"keep": "1", "drop": "1"}))

    patched = await core.patch_namespaced_config_map("a", namespace, patch, _content_type=content_type)

    assert patched.data == {"keep": "1", "added": "2"}


async def test_a_watch_sees_every_change_in_order(core: Any, namespace: str) -> None:
    start = (await core.list_namespaced_config_map(namespace)).metadata.resource_version
    await core.create_namespaced_config_map(namespace, config_map("a"))
    await core.patch_namespaced_config_map("a", namespace, {"data": {"k": "v"}})
    await core.delete_namespaced_config_map("a", namespace)

    seen = []
    async with watch.Watch() as watcher:
        changes = watcher.stream(core.list_namespaced_config_map, namespace, resource_version=start, timeout_seconds=20)
        async for event in changes:
            seen.append((event["type"], event["object"].data))
            if event["type"] == "DELETED":
                watcher.stop()

    assert seen == [("ADDED", None), ("MODIFIED", {"k": "v"}), ("DELETED", {"k": "v"})]


async def test_deployments_are_patched_scaled_and_deleted(apps: Any, namespace: str) -> None:
    await apps.create_namespaced_deployment(namespace, deployment("web"))

    image = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}}}
    patched = await apps.patch_namespaced_deployment(
        "web", namespace, image, _content_type="application/strategic-merge-patch+json"
    )
    await apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 3}})
    scaled = await apps.read_namespaced_deployment_scale("web", namespace)
    await apps.delete_collection_namespaced_deployment(namespace, label_selector="app=web")
    left = await apps.list_namespaced_deployment(namespace)

    containers = {one.name: one.image for one in patched.spec.template.spec.containers}
    assert containers == {"web": "nginx:2", "helper": "busybox:1"}
    assert scaled.spec.replicas == 3
    assert left.items == []


async def test_the_dynamic_client_finds_kinds_by_discovery(api: Any, namespace: str, tmp_path: Path) -> None:
    found = await dynamic.DynamicClient(api, cache_file=str(tmp_path / "discovery"))
    deployments = await found.resources.get(api_version="apps/v1", kind="Deployment")

    await deployments.create(body=deployment("web"), namespace=namespace)
    listed = await deployments.get(namespace=namespace, label_selector="app=web")

    assert [item.metadata.name for item in listed.items] == ["web"]
