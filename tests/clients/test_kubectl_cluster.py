"""kubectl in a cluster whose controllers, scheduler and pods are the server's own."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import program
from tests.clients.test_kubectl import _PROGRAM, Kubectl

pytestmark = pytest.mark.skipif(_PROGRAM is None, reason="there is no kubectl on this machine")

_WAIT = "--timeout=60s"
_POLL_SECONDS = 0.02
_DEADLINE_SECONDS = 60


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("cluster")
    flags = ("--bind-address=127.0.0.1", "--storage-backend=memory", "--controllers=*", "--simulate")
    with program.running(directory, *flags) as running:
        yield running.kubeconfig


@pytest.fixture
def kubectl(cluster: Path, request: pytest.FixtureRequest) -> Iterator[Kubectl]:
    """In a namespace of the test, which is deleted behind it."""
    name = request.node.name.replace("_", "-")[:60].rstrip("-")
    environment = {"PATH": os.environ["PATH"], "HOME": str(cluster.parent), "KUBECONFIG": str(cluster)}
    run = Kubectl(name, environment)
    run("create", "namespace", name)
    yield run
    run("delete", "namespace", name, "--wait=false")


def _until(is_so: Callable[[], Any]) -> None:
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(_POLL_SECONDS)


def _names(kubectl: Kubectl, *arguments: str) -> list[str]:
    return kubectl("get", *arguments, "-o", "name").split()


def test_a_deployment_is_rolled_out(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=3")

    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/web", _WAIT)

    assert "3/3" in kubectl("get", "deployment", "web")
    pods = kubectl.json("get", "pods")["items"]
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert len({pod["status"]["podIP"] for pod in pods}) == 3
    assert {pod["spec"]["nodeName"] for pod in pods} == {"node-0"}


def test_a_deployment_is_updated_and_undone(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx:1", "--replicas=2")
    kubectl("rollout", "status", "deployment/web", _WAIT)

    kubectl("set", "image", "deployment/web", "nginx=nginx:2")
    kubectl("rollout", "status", "deployment/web", _WAIT)
    kubectl("rollout", "undo", "deployment/web")
    kubectl("rollout", "status", "deployment/web", _WAIT)

    history = kubectl("rollout", "history", "deployment/web").split()
    images = kubectl(
        "get", "pods", "-o", "jsonpath={.items[*].spec.containers[*].image}", "--field-selector=status.phase=Running"
    )
    assert {"2", "3"} <= set(history)
    assert "1" not in history
    assert set(images.split()) == {"nginx:1"}


def test_a_deployment_is_scaled(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=1")

    kubectl("scale", "deployment", "web", "--replicas=4")
    kubectl("rollout", "status", "deployment/web", _WAIT)
    assert len(_names(kubectl, "pods")) == 4

    kubectl("scale", "deployment", "web", "--replicas=0")
    _until(lambda: not _names(kubectl, "pods"))


def test_a_deployment_goes_with_its_pods(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2")
    kubectl("rollout", "status", "deployment/web", _WAIT)

    kubectl("delete", "deployment", "web", "--cascade=foreground", _WAIT)

    assert _names(kubectl, "deployments,replicasets") == []
    _until(lambda: not _names(kubectl, "pods"))


def test_a_deployment_may_leave_its_pods_behind(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2")
    kubectl("rollout", "status", "deployment/web", _WAIT)

    kubectl("delete", "deployment", "web", "--cascade=orphan", _WAIT)

    (left,) = kubectl.json("get", "replicasets")["items"]
    assert "ownerReferences" not in left["metadata"]
    assert len(_names(kubectl, "pods")) == 2


def test_a_job_runs_to_its_end(kubectl: Kubectl) -> None:
    kubectl("create", "job", "hello", "--image=busybox", "--", "echo", "hello")

    kubectl("wait", "--for=condition=complete", "job/hello", _WAIT)

    (pod,) = kubectl.json("get", "pods")["items"]
    assert pod["status"]["phase"] == "Succeeded"
    assert "finalizers" not in pod["metadata"]


def test_a_job_fails_with_its_pods(kubectl: Kubectl) -> None:
    job = json.loads(kubectl("create", "job", "bad", "--image=busybox", "--dry-run=client", "-o", "json"))
    job["spec"]["backoffLimit"] = 0
    job["spec"]["template"]["metadata"] = {"annotations": {"simulate.aio-apiserver/phase": "Failed"}}

    kubectl("create", "-f", "-", given=job)

    kubectl("wait", "--for=condition=failed", "job/bad", _WAIT)
    assert kubectl.json("get", "job", "bad")["status"]["failed"] == 1


def test_a_service_finds_its_pods(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2")
    kubectl("expose", "deployment", "web", "--port=80")
    kubectl("rollout", "status", "deployment/web", _WAIT)

    addresses = set(kubectl("get", "pods", "-o", "jsonpath={.items[*].status.podIP}").split())
    found = ("endpointslices", "-l", "kubernetes.io/service-name=web", "-o")
    ready = "jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].addresses[0]}"

    _until(lambda: set(kubectl("get", *found, ready).split()) == addresses)


def test_a_stateful_set_has_pods_with_names(kubectl: Kubectl) -> None:
    labels = {"app": "db"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
    spec = {"replicas": 2, "serviceName": "db", "selector": {"matchLabels": labels}, "template": pod}
    kubectl(
        "create",
        "-f",
        "-",
        given={"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec},
    )

    kubectl("rollout", "status", "statefulset/db", _WAIT)

    assert _names(kubectl, "pods") == ["pod/db-0", "pod/db-1"]


def test_a_namespace_goes_with_everything(kubectl: Kubectl) -> None:
    name = f"{kubectl.namespace}-2"
    kubectl("create", "namespace", name)
    kubectl("--namespace", name, "create", "deployment", "web", "--image=nginx", "--replicas=2")
    kubectl("--namespace", name, "rollout", "status", "deployment/web", _WAIT)

    kubectl("delete", "namespace", name, _WAIT)

    assert "NotFound" in kubectl.run("get", "namespace", name).stderr
    assert kubectl("--namespace", name, "get", "all", "-o", "name") == ""


def test_top_shows_what_nodes_and_pods_use(kubectl: Kubectl) -> None:
    usage = "--annotations=simulate.aio-apiserver/usage=cpu=250m,memory=64Mi"
    kubectl("run", "web", "--image=nginx", usage)
    kubectl("wait", "pod/web", "--for=condition=Ready", _WAIT)

    assert kubectl("top", "pods", "--no-headers").split() == ["web", "250m", "64Mi"]
    assert "node-0" in kubectl("top", "nodes", "--no-headers")
    assert kubectl("top", "pods", "--containers", "--no-headers").split() == ["web", "web", "250m", "64Mi"]
