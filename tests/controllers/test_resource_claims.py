"""Resource claims: devices for pods of a simulated cluster."""

from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

API, DRA = "/api/v1/namespaces/default", "/apis/resource.k8s.io/v1"
CLAIMS = f"{DRA}/namespaces/default/resourceclaims"
DRIVER = "gpu.example.com"

CLUSTER = {"controllers": ("*",), "simulate_nodes": 2}


@pytest.fixture
def client(client: BlockingClient) -> BlockingClient:
    client.request("POST", f"{DRA}/deviceclasses", {"metadata": {"name": "gpu"}, "spec": {"selectors": [_is_ours()]}})
    for node, sizes in (("node-0", ("40Gi", "80Gi")), ("node-1", ("40Gi",))):
        devices = [
            {
                "name": f"gpu-{number}",
                "attributes": {"model": {"string": "a100"}, "version": {"version": "1.2.3"}},
                "capacity": {"memory": {"value": size}},
            }
            for number, size in enumerate(sizes)
        ]
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
        client.request("POST", f"{DRA}/resourceslices", {"metadata": {"name": node}, "spec": spec})
    return client


def _is_ours() -> dict[str, Any]:
    return {"cel": {"expression": f"device.driver == '{DRIVER}'"}}


def _request(expression: str = "", **more: Any) -> dict[str, Any]:
    selectors = [{"cel": {"expression": expression}}] if expression else []
    return {"name": "one", "exactly": {"deviceClassName": "gpu", "selectors": selectors, **more}}


def _claim(client: BlockingClient, name: str, *requests: dict[str, Any]) -> None:
    client.request("POST", CLAIMS, {"metadata": {"name": name}, "spec": {"devices": {"requests": list(requests)}}})


def _pod(client: BlockingClient, name: str, **claim: str) -> None:
    container = {"name": "a", "image": "b", "resources": {"claims": [{"name": "gpu"}]}}
    spec = {"containers": [container], "resourceClaims": [{"name": "gpu", **claim}], "terminationGracePeriodSeconds": 0}
    client.request("POST", f"{API}/pods", {"metadata": {"name": name}, "spec": spec})


def _message(client: BlockingClient, name: str) -> str:
    conditions = client.request("GET", f"{API}/pods/{name}")["status"]["conditions"]
    return str(next(one.get("message", "") for one in conditions if one["type"] == "PodScheduled"))


def test_a_claim_gets_a_device_on_the_node_of_its_pod(server: Server, client: BlockingClient) -> None:
    _claim(client, "big", _request(f"device.capacity['{DRIVER}'].memory.isGreaterThan(quantity('50Gi'))"))
    _pod(client, "p", resourceClaimName="big")
    server.clock.advance(1)

    pod, claim = client.request("GET", f"{API}/pods/p"), client.request("GET", f"{CLAIMS}/big")
    assert (pod["spec"]["nodeName"], pod["status"]["phase"]) == ("node-0", "Running")
    results = claim["status"]["allocation"]["devices"]["results"]
    assert results == [{"request": "one", "driver": DRIVER, "pool": "node-0", "device": "gpu-1"}]
    assert [one["name"] for one in claim["status"]["reservedFor"]] == ["p"]

    client.request("DELETE", f"{API}/pods/p")
    server.clock.advance(1)
    assert "allocation" not in client.request("GET", f"{CLAIMS}/big").get("status", {})
    client.request("DELETE", f"{CLAIMS}/big")
    server.clock.advance(1)
    assert client.request("GET", CLAIMS)["items"] == []


def test_a_device_is_used_once_and_pods_wait_for_it(server: Server, client: BlockingClient) -> None:
    for name in ("1", "2", "3", "4"):
        _claim(client, name, _request())
        _pod(client, f"p{name}", resourceClaimName=name)
        server.clock.advance(1)

    assert _message(client, "p4") == (
        "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )
    claims = client.request("GET", CLAIMS)["items"]
    devices = [
        (one["pool"], one["device"])
        for claim in claims
        for one in claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    ]
    assert len(set(devices)) == len(devices) == 3

    client.request("DELETE", f"{API}/pods/p1")
    server.clock.advance(2)
    assert client.request("GET", f"{API}/pods/p4")["status"]["phase"] == "Running"


def test_pods_get_claims_from_templates_and_missing_classes_are_named(server: Server, client: BlockingClient) -> None:
    spec = {"spec": {"devices": {"requests": [_request(count=2)]}}}
    client.request(
        "POST", f"{DRA}/namespaces/default/resourceclaimtemplates", {"metadata": {"name": "two"}, "spec": spec}
    )
    _pod(client, "p", resourceClaimTemplateName="two")
    _claim(client, "odd", {"name": "one", "exactly": {"deviceClassName": "tpu"}})
    _pod(client, "q", resourceClaimName="odd")
    _pod(client, "r", resourceClaimName="none")
    server.clock.advance(1)

    pod = client.request("GET", f"{API}/pods/p")
    assert (pod["spec"]["nodeName"], pod["status"]["phase"]) == ("node-0", "Running")
    (made,) = [
        one["metadata"]["name"]
        for one in client.request("GET", CLAIMS)["items"]
        if "ownerReferences" in one["metadata"]
    ]
    assert pod["status"]["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": made}]
    assert "request one: device class tpu does not exist" in _message(client, "q")
    assert 'resourceclaim "none" not found' in _message(client, "r")

    client.request("DELETE", f"{API}/pods/p")
    server.clock.advance(2)
    assert [one["metadata"]["name"] for one in client.request("GET", CLAIMS)["items"]] == ["odd"]
