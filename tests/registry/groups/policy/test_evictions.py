"""Tests evictions of pods that a budget selects."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.controlplane.assembly import assemble, environment_of
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.options import CreateOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Made, Request, UpdatedObject
from aio_apiserver.storage.stored_object import StoredObject
from tests.registry.foundations import foundation

ADMIN = Request(user=UserInfo(name="admin"), version="v1", warn=lambda _warning: None, namespace="default")
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
UNREADY = {"phase": "Running"}


class Cluster:
    """One pod, `p`, and one budget, `b`, that selects it."""

    def __init__(self, groups: Any) -> None:
        self.pods = groups[""]["v1"]
        self.budgets = groups["policy"]["v1"]

    async def begin(self, status: dict[str, Any], budget: dict[str, Any], spec: dict[str, Any]) -> None:
        container = {"name": "c", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}
        template: dict[str, Any] = {"nodeName": "n", "containers": [container], "terminationGracePeriodSeconds": 30}
        template |= {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst"}
        pod = {"metadata": {"name": "p", "labels": {"a": "b"}}, "spec": template}
        await self.pods["pods"].create(ADMIN, pod, CreateOptions())
        await self.report(self.pods["pods/status"], "p", status)
        selected = {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": 1, **spec}
        made = {"metadata": {"name": "b"}, "spec": selected}
        await self.budgets["poddisruptionbudgets"].create(ADMIN, made, CreateOptions())
        await self.report(self.budgets["poddisruptionbudgets/status"], "b", {"observedGeneration": 1, **budget})

    async def report(self, storage: Any, name: str, status: dict[str, Any]) -> None:
        async def make(current: StoredObject | None) -> Made:
            assert current is not None
            obj = current.decode()
            return Made({**obj, "status": {**obj.get("status", {}), **status}})

        await storage.update(ADMIN, name, UpdatedObject(make), UpdateOptions())

    async def evict(self) -> None:
        await self.pods["pods/eviction"].create(ADMIN, {"metadata": {"name": "p"}}, CreateOptions(), name="p")

    async def pod(self) -> dict[str, Any]:
        return dict((await self.pods["pods"].get(ADMIN, "p")).decode())

    async def allowed(self) -> int:
        budget = (await self.budgets["poddisruptionbudgets"].get(ADMIN, "b")).decode()
        return int(budget["status"]["disruptionsAllowed"])


@asynccontextmanager
async def cluster(status: dict[str, Any], budget: dict[str, Any], **spec: Any) -> AsyncIterator[Cluster]:
    config = Config(disabled_admission=("ServiceAccount", "NamespaceLifecycle", "PodSecurity"))
    async with foundation(clock=ManualClock(), config=config) as given:
        made = Cluster(assemble(environment_of(given)))
        await made.begin(status, budget, spec)
        yield made


async def test_a_ready_pod_is_charged_to_its_budget() -> None:
    async with cluster(READY, {"disruptionsAllowed": 1}) as here:
        await here.evict()

        assert await here.allowed() == 0
        pod = await here.pod()
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 30
    assert pod["status"]["conditions"][-1]["type"] == "DisruptionTarget"


async def test_a_ready_pod_stays_where_nothing_is_allowed() -> None:
    async with cluster(READY, {"currentHealthy": 1, "desiredHealthy": 1}) as here:
        with pytest.raises(errors.TooManyRequests):
            await here.evict()

        assert "deletionTimestamp" not in (await here.pod())["metadata"]


@pytest.mark.parametrize(
    ("budget", "spec"),
    [
        ({"currentHealthy": 2, "desiredHealthy": 2}, {}),
        ({"currentHealthy": 0, "desiredHealthy": 2}, {"unhealthyPodEvictionPolicy": "AlwaysAllow"}),
    ],
)
async def test_an_unhealthy_pod_is_evicted_without_a_charge(budget: dict[str, Any], spec: dict[str, Any]) -> None:
    async with cluster(UNREADY, {"disruptionsAllowed": 1, **budget}, **spec) as here:
        await here.evict()

        assert await here.allowed() == 1
        assert "deletionTimestamp" in (await here.pod())["metadata"]


async def test_a_terminated_pod_needs_no_budget() -> None:
    async with cluster({"phase": "Succeeded"}, {}) as here:
        await here.evict()

        with pytest.raises(errors.NotFound):
            await here.pod()
