"""metrics.k8s.io of a simulated cluster, in a time that the test moves."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from aio_apiserver.apiserver.testing.client import BlockingClient, Refused
from aio_apiserver.testing import Server

PODS = "/api/v1/namespaces/default/pods"
METRICS = "/apis/metrics.k8s.io/v1beta1"
START = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Server]:
    with Server(time=START, controllers=("*",), simulate=True) as server:
        server.clock.advance(1)
        server.set_baseline()
        yield server


@pytest.fixture
def cluster(shared_cluster: Server) -> Server:
    shared_cluster.reset()
    return shared_cluster


@pytest.fixture
def admin(cluster: Server) -> Iterator[BlockingClient]:
    with cluster.client() as made:
        yield made


def _pod(name: str, used: str, **rules: str) -> dict[str, Any]:
    annotations = {f"simulate.aio-apiserver/{rule}": text for rule, text in {"usage": used, **rules}.items()}
    metadata = {"name": name, "labels": {"app": name}, "annotations": annotations}
    return {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}


@pytest.fixture
def pods(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", PODS, _pod("web", "cpu=250m,memory=64Mi"))
    admin.request("POST", PODS, _pod("db", "cpu=1,memory=1Gi"))
    admin.request("POST", PODS, _pod("late", "cpu=1", phase="Pending"))
    cluster.clock.advance(1)


@pytest.mark.usefixtures("pods")
def test_running_pods_have_metrics(admin: BlockingClient) -> None:
    found = admin.request("GET", f"{METRICS}/pods")

    assert (found["apiVersion"], found["kind"]) == ("metrics.k8s.io/v1beta1", "PodMetricsList")
    assert {one["metadata"]["name"]: one["containers"] for one in found["items"]} == {
        "web": [{"name": "main", "usage": {"cpu": "250m", "memory": "64Mi"}}],
        "db": [{"name": "main", "usage": {"cpu": "1", "memory": "1Gi"}}],
    }


@pytest.mark.usefixtures("pods")
def test_one_pod_is_found_by_name_and_by_label(cluster: Server, admin: BlockingClient) -> None:
    one = admin.request("GET", f"{METRICS}/namespaces/default/pods/web")
    labelled = admin.request("GET", f"{METRICS}/namespaces/default/pods?labelSelector=app%3Dweb")

    assert one["kind"] == "PodMetrics"
    assert (one["timestamp"], one["window"]) == ("2030-01-01T00:00:01Z", "15s")
    assert [item["metadata"]["name"] for item in labelled["items"]] == ["web"]


@pytest.mark.usefixtures("pods")
def test_a_node_uses_what_its_pods_use(admin: BlockingClient) -> None:
    one = admin.request("GET", f"{METRICS}/nodes/node-0")

    assert (one["kind"], one["usage"]) == ("NodeMetrics", {"cpu": "1250m", "memory": "1088Mi"})


def test_metrics_of_missing_objects_are_not_found(admin: BlockingClient) -> None:
    for path in ("nodes/none", "namespaces/default/pods/none"):
        with pytest.raises(Refused, match='"none" not found') as refused:
            admin.request("GET", f"{METRICS}/{path}")
        assert refused.value.status == 404


def test_metrics_are_read_only_and_have_no_watch(admin: BlockingClient) -> None:
    for method, path in (("DELETE", "/nodes/node-0"), ("GET", "/nodes?watch=true")):
        with pytest.raises(Refused) as refused:
            admin.request(method, f"{METRICS}{path}")
        assert refused.value.status == 405


def test_discovery_and_an_api_service_show_the_group(cluster: Server, admin: BlockingClient) -> None:
    cluster.settle()
    version = "v1beta1.metrics.k8s.io"
    service = admin.request("GET", f"/apis/apiregistration.k8s.io/v1/apiservices/{version}")
    resources = admin.request("GET", METRICS)["resources"]

    assert service["status"]["conditions"][0]["status"] == "True"
    assert [(one["name"], one["kind"], one["verbs"]) for one in resources] == [
        ("nodes", "NodeMetrics", ["get", "list"]),
        ("pods", "PodMetrics", ["get", "list"]),
    ]


AUTOSCALERS = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/web"


def _deployment(replicas: int) -> dict[str, Any]:
    labels = {"app": "web"}
    requests = {"requests": {"cpu": "100m"}}
    pod = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "nginx", "resources": requests}]},
    }
    return {
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod},
    }


def _autoscaler(metric: str, **target: Any) -> dict[str, Any]:
    source = {"name": "cpu", "target": target, **({"container": "main"} if metric == "ContainerResource" else {})}
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    metrics = [{"type": metric, metric[0].lower() + metric[1:]: source}]
    return {"metadata": {"name": "web"}, "spec": {"scaleTargetRef": reference, "maxReplicas": 6, "metrics": metrics}}


def _use(admin: BlockingClient, cpu: str) -> None:
    """Let every pod use so much CPU."""
    patch = {"metadata": {"annotations": {"simulate.aio-apiserver/usage": f"cpu={cpu}"}}}
    for pod in admin.request("GET", PODS)["items"]:
        path = f"{PODS}/{pod['metadata']['name']}"
        admin.request("PATCH", path, patch, content_type="application/merge-patch+json")


def _conditions(admin: BlockingClient) -> dict[str, tuple[str, str]]:
    status = admin.request("GET", f"{AUTOSCALERS}/web")["status"]
    return {one["type"]: (one["status"], one["reason"]) for one in status["conditions"]}


def test_an_autoscaler_follows_the_usage_of_pods(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", DEPLOYMENT.rpartition("/")[0], _deployment(2))
    admin.request("POST", AUTOSCALERS, _autoscaler("Resource", type="Utilization", averageUtilization=50))
    cluster.clock.advance(30)
    status = admin.request("GET", f"{AUTOSCALERS}/web")["status"]
    assert status["currentMetrics"][0]["resource"]["current"] == {"averageUtilization": 50, "averageValue": "50m"}
    assert (status["currentReplicas"], status["desiredReplicas"]) == (2, 2)

    _use(admin, "100m")
    cluster.clock.advance(15)
    assert admin.request("GET", DEPLOYMENT)["spec"]["replicas"] == 4
    assert _conditions(admin) == {
        "AbleToScale": ("True", "SucceededRescale"),
        "ScalingActive": ("True", "ValidMetricFound"),
        "ScalingLimited": ("False", "DesiredWithinRange"),
    }
    events = admin.request("GET", "/api/v1/namespaces/default/events?fieldSelector=reason%3DSuccessfulRescale")["items"]
    reason = "cpu resource utilization (percentage of request) above target"
    assert [one["message"] for one in events] == [f"New size: 4; reason: {reason}"]

    _use(admin, "10m")
    cluster.clock.advance(60)
    assert _conditions(admin)["AbleToScale"] == ("True", "ScaleDownStabilized")
    cluster.clock.advance(300)
    assert admin.request("GET", DEPLOYMENT)["spec"]["replicas"] == 1


def test_an_autoscaler_reads_one_container(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", DEPLOYMENT.rpartition("/")[0], _deployment(1))
    admin.request("POST", AUTOSCALERS, _autoscaler("ContainerResource", type="AverageValue", averageValue="10m"))

    cluster.clock.advance(15)

    assert admin.request("GET", DEPLOYMENT)["spec"]["replicas"] == 4
    assert _conditions(admin)["ScalingLimited"] == ("True", "ScaleUpLimit")


def test_an_autoscaler_says_why_it_cannot_scale(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", AUTOSCALERS, _autoscaler("Resource", type="Utilization", averageUtilization=50))

    cluster.clock.advance(15)
    assert _conditions(admin) == {"AbleToScale": ("False", "FailedGetScale")}

    admin.request("POST", DEPLOYMENT.rpartition("/")[0], _deployment(0))
    cluster.clock.advance(15)
    assert _conditions(admin) == {
        "AbleToScale": ("True", "SucceededGetScale"),
        "ScalingActive": ("False", "ScalingDisabled"),
    }
