"""Ranges of cluster IPs, in a time that the test moves."""

from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient, Refused

RANGES = "/apis/networking.k8s.io/v1/servicecidrs"
SERVICES = "/api/v1/namespaces/default/services"


def _ready(admin: BlockingClient, name: str) -> tuple[str, str]:
    (condition,) = admin.request("GET", f"{RANGES}/{name}")["status"]["conditions"]
    return condition["status"], condition.get("reason", "")


def _service(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


def test_a_range_gives_addresses_and_stays_while_they_are_used(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", RANGES, {"metadata": {"name": "more"}, "spec": {"cidrs": ["192.168.7.0/24"]}})
    cluster.settle()
    assert _ready(admin, "more") == ("True", "")
    admin.request("POST", SERVICES, _service("web", clusterIP="192.168.7.9"))

    admin.request("DELETE", f"{RANGES}/more")
    cluster.clock.advance(20)
    assert _ready(admin, "more") == ("False", "Terminating")

    admin.request("DELETE", f"{SERVICES}/web")
    cluster.clock.advance(20)
    with pytest.raises(Refused, match='"more" not found'):
        admin.request("GET", f"{RANGES}/more")


def test_a_range_within_another_one_goes_at_once(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", RANGES, {"metadata": {"name": "outer"}, "spec": {"cidrs": ["192.168.0.0/16"]}})
    admin.request("POST", RANGES, {"metadata": {"name": "inner"}, "spec": {"cidrs": ["192.168.7.0/24"]}})
    cluster.settle()
    admin.request("POST", SERVICES, _service("web", clusterIP="192.168.7.9"))

    admin.request("DELETE", f"{RANGES}/inner")
    cluster.clock.advance(20)

    assert [one["metadata"]["name"] for one in admin.request("GET", RANGES)["items"]] == ["kubernetes", "outer"]
