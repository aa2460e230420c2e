"""Controllers behind client-side limits and flow control."""

import asyncio
from pathlib import Path

from aio_apiserver.controllers.runtime import resources as places
from tests.controllers import clusters


def _job(parallelism: int) -> dict[str, object]:
    container = {"name": "work", "image": "example.com/work"}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {"metadata": {"name": "large"}, "spec": {"parallelism": parallelism, "template": template}}


async def test_a_controller_asks_under_the_flow_schema_of_its_service_account(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "job-controller", disable_admission_plugins=("ServiceAccount",)) as cluster:
        fairness = cluster.server.parts.limits.fairness
        assert fairness is not None
        accounts = fairness.metrics.of("workload-high", "kube-system-service-accounts")
        elections = fairness.metrics.of("leader-election", "system-leader-election")
        before = accounts.dispatched.value

        await cluster.client.create(places.JOBS, _job(3), namespace="default")
        await cluster.until(places.PODS, lambda items: len(items) == 3)

        assert accounts.dispatched.value - before >= 3
        assert elections.dispatched.value >= 1


async def test_a_controller_makes_no_more_requests_than_its_limit_allows(tmp_path: Path) -> None:
    limits = {"kube_api_qps": 0.001, "kube_api_burst": 7}
    plugins = {"disable_admission_plugins": ("ServiceAccount",)}
    async with clusters.running(tmp_path, "job-controller", **limits, **plugins) as cluster:
        await cluster.client.create(places.JOBS, _job(20), namespace="default")

        made = await cluster.until(places.PODS, lambda items: len(items) >= 3)
        await asyncio.sleep(0)

        assert len(made) <= 7


async def test_a_job_gets_more_pods_than_one_look_makes(tmp_path: Path) -> None:
    plugins = {"disable_admission_plugins": ("ServiceAccount",)}
    async with clusters.running(tmp_path, "job-controller", **plugins) as cluster:
        await cluster.client.create(places.JOBS, _job(600), namespace="default")

        made = await cluster.until(places.PODS, lambda items: len(items) >= 600)

        assert len(made) == 600
