"""Autoscalers that are deleted while they are looked at, and metrics APIs with answers of any form."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from msgspec import Struct

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.autoscaling import autoscaler_status
from aio_apiserver.controllers.autoscaling import metrics as autoscaling_metrics
from aio_apiserver.controllers.autoscaling.metrics import ScaledPods
from aio_apiserver.controllers.autoscaling.pod_autoscalers import HorizontalPodAutoscalers
from aio_apiserver.controllers.autoscaling.pod_usage import Uncountable
from aio_apiserver.controllers.autoscaling.sources import MetricSources
from aio_apiserver.controllers.runtime import resources as places
from aio_apiserver.controllers.runtime.controller import Desk
from aio_apiserver.controllers.runtime.limits import Limits
from aio_apiserver.registry.base.root_certificates import RootCertificates
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.aggregated import DiscoveredVersion, RemoteAnswer
from tests.controllers import clusters

_PODS = {
    "type": "Pods",
    "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}},
}
_CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1"}}}
_EXTERNAL = {"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}}
_USED = {"metadata": {"name": "a"}, "containers": [{"name": "c", "usage": {"cpu": "1"}}]}


class _Answers(Struct, frozen=True):
    """Aggregated servers that have one answer."""

    body: bytes

    def versions_of(self, _group: str) -> Sequence[str]:
        return ("v1beta1",)

    def discovered(self) -> Sequence[DiscoveredVersion]:
        return ()

    async def ask(
        self, _user: UserInfo, _group: str, _version: str, _path: str, *, method: str = "GET"
    ) -> RemoteAnswer:
        return RemoteAnswer(200, self.body)


def _items(*items: object) -> bytes:
    return orjson.dumps({"items": items})


async def test_an_answer_of_any_form_makes_a_metric_uncountable(tmp_path: Path) -> None:
    bodies = (b"oops", b"[]", b'{"items": "a"}', _items(1), _items({"value": "1"}, {"describedObject": {}}))
    resources = (
        _items({**_USED, "timestamp": "noon", "window": "1s"}),
        _items({**_USED, "timestamp": "2026-01-01T00:00:00Z", "window": "long"}),
        _items({"metadata": {"name": "a"}, "containers": [{"name": "c", "usage": {"cpu": "much"}}]}),
    )
    cases = [(metric, body) for metric in (_PODS, _CPU, _EXTERNAL) for body in bodies if body != bodies[-1]]
    cases += [(_PODS, bodies[-1]), (_EXTERNAL, _items({"value": "much"})), *((_CPU, body) for body in resources)]
    target = ScaledPods("default", "app=web", [], 1, 1, autoscaler_status.tolerances(None), 0.0)

    async with clusters.running(tmp_path) as cluster:
        for metric, body in cases:
            sources = MetricSources(cluster.client, _Answers(body), is_simulated=False)
            with pytest.raises(Uncountable):
                await autoscaling_metrics.proposal(sources, metric, target)


async def test_an_autoscaler_that_is_deleted_during_a_look_is_forgotten(tmp_path: Path) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    clock = ManualClock()

    async with clusters.running(tmp_path) as cluster:
        desk = Desk(
            cluster.client,
            cluster.informers,
            clock,
            Limits(1.0, 0, {}),
            RootCertificates(),
            lambda _request, _usages, _seconds: b"",
            _Answers(b""),
            is_simulated=False,
        )
        looking = HorizontalPodAutoscalers(desk)
        looking.begin()
        await cluster.client.create(places.DEPLOYMENTS, _named(spec), namespace="default")
        scaler = _named({"scaleTargetRef": reference, "maxReplicas": 2})
        scaler = await cluster.client.create(places.AUTOSCALERS, scaler, namespace="default")
        await cluster.until(places.AUTOSCALERS, lambda items: "default/web" in items)
        look = asyncio.ensure_future(looking.reconcile("default/web"))
        await asyncio.sleep(0)  # the controller's rate limit holds the read of the scale
        await cluster.client.delete(places.AUTOSCALERS, scaler)
        await cluster.gone(places.AUTOSCALERS, "default/web")
        clock.advance(10)

        assert await look is None
        assert looking._histories == {}


def _named(spec: Object) -> Object:
    return {"metadata": {"name": "web"}, "spec": spec}
