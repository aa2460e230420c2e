"""Files that simulated pods leave in volumes for other pods."""

from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

_PODS = "/api/v1/namespaces/default/pods"
_ONCE = "if [[ -r /data/f ]]; then cat /data/f; exit 0; else echo 7 > /data/f; sleep 5; exit 3; fi"


def _run(server: Server, client: BlockingClient, name: str, source: dict[str, Any]) -> str:
    """The phase of a pod at its end."""
    mounts = [{"name": "data", "mountPath": "/data"}]
    container = {"name": "main", "image": "busybox", "command": ["sh", "-c", _ONCE], "volumeMounts": mounts}
    spec = {"containers": [container], "volumes": [{"name": "data", **source}], "restartPolicy": "Never"}
    client.request("POST", _PODS, {"metadata": {"name": name}, "spec": spec})
    server.clock.advance(10)
    return str(client.request("GET", f"{_PODS}/{name}")["status"]["phase"])


@pytest.mark.parametrize(
    ("source", "phase"),
    [
        ({"hostPath": {"path": "/srv"}}, "Succeeded"),
        ({"persistentVolumeClaim": {"claimName": "c"}}, "Succeeded"),
        ({"emptyDir": {}}, "Failed"),
    ],
    ids=["host path", "claim", "empty directory"],
)
def test_a_pod_finds_what_another_has_left_in_a_volume(source: dict[str, Any], phase: str) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    with (
        Server(
            simulate=True, controllers=("serviceaccount-controller", "persistentvolume-binder-controller")
        ) as server,
        server.client() as client,
    ):
        server.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": claim})
        server.settle()
        server.clock.advance(1)

        assert _run(server, client, "first", source) == "Failed"
        assert _run(server, client, "second", source) == phase


def test_a_log_shows_what_another_pod_has_left() -> None:
    source = {"hostPath": {"path": "/srv"}}
    with Server(simulate=True) as server, server.client() as client:
        _run(server, client, "first", source)
        _run(server, client, "second", source)

        assert client.exchange("GET", f"{_PODS}/second/log").body == 7
