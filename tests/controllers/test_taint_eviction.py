"""Evictions from nodes with NoExecute taints."""

from aio_apiserver.testing import Server
from aio_apiserver.testing.reviews import Review

_PODS = "/api/v1/namespaces/default/pods"
_CONTROLLERS = ("taint-eviction-controller", "serviceaccount-controller")


def test_an_eviction_that_was_refused_is_tried_again_and_not_after_another_toleration() -> None:
    refused: list[str] = []

    def refuse_once(review: Review) -> bool:
        refused.append(review.name)
        return len(refused) > 1

    taint = {"key": "bad", "effect": "NoExecute"}
    tolerations = [{"key": "bad", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}]
    spec = {"nodeName": "n", "containers": [{"name": "a", "image": "b"}], "tolerations": tolerations}
    with Server(controllers=_CONTROLLERS, time="2026-01-01T00:00:00Z") as server, server.client() as client:
        client.request("POST", "/api/v1/nodes", {"metadata": {"name": "n"}, "spec": {"taints": [taint]}})
        client.request("POST", _PODS, {"metadata": {"name": "p"}, "spec": spec})
        with server.webhooks.validating(refuse_once, "pods", operations=("DELETE",)):
            server.clock.advance(301)
            server.settle()

        assert len(refused) == 2
