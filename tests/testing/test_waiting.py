import threading
from collections.abc import Iterator
from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient
from tests.testing.objects import CONFIG_MAPS, make

MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Server]:
    with Server(controllers=("*",), simulate=True) as server:
        yield server


def test_an_object_that_is_there_is_not_waited_for(server: Server, client: BlockingClient) -> None:
    made = make(client, "web")

    assert server.wait_for("configmaps", "web") == made
    assert server.wait_for("namespaces", "default")["kind"] == "Namespace"
    assert server.requests.matching(verb=["get", "list", "watch"]) == []


def test_an_object_is_waited_for_until_it_is_as_it_should_be(server: Server, client: BlockingClient) -> None:
    has_looked = threading.Event()

    def is_blue(one: dict[str, Any]) -> bool:
        has_looked.set()
        return bool(one["data"]["colour"] == "blue")

    def paint() -> None:
        make(client, "web")
        has_looked.wait()
        for colour in ("red", "blue", "green"):
            client.request("PATCH", f"{CONFIG_MAPS}/web", {"data": {"colour": colour}}, content_type=MERGE)

    painting = threading.Thread(target=paint)
    painting.start()

    assert server.wait_for("configmaps", "web", is_blue)["data"] == {"colour": "blue"}
    painting.join()


async def test_objects_are_waited_for_beside_an_event_loop(server: Server, client: BlockingClient) -> None:
    make(client, "web")

    assert (await server.wait_for_async("configmaps", "web"))["metadata"]["name"] == "web"
    client.request("DELETE", f"{CONFIG_MAPS}/web")
    await server.wait_until_gone_async("configmaps", "web")


def test_a_wait_that_fails_shows_the_last_state(server: Server, client: BlockingClient) -> None:
    def must_be_blue(one: dict[str, Any]) -> None:
        assert one["data"]["colour"] == "blue", "it must be blue"

    make(client, "web", colour="red")

    with pytest.raises(AssertionError, match=r"after 0 s: it must be blue\n(.*\n)*  colour: red"):
        server.wait_for("configmaps", "web", must_be_blue, timeout=0)
    with pytest.raises(AssertionError, match="configmaps default/web is still there"):
        server.wait_until_gone("configmaps", "web", timeout=0)
    with pytest.raises(AssertionError, match="it is not there"):
        server.wait_for("configmaps", "other", timeout=0)
    with pytest.raises(ValueError, match="there is no resource 'deployments'"):
        server.wait_for("deployments", "web")


def test_a_server_settles_when_its_controllers_have_done_everything(cluster: Server) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    cluster.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})

    cluster.settle()

    assert cluster.wait_for("deployments.apps", "web", timeout=0)["status"]["readyReplicas"] == 3


def test_a_server_settles_over_http(client: BlockingClient) -> None:
    assert client.request("POST", "/testing/settle") == {}
