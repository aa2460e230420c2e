from typing import Any

import pytest

from aio_apiserver.registry.generic.access.authorizer import ALLOWED, NO_OPINION, Attributes, Decision, Selectors
from aio_apiserver.registry.generic.access.users import NODES, UserInfo
from aio_apiserver.registry.plugins.authorization.node_graph import NodeGraph, Vertex, reach_of_pod, reach_of_volume
from aio_apiserver.registry.plugins.authorization.node_rules import BY_RESOURCE

KUBELET = UserInfo(name="system:node:n1", groups=(NODES,))

POD: dict[str, Any] = {
    "metadata": {"name": "web", "namespace": "ns"},
    "spec": {
        "nodeName": "n1",
        "serviceAccountName": "bot",
        "containers": [{"name": "c", "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings"}}}]}],
        "volumes": [
            {"name": "s", "secret": {"secretName": "key"}},
            {"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "e", "ephemeral": {}},
        ],
    },
}
VOLUME: dict[str, Any] = {
    "metadata": {"name": "disk"},
    "spec": {
        "claimRef": {"namespace": "ns", "name": "data"},
        "csi": {"nodeStageSecretRef": {"name": "unlock", "namespace": "storage"}},
    },
}
SEEN = [
    Vertex("pods", "ns", "web"),
    Vertex("serviceaccounts", "ns", "bot"),
    Vertex("configmaps", "ns", "settings"),
    Vertex("secrets", "ns", "key"),
    Vertex("persistentvolumeclaims", "ns", "data"),
    Vertex("persistentvolumeclaims", "ns", "web-e"),
    Vertex("persistentvolumes", "", "disk"),
    Vertex("secrets", "storage", "unlock"),
]


def graph() -> NodeGraph:
    made = NodeGraph()
    made.put(Vertex("persistentvolumes", "", "disk"), reach_of_volume(VOLUME))
    made.put(Vertex("pods", "ns", "web"), reach_of_pod(POD))
    return made


@pytest.mark.parametrize("wanted", SEEN)
def test_a_node_sees_what_its_pods_refer_to(wanted: Vertex) -> None:
    assert graph().sees("n1", wanted)
    assert not graph().sees("n2", wanted)
    assert not graph().sees("n1", wanted._replace(namespace="other"))


@pytest.mark.parametrize("wanted", SEEN)
def test_a_node_sees_nothing_of_pods_that_are_gone(wanted: Vertex) -> None:
    left = graph()

    left.put(Vertex("pods", "ns", "web"), None)

    assert not left.sees("n1", wanted)


def test_a_mirror_pod_shows_nothing_but_itself() -> None:
    mirror = {**POD, "metadata": {**POD["metadata"], "annotations": {"kubernetes.io/config.mirror": "x"}}}
    made = NodeGraph()

    made.put(Vertex("pods", "ns", "web"), reach_of_pod(mirror))

    assert made.sees("n1", Vertex("pods", "ns", "web"))
    assert not made.sees("n1", Vertex("secrets", "ns", "key"))


def asked(text: str, *, namespace: str = "", name: str = "", selector: str = "") -> Attributes:
    verb, _, resource = text.partition(" ")
    resource, _, subresource = resource.partition("/")
    group = {"leases": "coordination.k8s.io", "csinodes": "storage.k8s.io"}.get(resource, "")
    selectors = Selectors(selector)
    return Attributes(
        KUBELET, verb, group, "v1", resource, subresource, namespace=namespace, name=name, selectors=selectors
    )


@pytest.mark.parametrize(
    "question",
    [
        asked("get nodes", name="n1"),
        asked("patch nodes/status", name="n1"),
        asked("list pods", selector="spec.nodeName=n1"),
        asked("create pods/eviction", namespace="ns", name="web"),
        asked("update leases", namespace="kube-node-lease", name="n1"),
        asked("get csinodes", name="n1"),
    ],
)
def test_a_node_may_do_what_is_its_own(question: Attributes) -> None:
    assert BY_RESOURCE[question.group, question.resource](related_to_nothing, "n1", question) is ALLOWED


@pytest.mark.parametrize(
    "question",
    [
        asked("get nodes", name="n2"),
        asked("list nodes"),
        asked("delete nodes", name="n1"),
        asked("list pods"),
        asked("list pods", selector="spec.nodeName=n2"),
        asked("list pods", selector="spec.nodeName!=n1"),
        asked("update secrets", namespace="ns", name="key"),
        asked("list secrets"),
        asked("get serviceaccounts/token", namespace="ns", name="bot"),
        asked("update leases", namespace="kube-node-lease", name="n2"),
        asked("get leases", namespace="kube-system", name="n1"),
        asked("get secrets", namespace="ns", name="key"),
    ],
)
def test_a_node_may_do_nothing_to_others(question: Attributes) -> None:
    assert not BY_RESOURCE[question.group, question.resource](related_to_nothing, "n1", question).is_allowed


def related_to_nothing(_node: str, _asked: Attributes) -> Decision:
    return NO_OPINION
