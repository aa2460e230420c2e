"""Nodes that fail, are cordoned and drained, as annotations say."""

from typing import Any

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

API, PHASE = "/api/v1", "simulate.aio-apiserver/phase"
PODS = f"{API}/namespaces/default/pods"
CLUSTER = {"controllers": ("*",), "simulate_nodes": 2}


def _set_phase(server: Server, client: BlockingClient, phase: str | None, seconds: float = 1) -> None:
    body = {"metadata": {"annotations": {PHASE: phase}}}
    client.request("PATCH", f"{API}/nodes/node-0", body, content_type="application/merge-patch+json")
    server.clock.advance(seconds)


def _pod(client: BlockingClient, name: str, **spec: Any) -> None:
    spec = {"nodeSelector": {"kubernetes.io/hostname": "node-0"}, "containers": [{"name": "a", "image": "b"}], **spec}
    client.request("POST", PODS, {"metadata": {"name": name}, "spec": spec})


def _node(client: BlockingClient) -> tuple[str, list[str]]:
    """The status of the condition Ready, and the taints."""
    node = client.request("GET", f"{API}/nodes/node-0")
    ready = next(one["status"] for one in node["status"]["conditions"] if one["type"] == "Ready")
    taints = [f"{one['key'].rpartition('/')[2]}:{one['effect']}" for one in node["spec"].get("taints", [])]
    return ready, sorted(taints)


def _is_ready(client: BlockingClient, name: str) -> bool:
    conditions = client.request("GET", f"{PODS}/{name}")["status"]["conditions"]
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _names(client: BlockingClient) -> list[str]:
    return [one["metadata"]["name"] for one in client.request("GET", PODS)["items"]]


def test_a_node_that_is_not_ready_is_tainted_and_its_pods_leave_after_their_toleration(
    server: Server, client: BlockingClient
) -> None:
    forever = [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}]
    short = [{**forever[0], "tolerationSeconds": 20}]
    _pod(client, "usual", terminationGracePeriodSeconds=0)
    _pod(client, "short", tolerations=short, terminationGracePeriodSeconds=0)
    _pod(client, "stays", tolerations=forever)
    server.clock.advance(1)
    assert _is_ready(client, "usual")

    _set_phase(server, client, "NotReady")
    assert _node(client) == ("False", ["not-ready:NoExecute", "not-ready:NoSchedule"])
    assert not _is_ready(client, "stays")

    server.clock.advance(21)
    assert _names(client) == ["stays", "usual"]

    _set_phase(server, client, None)
    assert _node(client) == ("True", [])
    assert _is_ready(client, "usual")
    assert _is_ready(client, "stays")


def test_a_silent_node_is_lost_after_the_grace_period_and_keeps_its_pods_terminating(
    server: Server, client: BlockingClient
) -> None:
    _pod(client, "a", tolerations=[{"key": "node.kubernetes.io/unreachable", "operator": "Exists"}])
    server.clock.advance(1)

    _set_phase(server, client, "Unreachable", 30)
    assert _node(client)[0] == "True"
    server.clock.advance(30)
    assert _node(client) == ("Unknown", ["unreachable:NoExecute", "unreachable:NoSchedule"])

    client.request("DELETE", f"{PODS}/a")
    server.clock.advance(60)
    assert _names(client) == ["a"]

    _set_phase(server, client, "Ready")
    assert _node(client) == ("True", [])
    assert _names(client) == []


def test_a_node_is_drained_within_the_disruption_budget(server: Server, client: BlockingClient) -> None:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    client.request(
        "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {"metadata": {"name": "web"}, "spec": spec}
    )
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
    template["spec"]["terminationGracePeriodSeconds"] = 0  # type: ignore[index]
    workload = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    client.request(
        "POST", "/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "web"}, "spec": workload}
    )
    server.clock.advance(1)

    _set_phase(server, client, "Drained", 30)

    nodes = {one["spec"]["nodeName"] for one in client.request("GET", PODS)["items"]}
    assert (nodes, len(_names(client))) == ({"node-1"}, 3)
    assert _node(client) == ("True", ["unschedulable:NoSchedule"])
    _set_phase(server, client, None)
    assert _node(client) == ("True", [])


def test_a_node_that_a_user_makes_is_simulated_and_keeps_its_capacity(server: Server, client: BlockingClient) -> None:
    metadata = {"name": "gpu", "annotations": {"simulate.aio-apiserver/node": "true"}}
    client.request(
        "POST", f"{API}/nodes", {"metadata": metadata, "status": {"capacity": {"example.com/gpu": "4", "pods": "10"}}}
    )
    server.clock.advance(1)

    status = client.request("GET", f"{API}/nodes/gpu")["status"]
    assert status["allocatable"] == {"example.com/gpu": "4", "pods": "10"}
    assert [one["status"] for one in status["conditions"] if one["type"] == "Ready"] == ["True"]
    client.request("DELETE", f"{API}/nodes/gpu")
    server.clock.advance(60)
    assert [one["metadata"]["name"] for one in client.request("GET", f"{API}/nodes")["items"]] == ["node-0", "node-1"]
