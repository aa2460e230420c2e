"""kr8s: asyncio over httpx, with kinds found by discovery."""

# mypy: allow-untyped-calls

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import kr8s
import kr8s.asyncio
import pytest
from kr8s.asyncio.objects import ConfigMap, Deployment

from tests.clients import manifests

# A release of kr8s warns of Kubernetes versions that are younger than itself.
pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported:UserWarning")


@pytest.fixture
async def api(kubeconfig: Path, namespace: str) -> AsyncIterator[Any]:
    made: Any = await kr8s.asyncio.api(kubeconfig=str(kubeconfig), namespace=namespace)
    yield made
    await made._session.aclose()


async def config_map(api: Any, name: str, data: dict[str, str] | None = None) -> ConfigMap:
    made: ConfigMap = await ConfigMap(manifests.config_map(name, data, {"is": name}), namespace=api.namespace, api=api)
    await made.create()
    return made


async def names(api: Any, **selected: str) -> list[str]:
    return [item.name async for item in api.get("configmaps", **selected)]


async def test_a_config_map_lives_through_a_round(api: Any) -> None:
    made = await config_map(api, "a", {"k": "v"})
    read = await ConfigMap.get("a", namespace=api.namespace, api=api)
    await made.delete()

    assert read.raw == made.raw
    assert not await made.exists()
    with pytest.raises(kr8s.NotFoundError):
        await made.refresh()


async def test_lists_are_selected(api: Any) -> None:
    for name in ("a", "b", "c"):
        await config_map(api, name)

    assert await names(api) == ["a", "b", "c"]
    assert await names(api, label_selector="is in (a,c)") == ["a", "c"]
    assert await names(api, field_selector="metadata.name=b") == ["b"]


async def test_patches_merge_or_follow_instructions(api: Any) -> None:
    made = await config_map(api, "a", {"keep": "1", "drop": "1"})

    await made.patch({"data": {"drop": None}})
    await made.patch([{"op": "add", "path": "/data/added", "value": "2"}], type="json")

    assert made.raw["data"] == {"keep": "1", "added": "2"}


async def test_a_patch_of_an_older_version_is_a_conflict(api: Any) -> None:
    made = await config_map(api, "a")
    old = made.metadata.resourceVersion
    await made.label(changed="yes")

    with pytest.raises(kr8s.ServerError) as refused:
        await made.patch({"metadata": {"resourceVersion": old}, "data": {"k": "v"}})

    assert refused.value.response is not None
    assert refused.value.response.status_code == 409


async def test_labels_and_annotations_come_and_go(api: Any) -> None:
    made = await config_map(api, "a")

    await made.label(k="v")
    await made.annotate(note="n")
    await made.remove_label("is")

    assert made.labels == {"k": "v"}
    assert made.annotations == {"note": "n"}


async def test_a_watch_sees_every_change_in_order(api: Any) -> None:
    made = await config_map(api, "a")

    seen = []
    async for kind, obj in api.watch("configmaps", namespace=api.namespace):
        seen.append((kind, obj.raw.get("data", {})))
        if kind == "ADDED":
            await made.patch({"data": {"k": "v"}})
        elif kind == "MODIFIED":
            await made.delete()
        else:
            break

    assert seen == [("ADDED", {}), ("MODIFIED", {"k": "v"}), ("DELETED", {"k": "v"})]


async def test_a_deployment_is_scaled_and_awaited(api: Any) -> None:
    made = await Deployment(manifests.deployment("web"), namespace=api.namespace, api=api)
    await made.create()

    await made.scale(3)
    available = {"type": "Available", "status": "True"}
    await made.patch({"status": {"conditions": [available]}}, subresource="status")
    await made.wait("condition=Available", timeout=20)
    replicas = made.replicas
    await made.delete()
    await made.wait("delete", timeout=20)

    assert replicas == 3
    assert not await made.exists()


async def test_kinds_and_identity_are_found(api: Any) -> None:
    kinds = {resource["kind"] for resource in await api.api_resources()}

    assert {"ConfigMap", "Deployment", "Service"} <= kinds
    assert (await api.version())["gitVersion"] == "v1.36.4"
