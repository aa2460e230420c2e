"""HorizontalPodAutoscalers in a simulated cluster, in a time that the test moves."""

import asyncio
import base64
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient
from tests.apiserver.extension_servers import Extension, extension
from tests.storage.kv.certificates import Authority
from tests.testing.bench.simulated_clusters import START

PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/api/v1/namespaces/default/events"
AUTOSCALERS = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/web"
MERGE = "application/merge-patch+json"
METRIC = {"name": "requests", "selector": {"matchLabels": {"verb": "GET"}}}
WEB = {"apiVersion": "v1", "kind": "Service", "name": "web"}


def _deployment(replicas: int, **annotations: str) -> dict[str, Any]:
    labels, resources = {"app": "web"}, {"requests": {"cpu": "100m"}}
    container = {"name": "main", "image": "nginx", "resources": resources}
    stated = {f"simulate.aio-apiserver/{name}": text for name, text in annotations.items()}
    template = {"metadata": {"labels": labels, "annotations": stated}, "spec": {"containers": [container]}}
    return {
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def _deploy(admin: BlockingClient, replicas: int, **annotations: str) -> None:
    admin.request("POST", DEPLOYMENT.rpartition("/")[0], _deployment(replicas, **annotations))


def _scale(admin: BlockingClient, kind: str, source: dict[str, Any], name: str = "web", **target: Any) -> None:
    """Create an autoscaler with one metric."""
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    metrics = [{"type": kind, kind[0].lower() + kind[1:]: {**source, "target": target}}]
    spec = {"scaleTargetRef": reference, "maxReplicas": 6, "metrics": metrics}
    admin.request("POST", AUTOSCALERS, {"metadata": {"name": name}, "spec": spec})


def _annotate(admin: BlockingClient, path: str, **stated: str) -> None:
    annotations = {f"simulate.aio-apiserver/{name.replace('_', '-')}": text for name, text in stated.items()}
    admin.request("PATCH", path, {"metadata": {"annotations": annotations}}, content_type=MERGE)


def _use(admin: BlockingClient, cpu: str) -> None:
    """Let every pod use so much CPU."""
    for pod in admin.request("GET", PODS)["items"]:
        _annotate(admin, f"{PODS}/{pod['metadata']['name']}", usage=f"cpu={cpu}")


def _status(admin: BlockingClient) -> dict[str, Any]:
    found: dict[str, Any] = admin.request("GET", f"{AUTOSCALERS}/web")["status"]
    return found


def _conditions(admin: BlockingClient) -> dict[str, tuple[str, str]]:
    return {one["type"]: (one["status"], one["reason"]) for one in _status(admin)["conditions"]}


def _message(admin: BlockingClient, kind: str) -> str:
    return str(next(one["message"] for one in _status(admin)["conditions"] if one["type"] == kind))


def _replicas(admin: BlockingClient) -> int:
    return int(admin.request("GET", DEPLOYMENT)["spec"]["replicas"])


def _events(cluster: Server, admin: BlockingClient, reason: str) -> list[str]:
    cluster.settle()
    return [one["message"] for one in admin.request("GET", f"{EVENTS}?fieldSelector=reason%3D{reason}")["items"]]


def test_an_autoscaler_follows_the_usage_of_pods(cluster: Server, admin: BlockingClient) -> None:
    _deploy(admin, 2)
    _scale(admin, "Resource", {"name": "cpu"}, type="Utilization", averageUtilization=50)
    cluster.clock.advance(30)
    status = _status(admin)
    assert status["currentMetrics"][0]["resource"]["current"] == {"averageUtilization": 50, "averageValue": "50m"}
    assert (status["currentReplicas"], status["desiredReplicas"]) == (2, 2)

    _use(admin, "100m")
    cluster.clock.advance(15)
    assert _replicas(admin) == 4
    assert _conditions(admin) == {
        "AbleToScale": ("True", "SucceededRescale"),
        "ScalingActive": ("True", "ValidMetricFound"),
        "ScalingLimited": ("False", "DesiredWithinRange"),
    }
    reason = "cpu resource utilization (percentage of request) above target"
    assert _events(cluster, admin, "SuccessfulRescale") == [f"New size: 4; reason: {reason}"]

    _use(admin, "10m")
    cluster.clock.advance(60)
    assert _conditions(admin)["AbleToScale"] == ("True", "ScaleDownStabilized")
    cluster.clock.advance(300)
    assert _replicas(admin) == 1


def test_an_autoscaler_reads_one_container(cluster: Server, admin: BlockingClient) -> None:
    _deploy(admin, 1)
    _scale(admin, "ContainerResource", {"name": "cpu", "container": "main"}, type="AverageValue", averageValue="10m")

    cluster.clock.advance(15)

    assert _replicas(admin) == 4
    assert _conditions(admin)["ScalingLimited"] == ("True", "ScaleUpLimit")


def test_an_autoscaler_says_why_it_cannot_scale(cluster: Server, admin: BlockingClient) -> None:
    _scale(admin, "Resource", {"name": "cpu"}, type="Utilization", averageUtilization=50)

    cluster.clock.advance(15)
    assert _conditions(admin) == {"AbleToScale": ("False", "FailedGetScale")}

    _deploy(admin, 0)
    cluster.clock.advance(15)
    assert _conditions(admin) == {
        "AbleToScale": ("True", "SucceededGetScale"),
        "ScalingActive": ("False", "ScalingDisabled"),
    }


def test_an_autoscaler_reads_the_utilization_of_one_container(cluster: Server, admin: BlockingClient) -> None:
    _deploy(admin, 2, usage="cpu=75m")
    source = {"name": "cpu", "container": "main"}
    _scale(admin, "ContainerResource", source, type="Utilization", averageUtilization=50)

    cluster.clock.advance(15)

    reason = "cpu container resource utilization (percentage of request) above target"
    assert _events(cluster, admin, "SuccessfulRescale") == [f"New size: 3; reason: {reason}"]
    current = {"averageUtilization": 75, "averageValue": "75m"}
    assert _status(admin)["currentMetrics"][0]["containerResource"] == {**source, "current": current}


@pytest.mark.parametrize(
    ("kind", "source", "target", "replicas", "reason", "current"),
    [
        ("Pods", {"metric": METRIC}, {"averageValue": "10"}, 4, "pods metric requests", {"averageValue": "20"}),
        (
            "Object",
            {"metric": METRIC, "describedObject": WEB},
            {"type": "Value", "value": "20"},
            3,
            "Service metric requests",
            {"value": "30"},
        ),
        (
            "Object",
            {"metric": {"name": "requests"}, "describedObject": WEB},
            {"averageValue": "10"},
            3,
            "external metric requests(nil)",
            {"averageValue": "15"},
        ),
        (
            "External",
            {"metric": {"name": "jobs"}},
            {"type": "Value", "value": "1"},
            3,
            "external metric jobs(nil)",
            {"value": "1500m"},
        ),
        (
            "External",
            {"metric": {**METRIC, "name": "jobs"}},
            {"averageValue": "400m"},
            4,
            "external metric jobs(&LabelSelector{MatchLabels:map[string]string{verb: GET,},"
            "MatchExpressions:[]LabelSelectorRequirement{},})",
            {"averageValue": "750m"},
        ),
    ],
)
def test_annotations_state_metrics(
    cluster: Server,
    admin: BlockingClient,
    kind: str,
    source: dict[str, Any],
    target: dict[str, Any],
    replicas: int,
    reason: str,
    current: dict[str, str],
) -> None:
    _annotate(admin, "/api/v1/namespaces/default", external_metrics="jobs=1500m")
    service = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
    admin.request("POST", "/api/v1/namespaces/default/services", service)
    _annotate(admin, "/api/v1/namespaces/default/services/web", metrics="requests=30,errors=1")
    _deploy(admin, 2, metrics="requests=20")
    _scale(admin, kind, source, **{"type": "AverageValue", **target})

    cluster.clock.advance(15)

    assert _events(cluster, admin, "SuccessfulRescale") == [f"New size: {replicas}; reason: {reason} above target"]
    assert _status(admin)["currentMetrics"] == [{"type": kind, kind.lower(): {**source, "current": current}}]


_NO_CUSTOM = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
_NO_EXTERNAL = (
    "unable to fetch metrics from external metrics API: "
    "the server could not find the requested resource (get jobs.external.metrics.k8s.io)"
)


@pytest.mark.parametrize(
    ("kind", "source", "target", "error", "failed"),
    [
        (
            "Pods",
            {"metric": METRIC},
            {"averageValue": "10"},
            f"unable to get metric requests: {_NO_CUSTOM}",
            "failed to get pods metric value: ",
        ),
        (
            "Object",
            {"metric": METRIC, "describedObject": WEB},
            {"type": "Value", "value": "20"},
            f"unable to get metric requests: Service on default web/{_NO_CUSTOM}",
            "failed to get object metric value: ",
        ),
        (
            "Object",
            {"metric": METRIC, "describedObject": WEB},
            {"averageValue": "20"},
            f"unable to get metric requests: Service on default web/{_NO_CUSTOM}",
            "failed to get object metric value: failed to get requests object metric: ",
        ),
        (
            "External",
            {"metric": {"name": "jobs"}},
            {"averageValue": "1"},
            f"unable to get external metric default/jobs/nil: {_NO_EXTERNAL}",
            "failed to get jobs external metric value: failed to get jobs external metric: ",
        ),
        (
            "External",
            {"metric": {"name": "jobs"}},
            {"type": "Value", "value": "1"},
            f"unable to get external metric default/jobs/nil: {_NO_EXTERNAL}",
            "failed to get jobs external metric value: failed to get external metric jobs: ",
        ),
    ],
)
def test_an_autoscaler_says_which_metrics_api_is_missing(
    cluster: Server,
    admin: BlockingClient,
    kind: str,
    source: dict[str, Any],
    target: dict[str, Any],
    error: str,
    failed: str,
) -> None:
    _deploy(admin, 2)
    _scale(admin, kind, source, **{"type": "AverageValue", **target})

    cluster.clock.advance(15)

    assert _conditions(admin)["ScalingActive"] == ("False", f"FailedGet{kind}Metric")
    assert _message(admin, "ScalingActive") == f"the HPA was unable to compute the replica count: {error}"
    assert _events(cluster, admin, f"FailedGet{kind}Metric") == [error]
    first = f"invalid metrics (1 invalid out of 1), first error is: {failed}{error}"
    assert _events(cluster, admin, "FailedComputeMetricsReplicas") == [first]


def test_an_autoscaler_names_a_metric_that_no_annotation_states(cluster: Server, admin: BlockingClient) -> None:
    _deploy(admin, 1, metrics="requets=1")
    _scale(admin, "Pods", {"metric": METRIC}, type="AverageValue", averageValue="10")

    cluster.clock.advance(15)

    assert _message(admin, "ScalingActive").endswith("the server could not find the metric requests for pods")


def test_two_autoscalers_of_one_target_do_not_scale_it(cluster: Server, admin: BlockingClient) -> None:
    _deploy(admin, 1, usage="cpu=1")
    for name in ("web", "other"):
        _scale(admin, "Resource", {"name": "cpu"}, name, type="Utilization", averageUtilization=50)

    cluster.clock.advance(30)

    why = "pods by selector app=web are controlled by multiple HPAs: [{default other} {default web}]"
    assert _conditions(admin)["ScalingActive"] == ("False", "AmbiguousSelector")
    assert _message(admin, "ScalingActive") == why
    assert set(_events(cluster, admin, "AmbiguousSelector")) == {why}


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FARMS = "/apis/example.com/v1/namespaces/default/farms"


def _farm(cluster: Server, admin: BlockingClient, **status: str) -> None:
    """A custom resource with a scale, and an autoscaler of it."""
    integer, text = {"type": "integer", "maximum": 3}, {"type": "string"}
    properties = {
        "spec": {"type": "object", "properties": {"size": integer}},
        "status": {"type": "object", "properties": {"size": {"type": "integer"}, "selector": text}},
    }
    scale = {
        "specReplicasPath": ".spec.size",
        "statusReplicasPath": ".status.size",
        "labelSelectorPath": ".status.selector",
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
        "subresources": {"scale": scale},
    }
    names = {"plural": "farms", "kind": "Farm"}
    spec = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]}
    admin.request("POST", DEFINITIONS, {"metadata": {"name": "farms.example.com"}, "spec": spec})
    cluster.settle()
    farm = {"apiVersion": "example.com/v1", "kind": "Farm", "metadata": {"name": "web"}}
    admin.request("POST", FARMS, {**farm, "spec": {"size": 2}, "status": status})
    reference = {"apiVersion": "example.com/v1", "kind": "Farm", "name": "web"}
    source = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    wanted = {"scaleTargetRef": reference, "maxReplicas": 6, "metrics": [{"type": "Resource", "resource": source}]}
    admin.request("POST", AUTOSCALERS, {"metadata": {"name": "web"}, "spec": wanted})


def test_a_target_without_a_selector_is_not_scaled(cluster: Server, admin: BlockingClient) -> None:
    _farm(cluster, admin)

    cluster.clock.advance(15)

    assert _conditions(admin)["ScalingActive"] == ("False", "InvalidSelector")
    assert _message(admin, "ScalingActive") == "the HPA target's scale is missing a selector"
    assert _events(cluster, admin, "SelectorRequired") == ["selector is required"]


def test_a_target_with_a_wrong_selector_is_not_scaled(cluster: Server, admin: BlockingClient) -> None:
    _farm(cluster, admin, selector="a in b")

    cluster.clock.advance(15)

    assert _conditions(admin)["ScalingActive"] == ("False", "InvalidSelector")
    begin = "couldn't convert selector into a corresponding internal selector object: unable to parse requirement"
    assert _message(admin, "ScalingActive").startswith(begin)


def test_a_refused_scale_is_reported(cluster: Server, admin: BlockingClient) -> None:
    _deploy(admin, 2, usage="cpu=1")
    _farm(cluster, admin, selector="app=web")

    cluster.clock.advance(15)

    assert _conditions(admin)["AbleToScale"] == ("False", "FailedUpdateScale")
    (event,) = _events(cluster, admin, "FailedRescale")
    assert event.startswith(
        "New size: 4; reason: cpu resource utilization (percentage of request) above target; error: "
    )
    assert _message(admin, "AbleToScale") == (
        f"the HPA controller was unable to update the target scale: {event.partition('error: ')[2]}"
    )


@contextmanager
def _metrics_server(authority: Authority, documents: dict[str, Any]) -> Iterator[Extension]:
    """An aggregated server in a thread of its own. Its clients have to stop first."""
    found, is_done = queue.SimpleQueue[tuple[Extension, asyncio.AbstractEventLoop]](), asyncio.Event()

    async def serve() -> None:
        async with extension(authority, is_modern=False, documents=documents) as one:
            found.put((one, asyncio.get_running_loop()))
            await is_done.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    one, loop = found.get()
    try:
        yield one
    finally:
        loop.call_soon_threadsafe(is_done.set)
        thread.join()


CUSTOM, EXTERNAL = "custom.metrics.k8s.io/v1beta2", "external.metrics.k8s.io/v1beta1"


def _register(cluster: Server, admin: BlockingClient, authority: Authority, port: int, group_version: str) -> None:
    group, version = group_version.split("/")
    spec = {
        "group": group,
        "version": version,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "caBundle": base64.b64encode(authority.file.read_bytes()).decode(),
        "service": {"namespace": "default", "name": "hello", "port": port},
    }
    name = f"{version}.{group}"
    admin.request("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {"metadata": {"name": name}, "spec": spec})
    cluster.wait_for("apiservices.apiregistration.k8s.io", name, _passes)


def _passes(service: Any) -> bool:
    return bool(service["status"]["conditions"][0]["reason"] == "Passed")


def test_aggregated_servers_answer_for_metrics(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pods, jobs = f"/apis/{CUSTOM}/namespaces/default/pods/*/requests", f"/apis/{EXTERNAL}/namespaces/default/jobs"
    documents: dict[str, Any] = {
        f"/apis/{CUSTOM}": {"kind": "APIResourceList", "groupVersion": CUSTOM, "resources": []},
        f"/apis/{EXTERNAL}": {"kind": "APIResourceList", "groupVersion": EXTERNAL, "resources": []},
        jobs: {"items": [{"metricName": "jobs", "value": "2"}, {"metricName": "jobs", "value": "3"}]},
    }
    service = {"metadata": {"name": "hello"}, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    external = {"metric": {**METRIC, "name": "jobs"}, "target": {"type": "Value", "value": "2"}}
    both = [{"op": "add", "path": "/spec/metrics/-", "value": {"type": "External", "external": external}}]

    with (
        _metrics_server(authority, documents) as served,
        Server(time=START, controllers=("*",), simulate=True) as cluster,
        cluster.client() as admin,
    ):
        cluster.clock.advance(1)
        admin.request("POST", "/api/v1/namespaces/default/services", service)
        _deploy(admin, 2, metrics="requests=1000")
        cluster.settle()
        names = [one["metadata"]["name"] for one in admin.request("GET", PODS)["items"]]
        documents[pods] = {"items": [{"describedObject": {"name": name}, "value": "15"} for name in names]}
        for group_version in (CUSTOM, EXTERNAL):
            _register(cluster, admin, authority, served.port, group_version)
        _scale(admin, "Pods", {"metric": METRIC}, type="AverageValue", averageValue="10")
        admin.request("PATCH", f"{AUTOSCALERS}/web", both, content_type="application/json-patch+json")

        cluster.clock.advance(15)

        assert _replicas(admin) == 4
    assert [target for target in served.targets if "?" in target] == [
        f"{pods.replace('*', '%2A')}?labelSelector=app%3Dweb&metricLabelSelector=verb%3DGET",
        f"{jobs}?labelSelector=verb%3DGET",
    ]
    assert served.headers(pods)["x-remote-user"] == ["system:serviceaccount:kube-system:horizontal-pod-autoscaler"]
