"""Pods in a simulated cluster."""

from pathlib import Path

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from tests.controllers import clusters


def _pod(name: str, **annotations: str) -> Object:
    metadata = {
        "name": name,
        "annotations": {f"simulate.aio-apiserver/{rule}": text for rule, text in annotations.items()},
    }
    return {"metadata": metadata, "spec": {"containers": [{"name": "a", "image": "b"}]}}


def _phase(items: dict[str, Object], name: str) -> str:
    return str(items.get(f"default/{name}", {}).get("status", {}).get("phase", ""))


async def test_pods_run_on_nodes_and_go_when_they_are_deleted(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "serviceaccount-controller", simulate=True, simulate_nodes=2) as cluster:
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        await cluster.until(
            places.NODES, lambda items: sum(not one["spec"].get("taints") for one in items.values()) == 2
        )
        pods = [await cluster.client.create(places.PODS, _pod(name), namespace="default") for name in ("a", "b")]

        items = await cluster.until(
            places.PODS, lambda items: all(_phase(items, name) == "Running" for name in ("a", "b"))
        )
        assert len({pod["spec"]["nodeName"] for pod in items.values()}) == 2
        assert len({pod["status"]["podIP"] for pod in items.values()}) == 2

        await cluster.client.delete(places.PODS, pods[0])
        await cluster.gone(places.PODS, "default/a")


async def test_a_node_refuses_a_pod_whose_host_port_another_pod_has(tmp_path: Path) -> None:
    def pod(name: str) -> Object:
        container = {"name": "a", "image": "b", "ports": [{"containerPort": 80, "hostPort": 80}]}
        return {"metadata": {"name": name}, "spec": {"nodeName": "node-0", "containers": [container]}}

    async with clusters.running(tmp_path, "serviceaccount-controller", simulate=True) as cluster:
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        await cluster.client.create(places.PODS, pod("first"), namespace="default")
        await cluster.until(places.PODS, lambda items: _phase(items, "first") == "Running")

        await cluster.client.create(places.PODS, pod("second"), namespace="default")

        items = await cluster.until(places.PODS, lambda items: _phase(items, "second") == "Failed")
        assert items["default/second"]["status"]["reason"] == "NodePorts"
        assert "containerStatuses" not in items["default/second"]["status"]


async def test_a_deleted_pod_that_its_owner_holds_has_failed(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "serviceaccount-controller", "job-controller", simulate=True) as cluster:
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        template = {**_pod("x"), "metadata": {}}
        template["spec"] |= {"restartPolicy": "Never"}
        template["spec"]["containers"][0] |= {"command": ["sleep", "1h"]}
        spec = {"template": template, "podReplacementPolicy": "Failed"}
        await cluster.client.create(places.JOBS, {"metadata": {"name": "j"}, "spec": spec}, namespace="default")
        items = await cluster.until(
            places.PODS,
            lambda items: [one for one in items.values() if one.get("status", {}).get("phase") == "Running"],
        )
        (pod,) = items.values()

        await cluster.client.delete(places.PODS, pod)

        await cluster.until(places.JOBS, lambda items: items["default/j"]["status"].get("failed") == 1)
        await cluster.gone(places.PODS, f"default/{pod['metadata']['name']}")


async def test_a_rule_may_change_while_a_pod_runs(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "serviceaccount-controller", simulate=True) as cluster:
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        pod = await cluster.client.create(places.PODS, _pod("a", phase="Pending"), namespace="default")
        await cluster.until(places.PODS, lambda items: items["default/a"].get("status", {}).get("containerStatuses"))

        def fail(obj: Object) -> None:
            obj["metadata"]["annotations"]["simulate.aio-apiserver/phase"] = "Failed"

        await cluster.client.change(places.PODS, pod, fail)

        await cluster.until(places.PODS, lambda items: _phase(items, "a") == "Failed")


async def test_a_pod_that_fits_nowhere_waits_until_there_is_room(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "serviceaccount-controller", simulate=True) as cluster:
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        wanting = _pod("a")
        wanting["spec"]["nodeSelector"] = {"disk": "ssd"}
        await cluster.client.create(places.PODS, wanting, namespace="default")
        await cluster.until(
            places.PODS, lambda items: any(one.get("reason") == "Unschedulable" for one in _conditions(items))
        )
        (node,) = await cluster.client.list(places.NODES)

        def label(obj: Object) -> None:
            obj["metadata"]["labels"]["disk"] = "ssd"

        await cluster.client.change(places.NODES, node, label)

        await cluster.until(places.PODS, lambda items: _phase(items, "a") == "Running")


def _conditions(items: dict[str, Object]) -> list[Object]:
    return list(items.get("default/a", {}).get("status", {}).get("conditions") or ())
