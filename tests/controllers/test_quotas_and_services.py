"""Quotas, replica sets at their limit, and services without a selector, on a real server."""

import asyncio
from pathlib import Path

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from aio_apiserver.registry.base.errors import Forbidden
from tests.controllers import clusters


def _replica_set(name: str, replicas: int) -> Object:
    labels = {"app": name}
    spec = {"containers": [{"name": "a", "image": "nginx"}]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def _quota(**hard: str) -> Object:
    return {"metadata": {"name": "quota"}, "spec": {"hard": {name.replace("_", "/"): hard[name] for name in hard}}}


def _used(items: dict[str, Object], name: str) -> str:
    return str((items["default/quota"].get("status") or {}).get("used", {}).get(name))


async def test_a_replica_set_reports_that_a_quota_stops_it(tmp_path: Path) -> None:
    names = ("replicaset-controller", "resourcequota-controller", "serviceaccount-controller")
    async with clusters.running(tmp_path, *names) as cluster:
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        await cluster.client.create(places.RESOURCE_QUOTAS, _quota(pods="2"), namespace="default")
        await cluster.until(places.RESOURCE_QUOTAS, lambda items: _used(items, "pods") == "0")

        made = await cluster.client.create(places.REPLICA_SETS, _replica_set("web", 3), namespace="default")

        def conditions(items: dict[str, Object]) -> list[Object]:
            return list((items["default/web"].get("status") or {}).get("conditions") or ())

        items = await cluster.until(places.REPLICA_SETS, conditions)
        (condition,) = conditions(items)
        assert (condition["type"], condition["status"], condition["reason"]) == (
            "ReplicaFailure",
            "True",
            "FailedCreate",
        )

        def shrink(obj: Object) -> None:
            obj["spec"]["replicas"] = 2

        await cluster.client.change(places.REPLICA_SETS, made, shrink)
        await cluster.until(places.REPLICA_SETS, lambda items: not conditions(items))


async def test_a_quota_follows_deletions_of_all_that_it_counts(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "resourcequota-controller") as cluster:
        hard = _quota(count_secrets="5", count_configmaps="5")
        await cluster.client.create(places.RESOURCE_QUOTAS, hard, namespace="default")
        await cluster.until(places.RESOURCE_QUOTAS, lambda items: _used(items, "count/secrets") == "0")
        made = [
            await cluster.client.create(place, {"metadata": {"name": "one"}}, namespace="default")
            for place in (places.SECRETS, places.CONFIG_MAPS)
        ]
        await cluster.until(places.RESOURCE_QUOTAS, lambda items: _used(items, "count/configmaps") == "1")

        for place, obj in zip((places.SECRETS, places.CONFIG_MAPS), made, strict=True):
            await cluster.client.delete(place, obj)

        names = ("count/secrets", "count/configmaps")
        await cluster.until(places.RESOURCE_QUOTAS, lambda items: {_used(items, name) for name in names} == {"0"})


async def test_a_pod_that_gets_a_deadline_leaves_the_quota_of_pods_without_one(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "resourcequota-controller", "serviceaccount-controller") as cluster:
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        quota = _quota(pods="1")
        quota["spec"]["scopes"] = ["NotTerminating"]
        await cluster.client.create(places.RESOURCE_QUOTAS, quota, namespace="default")
        await cluster.until(places.RESOURCE_QUOTAS, lambda items: _used(items, "pods") == "0")
        pod: Object = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "nginx"}]}}
        made = await cluster.client.create(places.PODS, pod, namespace="default")
        await cluster.until(places.RESOURCE_QUOTAS, lambda items: _used(items, "pods") == "1")

        def give_deadline(present: Object) -> None:
            present["spec"]["activeDeadlineSeconds"] = 3600

        await cluster.client.change(places.PODS, made, give_deadline)

        await cluster.until(places.RESOURCE_QUOTAS, lambda items: _used(items, "pods") == "0")


async def test_a_count_keeps_what_admission_charged_meanwhile(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "resourcequota-controller") as cluster:
        await cluster.client.create(places.RESOURCE_QUOTAS, _quota(count_secrets="10"), namespace="default")
        await cluster.until(places.RESOURCE_QUOTAS, lambda items: _used(items, "count/secrets") == "0")

        async def create(number: int) -> bool:
            try:
                await cluster.client.create(places.SECRETS, {"metadata": {"name": f"s{number}"}}, namespace="default")
            except Forbidden:
                return False
            return True

        made = [await create(0)]
        made += await asyncio.gather(*(create(number) for number in range(1, 30)))

        assert made.count(True) == 10


async def test_endpoints_of_a_service_without_a_selector_are_mirrored(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "endpointslice-mirroring-controller") as cluster:
        service: Object = {"metadata": {"name": "db"}, "spec": {"ports": [{"port": 80}]}}
        await cluster.client.create(places.SERVICES, service, namespace="default")
        subset = {"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 5432, "protocol": "TCP"}]}
        endpoints: Object = {"metadata": {"name": "db", "labels": {"a": "b"}}, "subsets": [subset]}

        made = await cluster.client.create(places.ENDPOINTS, endpoints, namespace="default")

        def mirrors(items: dict[str, Object]) -> list[Object]:
            return [one for one in items.values() if one["metadata"]["name"].startswith("db-")]

        (mirror,) = mirrors(await cluster.until(places.ENDPOINT_SLICES, mirrors))
        assert [one["addresses"] for one in mirror["endpoints"]] == [["192.0.2.1"]]
        assert [one["port"] for one in mirror["ports"]] == [5432]
        assert mirror["metadata"]["labels"]["a"] == "b"

        def move(obj: Object) -> None:
            obj["subsets"] = [{**subset, "notReadyAddresses": [{"ip": "192.0.2.2"}]}]

        await cluster.client.change(places.ENDPOINTS, made, move)
        items = await cluster.until(places.ENDPOINT_SLICES, lambda items: len(mirrors(items)[0]["endpoints"]) == 2)
        assert mirrors(items)[0]["metadata"]["name"] == mirror["metadata"]["name"]
        assert [one["conditions"]["ready"] for one in mirrors(items)[0]["endpoints"]] == [True, False]

        await cluster.client.delete(places.ENDPOINTS, made)
        await cluster.until(places.ENDPOINT_SLICES, lambda items: not mirrors(items))
