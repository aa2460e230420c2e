"""Deployments with the strategy Recreate."""

from typing import Any

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

_DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
_PODS = "/api/v1/namespaces/default/pods"
_MERGE = "application/merge-patch+json"
_CONTROLLERS = ("deployment-controller", "replicaset-controller", "serviceaccount-controller")


def _images(client: BlockingClient) -> list[str]:
    return [pod["spec"]["containers"][0]["image"] for pod in client.request("GET", _PODS)["items"]]


def test_new_pods_are_made_as_soon_as_the_last_old_one_is_gone_and_nothing_is_tried_until_then() -> None:
    template: dict[str, Any] = {
        "metadata": {"labels": {"app": "web"}, "finalizers": ["example.com/hold"]},
        "spec": {"containers": [{"name": "main", "image": "old"}]},
    }
    spec = {"selector": {"matchLabels": {"app": "web"}}, "strategy": {"type": "Recreate"}, "template": template}
    with Server(controllers=_CONTROLLERS) as server, server.client() as client:
        client.request("POST", _DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": spec})
        server.settle()
        (pod,) = client.request("GET", _PODS)["items"]
        new = {"spec": {"containers": [{"name": "main", "image": "new"}]}}

        client.request("PATCH", f"{_DEPLOYMENTS}/web", {"spec": {"template": new}}, content_type=_MERGE)
        server.settle()  # a controller that tries again and again does not settle
        assert _images(client) == ["old"]

        name = pod["metadata"]["name"]
        client.request("PATCH", f"{_PODS}/{name}", {"metadata": {"finalizers": None}}, content_type=_MERGE)
        server.settle()
        assert _images(client) == ["new"]
