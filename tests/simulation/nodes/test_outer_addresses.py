"""The addresses of load balancers and ingresses in a simulated cluster."""

from typing import Any

from aio_apiserver.testing import Server

SERVICES = "/api/v1/namespaces/default/services"
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"


def _service(name: str, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}], **spec}
    return {"metadata": {"name": name, "annotations": annotations or {}}, "spec": spec}


def test_load_balancers_and_ingresses_get_addresses() -> None:
    delayed, never = {"simulate.aio-apiserver/delay": "1m"}, {"simulate.aio-apiserver/phase": "Pending"}
    backend = {"service": {"name": "a", "port": {"number": 80}}}
    with Server(simulate=True, time="2026-01-01T00:00:00Z") as server, server.client() as client:

        def address(path: str) -> str:
            given = client.request("GET", path)["status"]["loadBalancer"].get("ingress", [])
            return ",".join(one["ip"] for one in given)

        for service in (
            _service("a"),
            _service("b"),
            _service("asked", loadBalancerIP="10.9.8.7"),
            _service("other", loadBalancerClass="example.com/lb"),
            _service("delayed", delayed),
            _service("never", never),
        ):
            client.request("POST", SERVICES, service)
        client.request("POST", INGRESSES, {"metadata": {"name": "web"}, "spec": {"defaultBackend": backend}})
        server.clock.advance(1)

        names = ("a", "b", "asked", "other", "delayed")
        found = {name: address(f"{SERVICES}/{name}") for name in names}
        assert sorted((found["a"], found["b"])) == ["172.31.0.2", "172.31.0.3"]
        assert (found["asked"], found["other"], found["delayed"]) == ("10.9.8.7", "", "")
        assert address(f"{INGRESSES}/web") == "172.31.0.1"

        server.clock.advance(60)
        assert (address(f"{SERVICES}/delayed"), address(f"{SERVICES}/never")) == ("172.31.0.4", "")
