"""metrics.k8s.io of a simulated cluster, in a time that the test moves."""

from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient, Refused

PODS = "/api/v1/namespaces/default/pods"
METRICS = "/apis/metrics.k8s.io/v1beta1"


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


@pytest.mark.usefixtures("pods")
def test_users_with_the_role_view_read_metrics(cluster: Server, admin: BlockingClient) -> None:
    binding = {
        "metadata": {"name": "eve"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"}],
    }
    admin.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
    cluster.settle()

    with cluster.user("eve").client() as eve:
        assert len(eve.request("GET", f"{METRICS}/namespaces/default/pods")["items"]) == 2
        assert len(eve.request("GET", f"{METRICS}/nodes")["items"]) == 1


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
