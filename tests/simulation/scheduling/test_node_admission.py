"""What a kubelet checks before it starts a pod that no scheduler has placed."""

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.scheduling.node_admission import refusal

_NODE: Object = {
    "metadata": {"name": "n", "labels": {"zone": "a"}},
    "spec": {"taints": [{"key": "broken", "effect": "NoExecute"}]},
    "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "2"}},
}


def _pod(name: str, *, requests: Object | None = None, port: int = 0, selector: Object | None = None) -> Object:
    container: Object = {"name": "a", "resources": {"requests": requests or {}}}
    if port:
        container["ports"] = [{"containerPort": port, "hostPort": port, "protocol": "TCP"}]
    spec = {"containers": [container], "nodeSelector": selector or {}, "tolerations": [{"operator": "Exists"}]}
    return {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec}


@pytest.mark.parametrize(
    ("pod", "reason", "message"),
    [
        (
            _pod("x", requests={"cpu": "1500m"}),
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
        ),
        (
            _pod("x", port=80),
            "NodePorts",
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
        ),
        (
            _pod("x", selector={"zone": "b"}),
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
        ),
        (
            {**_pod("x"), "spec": {"containers": [{"name": "a"}]}},
            "TaintToleration",
            "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
        ),
    ],
)
def test_a_node_refuses_a_pod_in_the_words_of_kubelet(pod: Object, reason: str, message: str) -> None:
    others = [_pod("other", requests={"cpu": "1"}, port=80)]

    assert refusal(pod, _NODE, others) == (reason, message)


def test_a_node_takes_no_more_pods_than_it_says() -> None:
    others = [_pod("a"), _pod("b")]

    assert refusal(_pod("x"), _NODE, others) == (
        "OutOfpods",
        "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2",
    )


def test_a_node_takes_a_pod_that_fits_and_ignores_resources_that_it_does_not_know() -> None:
    assert (
        refusal(_pod("x", requests={"cpu": "1", "example.com/gpu": "1"}, port=81), _NODE, [_pod("o", port=80)]) is None
    )
