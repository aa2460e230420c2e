"""The official client: typed and dynamic."""

# mypy: allow-untyped-calls

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic, watch

from tests.clients.manifests import config_map, deployment


@pytest.fixture
def api(kubeconfig: Path) -> Iterator[Any]:
    with config.new_client_from_config(str(kubeconfig)) as made:
        yield made
        made.rest_client.pool_manager.clear()


@pytest.fixture
def core(api: Any) -> Any:
    return client.CoreV1Api(api)


@pytest.fixture
def apps(api: Any) -> Any:
    return client.AppsV1Api(api)


def test_what_is_created_is_read_and_deleted(core: Any, namespace: str) -> None:
    made = core.create_namespaced_config_map(namespace, config_map("a", {"k": "v"}))
    read = core.read_namespaced_config_map("a", namespace)
    gone = core.delete_namespaced_config_map("a", namespace)
    with pytest.raises(client.ApiException) as missing:
        core.read_namespaced_config_map("a", namespace)

    assert read.data == {"k": "v"}
    assert read.metadata == made.metadata
    assert gone["status"] == "Success"
    assert (missing.value.status, missing.value.reason) == (404, "Not Found")


def test_lists_are_selected_and_paged(core: Any, namespace: str) -> None:
    for name in ("a", "b", "c"):
        core.create_namespaced_config_map(namespace, config_map(name, labels={"is": name}))

    labelled = core.list_namespaced_config_map(namespace, label_selector="is in (a,c)")
    named = core.list_namespaced_config_map(namespace, field_selector="metadata.name=b")
    first = core.list_namespaced_config_map(namespace, limit=2)
    rest = core.list_namespaced_config_map(namespace, limit=2, _continue=first.metadata._continue)

    assert [item.metadata.name for item in labelled.items] == ["a", "c"]
    assert [item.metadata.name for item in named.items] == ["b"]
    assert first.metadata.remaining_item_count == 1
    assert [item.metadata.name for item in [*first.items, *rest.items]] == ["a", "b", "c"]


def test_an_update_of_an_older_version_is_a_conflict(core: Any, namespace: str) -> None:
    old = core.create_namespaced_config_map(namespace, config_map("a"))
    new = core.read_namespaced_config_map("a", namespace)
    new.data = {"k": "new"}
    replaced = core.replace_namespaced_config_map("a", namespace, new)

    with pytest.raises(client.ApiException) as refused:
        core.replace_namespaced_config_map("a", namespace, old)

    assert replaced.data == {"k": "new"}
    assert refused.value.status == 409
    assert '"reason":"Conflict"' in str(refused.value.body)


def test_patches_merge_or_follow_instructions(core: Any, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, config_map("a", {"keep": "1", "drop": "1"}))

    core.patch_namespaced_config_map("a", namespace, {"data": {"drop": None}})
    patched = core.patch_namespaced_config_map("a", namespace, [{"op": "add", "path": "/data/added", "value": "2"}])

    assert patched.data == {"keep": "1", "added": "2"}


def test_a_watch_sees_every_change_in_order(core: Any, namespace: str) -> None:
    start = core.list_namespaced_config_map(namespace).metadata.resource_version
    core.create_namespaced_config_map(namespace, config_map("a"))
    core.patch_namespaced_config_map("a", namespace, {"data": {"k": "v"}})
    core.delete_namespaced_config_map("a", namespace)
    watcher = watch.Watch()

    seen = []
    for event in watcher.stream(core.list_namespaced_config_map, namespace, resource_version=start, timeout_seconds=20):
        seen.append((event["type"], event["object"].data))
        if event["type"] == "DELETED":
            watcher.stop()

    assert seen == [("ADDED", None), ("MODIFIED", {"k": "v"}), ("DELETED", {"k": "v"})]


def test_deployments_are_patched_by_the_names_of_their_containers(apps: Any, namespace: str) -> None:
    apps.create_namespaced_deployment(namespace, deployment("web"))

    image = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}}}
    patched = apps.patch_namespaced_deployment("web", namespace, image)

    containers = {one.name: one.image for one in patched.spec.template.spec.containers}
    assert containers == {"web": "nginx:2", "helper": "busybox:1"}


def test_deployments_are_scaled_and_report_their_status(apps: Any, namespace: str) -> None:
    apps.create_namespaced_deployment(namespace, deployment("web"))

    scaled = apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 3}})
    apps.patch_namespaced_deployment_status("web", namespace, {"status": {"replicas": 2}})
    read = apps.read_namespaced_deployment("web", namespace)
    apps.delete_namespaced_deployment("web", namespace)

    assert scaled.spec.replicas == 3
    assert (read.spec.replicas, read.status.replicas) == (3, 2)
    assert apps.list_namespaced_deployment(namespace).items == []


def test_an_invalid_object_is_refused_with_its_field(core: Any, namespace: str) -> None:
    with pytest.raises(client.ApiException) as refused:
        core.create_namespaced_config_map(namespace, config_map("Not_A_Name"))

    assert refused.value.status == 422
    assert '"field":"metadata.name"' in str(refused.value.body)


def test_a_dry_run_changes_nothing(core: Any, namespace: str) -> None:
    made = core.create_namespaced_config_map(namespace, config_map("a", {"k": "v"}), dry_run="All")

    assert made.data == {"k": "v"}
    assert core.list_namespaced_config_map(namespace).items == []


def test_the_dynamic_client_finds_kinds_by_discovery(api: Any, namespace: str, tmp_path: Path) -> None:
    found = dynamic.DynamicClient(api, cache_file=str(tmp_path / "discovery"))
    deployments = found.resources.get(api_version="apps/v1", kind="Deployment")

    deployments.create(body=deployment("web"), namespace=namespace)
    patched = deployments.patch(
        body={"spec": {"replicas": 2}}, name="web", namespace=namespace, content_type="application/merge-patch+json"
    )
    listed = deployments.get(namespace=namespace, label_selector="app=web")
    deployments.delete(name="web", namespace=namespace)

    assert patched.spec.replicas == 2
    assert [item.metadata.name for item in listed.items] == ["web"]
    assert deployments.get(namespace=namespace).items == []
