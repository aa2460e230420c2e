"""Pods without a kubelet or an owner."""

from aio_apiserver.testing import Server

PODS = "/api/v1/namespaces/default/pods"


def test_the_pods_of_a_node_that_is_gone_are_lost_after_a_while() -> None:
    with Server(controllers=("*",), time="2026-01-01T00:00:00Z") as server, server.client() as client:
        client.request("POST", "/api/v1/nodes", {"metadata": {"name": "here"}})
        for name, node in (("stays", "here"), ("lost", "nowhere")):
            spec = {"nodeName": node, "containers": [{"name": "a", "image": "b"}]}
            client.request("POST", PODS, {"metadata": {"name": name}, "spec": spec})
        server.clock.advance(39)
        before = [pod["metadata"]["name"] for pod in client.request("GET", PODS)["items"]]
        server.clock.advance(2)
        after = [pod["metadata"]["name"] for pod in client.request("GET", PODS)["items"]]

    assert (before, after) == (["lost", "stays"], ["stays"])
