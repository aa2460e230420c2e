"""Controllers on a real server, in its process."""

import subprocess
import sys
from pathlib import Path

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from aio_apiserver.registry.base.errors import NotFound
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from tests.controllers import clusters

_NAMESPACE = "work"
_WIDGETS = ResourcePath("example.com", "v1", "widgets")


def _named(name: str, **metadata: object) -> Object:
    return {"metadata": {"name": name, **metadata}}


def _owned_by(owner: Object, api_version: str, kind: str, **more: object) -> list[Object]:
    metadata = owner["metadata"]
    return [{"apiVersion": api_version, "kind": kind, "name": metadata["name"], "uid": metadata["uid"], **more}]


def _definition() -> Object:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


async def _with_widgets(cluster: clusters.Cluster) -> None:
    await cluster.client.create(places.DEFINITIONS, _definition())
    await cluster.until(
        places.DEFINITIONS,
        lambda items: any(
            one["type"] == "Established" and one["status"] == "True"
            for item in items.values()
            for one in (item.get("status") or {}).get("conditions") or ()
        ),
    )


async def test_every_namespace_gets_what_it_needs(tmp_path: Path) -> None:
    names = ("serviceaccount-controller", "root-ca-certificate-publisher-controller")
    async with clusters.running(tmp_path, *names) as cluster:
        await cluster.client.create(places.NAMESPACES, _named(_NAMESPACE))

        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "work/default" in items)
        made = await cluster.until(places.CONFIG_MAPS, lambda items: "work/kube-root-ca.crt" in items)

        assert made["work/kube-root-ca.crt"]["data"]["ca.crt"] == cluster.server.pki.ca.certificate.read_text()


async def test_a_namespace_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "namespace-controller") as cluster:
        await _with_widgets(cluster)
        namespace = await cluster.client.create(places.NAMESPACES, _named(_NAMESPACE))
        await cluster.client.create(places.CONFIG_MAPS, _named("a"), namespace=_NAMESPACE)
        await cluster.client.create(_WIDGETS, _named("w"), namespace=_NAMESPACE)

        await cluster.client.delete(places.NAMESPACES, namespace)

        await cluster.gone(places.NAMESPACES, _NAMESPACE)
        assert await cluster.client.list(_WIDGETS) == []
        with pytest.raises(NotFound):
            await cluster.client.create(places.CONFIG_MAPS, _named("b"), namespace=_NAMESPACE)


async def test_a_namespace_tells_what_holds_it(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "namespace-controller") as cluster:
        namespace = await cluster.client.create(places.NAMESPACES, _named(_NAMESPACE))
        held = await cluster.client.create(
            places.CONFIG_MAPS, _named("a", finalizers=["example.com/hold"]), namespace=_NAMESPACE
        )

        await cluster.client.delete(places.NAMESPACES, namespace)

        def is_told(items: dict[str, Object]) -> bool:
            conditions = items[_NAMESPACE]["status"].get("conditions") or ()
            return any(one["reason"] == "SomeFinalizersRemain" for one in conditions)

        await cluster.until(places.NAMESPACES, is_told)

        def let_go(obj: Object) -> None:
            obj["metadata"].pop("finalizers")

        await cluster.client.change(places.CONFIG_MAPS, held, let_go)
        await cluster.gone(places.NAMESPACES, _NAMESPACE)


async def test_dependents_go_with_their_owner_custom_ones_too(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "garbage-collector-controller") as cluster:
        await _with_widgets(cluster)
        owner = await cluster.client.create(_WIDGETS, _named("w"), namespace="default")
        owners = _owned_by(owner, "example.com/v1", "Widget")
        await cluster.client.create(places.CONFIG_MAPS, _named("c", ownerReferences=owners), namespace="default")
        below = await cluster.client.create(_WIDGETS, _named("x", ownerReferences=owners), namespace="default")

        await cluster.client.delete(_WIDGETS, owner)

        await cluster.gone(places.CONFIG_MAPS, "default/c")
        await cluster.gone(_WIDGETS, f"default/{below['metadata']['name']}")


async def test_a_foreground_deletion_waits_for_dependents_that_block_it(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "garbage-collector-controller") as cluster:
        owner = await cluster.client.create(places.CONFIG_MAPS, _named("owner"), namespace="default")
        owners = _owned_by(owner, "v1", "ConfigMap", blockOwnerDeletion=True)
        held = _named("child", ownerReferences=owners, finalizers=["example.com/hold"])
        child = await cluster.client.create(places.CONFIG_MAPS, held, namespace="default")

        await cluster.client.delete(places.CONFIG_MAPS, owner, policy="Foreground")
        items = await cluster.until(
            places.CONFIG_MAPS, lambda items: items["default/child"]["metadata"].get("deletionTimestamp")
        )
        assert "default/owner" in items

        def let_go(obj: Object) -> None:
            obj["metadata"].pop("finalizers")

        await cluster.client.change(places.CONFIG_MAPS, child, let_go)
        await cluster.gone(places.CONFIG_MAPS, "default/owner")


async def test_orphans_stay_without_their_owner(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "garbage-collector-controller") as cluster:
        owner = await cluster.client.create(places.CONFIG_MAPS, _named("owner"), namespace="default")
        child = _named("child", ownerReferences=_owned_by(owner, "v1", "ConfigMap"))
        await cluster.client.create(places.CONFIG_MAPS, child, namespace="default")

        await cluster.client.delete(places.CONFIG_MAPS, owner, policy="Orphan")

        await cluster.gone(places.CONFIG_MAPS, "default/owner")
        left = await cluster.client.get(places.CONFIG_MAPS, "default/child")
        assert left is not None
        assert "ownerReferences" not in left["metadata"]


async def test_an_owner_in_another_namespace_is_none(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "garbage-collector-controller") as cluster:
        owner = await cluster.client.create(places.CONFIG_MAPS, _named("owner"), namespace="kube-system")
        child = _named("child", ownerReferences=_owned_by(owner, "v1", "ConfigMap"))
        await cluster.client.create(places.CONFIG_MAPS, child, namespace="default")

        await cluster.gone(places.CONFIG_MAPS, "default/child")


async def test_roles_are_gathered(tmp_path: Path) -> None:
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    async with clusters.running(tmp_path, "clusterrole-aggregation-controller") as cluster:
        selectors = {"clusterRoleSelectors": [{"matchLabels": {"to": "all"}}]}
        await cluster.client.create(places.CLUSTER_ROLES, {**_named("all"), "aggregationRule": selectors})

        await cluster.client.create(places.CLUSTER_ROLES, {**_named("some", labels={"to": "all"}), "rules": [rule]})

        await cluster.until(places.CLUSTER_ROLES, lambda items: items["all"].get("rules") == [rule])


def test_a_server_without_controllers_does_without_their_code() -> None:
    names = "(name for name in sys.modules if name.startswith('aio_apiserver.controllers'))"
    script = f"import sys, apiserver.program; print(*{names})"

    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert told.split() == ["aio_apiserver.controllers", "aio_apiserver.controllers.names"]
