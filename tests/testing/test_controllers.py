"""Servers with controllers: their objects belong to the states that tests return to."""

from collections.abc import Iterator
from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient
from tests.testing.objects import names

PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


def deployment(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    spec = {"containers": [{"name": "web", "image": "nginx"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def ready(client: BlockingClient, name: str) -> int:
    return int(client.request("GET", f"{DEPLOYMENTS}/{name}")["status"].get("readyReplicas", 0))


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with Server(controllers=("*",), simulate=True, manifests=[deployment("web", 2)]) as server:
        yield server


def test_what_controllers_make_of_the_manifests_is_there_from_the_start(client: BlockingClient) -> None:
    assert names(client, ACCOUNTS) == ["default"]
    assert len(names(client, "/api/v1/nodes")) == 1
    assert (ready(client, "web"), len(names(client, PODS))) == (2, 2)


def test_a_reset_leaves_nothing_that_controllers_were_at(server: Server, client: BlockingClient) -> None:
    pods = names(client, PODS)
    for number in range(3):
        client.request("POST", DEPLOYMENTS, deployment(f"more-{number}", 5))
        client.request("DELETE", f"{DEPLOYMENTS}/web")

        server.reset()

        assert names(client, PODS) == pods
        assert (names(client, DEPLOYMENTS), ready(client, "web")) == (["web"], 2)


def test_the_controllers_of_a_fork_work_at_once(server: Server) -> None:
    with server.fork() as fork, fork.client() as client:
        client.request("POST", DEPLOYMENTS, deployment("more", 1))
        fork.clock.advance(0)

        assert (ready(client, "web"), ready(client, "more")) == (2, 1)


def test_functions_of_a_test_stand_for_ports_until_the_reset(server: Server, client: BlockingClient) -> None:
    pod = client.request("GET", f"{PODS}/{names(client, PODS)[0]}")
    server.simulate.port(8080, bytes.upper)
    assert server.simulate.function_at(pod, 8080) == bytes.upper

    server.reset()

    assert server.simulate.function_at(pod, 8080) is None
